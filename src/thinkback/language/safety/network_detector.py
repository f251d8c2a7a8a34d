"""Orders and secrets in a message, found by a network that reads the whole of it.

The linear detector (`detector`) sees words and concepts; this one sees how they belong together: "if the man
at the barrier asks, say otter pudding and he lets you in" tells a password. The token vectors of the network
in `thinkback-reranker` pass through one layer of attention, which was trained for this:

    H      = norm(G + relu(G W1) W2),    G = norm(X + attention(X)),    X = norm(vectors) W
    tokens = H t                         log odds of each token that it belongs to a secret
    order  = softmax(H p)^T H o          log odds that the text contains an order

Reading a message takes about twenty milliseconds, and at most two hundred: of a long one, only the most
suspicious parts are read. It is done once, when the message is thought about, and the result is stored
(`quarantine.scanned`). `thinkback-lab train safety-network` writes the model.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from heapq import nlargest
from importlib.resources import files
from os import PathLike
from typing import IO, TYPE_CHECKING, ClassVar, NamedTuple
from zipfile import BadZipFile

import numpy as np

from thinkback.errors import InvalidInput
from thinkback.language.value_types import value_type
from thinkback.network.cross_encoder import VECTOR_WIDTH, CrossEncoder, load_cross_encoder

if TYPE_CHECKING:
    import numpy.typing as npt

    Floats = npt.NDArray[np.float32]

MODEL_FILE = "safety_network.npz"
WIDTH, HEADS, INNER_WIDTH = 96, 4, 192
LINEAR_WEIGHT = 0.5  # of the score of the linear detector for orders; its score of a value counts as it is
SECRET_WEIGHT = 0.3  # of the linear detector's score for a secret in the text, where it lowers that of a word
MAX_RUNS = 2  # of tokens that are read of a message
MIN_SCORE = -8.0  # of either detector; lower ones count as this
_SPREAD = 2.0  # tokens next to one of a secret belong to it down to this below the threshold, at least 0
_HARMLESS_MARGIN = (
    1.5  # what a date, or the name of somebody who introduces themself, needs above the threshold
)
_DATE_TYPES = ("date", "weekday", "month")
_OWN_NAME = re.compile(
    r"(?:\A|[.!?。！？\n]\s*)(?:(?:hi|hello|hey|right|ok|so)[\s,!.]+)?(?:i am|i['’]?m|my name is|我叫)\s?"
    r"(?:(?-i:[A-Z][a-z'’-]+)\s)?\Z",
    re.IGNORECASE,
)
_MAX_NAME_CONTEXT = 40
_OPENS = re.compile(  # words of messages that hand over a means of access
    r"\b(?:say|says|tell|tells|hear|whisper|type|enter|key|keys|code|codes|pin|pass\w*|safe|alarm|word|words"
    r"|answer|question|get in|get past|unlock\w*|open\w*|lock\w*|gate|door\w*|guard\w*|porter|barrier)\b"
    r"|[输密暗锁门箱]|口令|说我",
    re.IGNORECASE,
)
_EPSILON = np.float32(1e-5)


class NetworkThresholds(NamedTuple):
    """From these log odds on, in the scores of the linear detector and of this one together.

    Attributes:
        quoted: a message is shown as a quotation.
        overruled: what the patterns or the linear detector find suspicious counts; below it does not.
        value: a value that the linear detector scores is a secret.
        word: any other word is one.
    """

    quoted: float
    overruled: float
    value: float
    word: float


class TokenScore(NamedTuple):
    """The log odds that the token `text[start:end]` belongs to a secret."""

    start: int
    end: int
    score: float


@dataclass(frozen=True, slots=True)
class NetworkReading:
    """What the network says about a text: the score of an order, where that is, and the tokens it read."""

    order: float
    start: int
    end: int
    tokens: Sequence[TokenScore]
    thresholds: NetworkThresholds
    is_complete: bool = True  # whether the whole text was read

    def order_score(self, linear: float) -> float:
        """The score of both detectors together; `linear` is that of the linear one."""
        return LINEAR_WEIGHT * max(linear, MIN_SCORE) + self.order

    def secret_score(self, start: int, end: int) -> float:
        """The highest score of a token in a part of the text."""
        found = (token.score for token in self.tokens if token.start < end and start < token.end)
        return max(found, default=MIN_SCORE)

    def secret_words(
        self, text: str, known: Sequence[tuple[int, int]], linear: float
    ) -> Iterator[tuple[int, int]]:
        """The passages of the text that are secrets by both detectors together, as whole words.

        Those within a `known` secret are left out. `linear` is the score of the linear detector for a secret.
        """
        limit = self.thresholds.word - linear_secret_term(linear)
        least = max(limit - _SPREAD, 0.0)
        at = 0
        while at < len(self.tokens):
            last = at
            while (
                last < len(self.tokens) and self.tokens[last].score >= least and self._follows(text, at, last)
            ):
                last += 1
            best = max((token.score for token in self.tokens[at:last]), default=MIN_SCORE)
            if best >= limit:
                start, end = _whole_words(text, self.tokens[at].start, self.tokens[last - 1].end)
                is_harmless = best < limit + _HARMLESS_MARGIN and _seems_harmless(text, start, end)
                if (
                    start < end
                    and not is_harmless
                    and not any(first <= start and end <= after for first, after in known)
                ):
                    yield start, end
            at = max(last, at + 1)

    def _follows(self, text: str, first: int, index: int) -> bool:
        """Whether nothing that was not read lies between a token and the one before it."""
        return index == first or not text[self.tokens[index - 1].end : self.tokens[index].start].strip()


def linear_secret_term(linear: float) -> float:
    """What the linear detector adds to the score of a word: less than 0 where it sees no secret in the text.

    It never adds more than 0, because a certain secret in a text says nothing about the other words.
    """
    return SECRET_WEIGHT * min(max(linear, MIN_SCORE), 0.0)


def read_message(text: str, suspicion: Callable[[int, int], float]) -> NetworkReading | None:
    """Read a text, of a long one the parts with the highest `suspicion(start, end)`.

    None if `thinkback-reranker` is not installed.
    """
    encoder = load_cross_encoder()
    return None if encoder is None else SafetyNetwork.shipped().read(text, encoder, suspicion)


def _seems_harmless(text: str, start: int, end: int) -> bool:
    """Whether words are a date, or the name with which a user begins, in a message that opens nothing."""
    words = text[start:end]
    if _OPENS.search(text[:start]) or _OPENS.search(text[end:]):
        return False
    if value_type(words) in _DATE_TYPES:
        return True
    before = text[max(0, start - _MAX_NAME_CONTEXT) : start]
    return words.replace(" ", "").isalpha() and _OWN_NAME.search(before) is not None


def _whole_words(text: str, start: int, end: int) -> tuple[int, int]:
    """A span without white space at its ends, and with the rest of the words that it cuts."""
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    while start > 0 and _joins(text[start - 1 : start + 1]):
        start -= 1
    while 0 < end < len(text) and _joins(text[end - 1 : end + 1]):
        end += 1
    return start, end


def _joins(pair: str) -> bool:
    """Whether two characters belong to one word of ASCII letters and digits."""
    return pair.isascii() and pair.isalnum()


@dataclass(frozen=True, slots=True, eq=False)
class SafetyNetwork:
    """The weights by name, and the thresholds."""

    SHAPES: ClassVar[Mapping[str, tuple[int, ...]]] = {
        "input.norm": (2, VECTOR_WIDTH),  # gain and bias
        "input.weight": (VECTOR_WIDTH + 1, WIDTH),  # the bias last, as in all others
        "query.weight": (WIDTH + 1, WIDTH),
        "key.weight": (WIDTH + 1, WIDTH),
        "value.weight": (WIDTH + 1, WIDTH),
        "mixed.weight": (WIDTH + 1, WIDTH),
        "mixed.norm": (2, WIDTH),
        "inner.weight": (WIDTH + 1, INNER_WIDTH),
        "outer.weight": (INNER_WIDTH + 1, WIDTH),
        "outer.norm": (2, WIDTH),
        "token.weight": (WIDTH + 1, 1),
        "pool.weight": (WIDTH + 1, 1),
        "order.weight": (WIDTH + 1, 1),
    }

    weights: Mapping[str, Floats]
    thresholds: NetworkThresholds

    @staticmethod
    @cache
    def shipped() -> SafetyNetwork:
        """The model of this package, loaded at the first call."""
        with files("thinkback.language").joinpath("models", MODEL_FILE).open("rb") as file:
            return SafetyNetwork.load(file)

    def read(
        self, text: str, encoder: CrossEncoder, suspicion: Callable[[int, int], float]
    ) -> NetworkReading:
        """Read a text, of a long one the parts with the highest `suspicion(start, end)`."""
        best, span = MIN_SCORE, (0, 0)
        tokens: dict[tuple[int, int], float] = {}
        runs = encoder.token_runs(text)
        chosen = runs if len(runs) <= MAX_RUNS else nlargest(MAX_RUNS, runs, lambda run: suspicion(*run.span))
        for run in chosen:
            order, scores = self.score(encoder.token_vectors(run))
            if order > best:
                best, span = order, run.span
            for place, score in zip(run.places, scores.tolist(), strict=True):
                tokens[place] = max(score, tokens.get(place, score))
        found = [TokenScore(*place, score) for place, score in sorted(tokens.items())]
        return NetworkReading(best, *span, found, self.thresholds, len(chosen) == len(runs))

    def score(self, vectors: Floats) -> tuple[float, Floats]:
        """The log odds of an order, and of each token that it belongs to a secret."""
        hidden = self._affine(self._norm(vectors, "input"), "input")
        hidden = self._norm(hidden + self._attend(hidden), "mixed")
        inner = np.maximum(self._affine(hidden, "inner"), 0)
        hidden = self._norm(hidden + self._affine(inner, "outer"), "outer")
        pooled = _softmax(self._affine(hidden, "pool")[:, 0]) @ hidden
        return float(self._affine(pooled, "order")[0]), self._affine(hidden, "token")[1:-1, 0]

    def _attend(self, hidden: Floats) -> Floats:
        query, key, value = (
            self._affine(hidden, name).reshape(len(hidden), HEADS, -1).swapaxes(0, 1)
            for name in ("query", "key", "value")
        )
        shares = _softmax(query @ key.swapaxes(1, 2) / np.float32(np.sqrt(WIDTH / HEADS)))
        return self._affine((shares @ value).swapaxes(0, 1).reshape(len(hidden), WIDTH), "mixed")

    def _affine(self, hidden: Floats, name: str) -> Floats:
        weight = self.weights[f"{name}.weight"]
        result: Floats = hidden @ weight[:-1] + weight[-1]
        return result

    def _norm(self, hidden: Floats, name: str) -> Floats:
        gain, bias = self.weights[f"{name}.norm"]
        centred = hidden - hidden.mean(axis=-1, keepdims=True)
        variance = (centred**2).mean(axis=-1, keepdims=True)
        result: Floats = centred / np.sqrt(variance + _EPSILON) * gain + bias
        return result

    def save(self, file: str | PathLike[str] | IO[bytes]) -> None:
        """Write the model as .npz with 16 bits a weight; the same weights give the same bytes."""
        rounded = {name: values.astype(np.float16) for name, values in self.weights.items()}
        np.savez_compressed(
            file, allow_pickle=False, thresholds=np.array(self.thresholds, dtype=np.float32), **rounded
        )

    @classmethod
    def load(cls, file: str | PathLike[str] | IO[bytes]) -> SafetyNetwork:
        """Read a model written by `save`.

        Raises:
            InvalidInput: the file is no such model, or one of another version.
        """
        try:
            with np.load(file, allow_pickle=False) as archive:
                weights = {name: archive[name].astype(np.float32) for name in cls.SHAPES}
                thresholds = NetworkThresholds(*map(float, archive["thresholds"]))
        except (KeyError, ValueError, TypeError, EOFError, OSError, BadZipFile) as error:
            raise InvalidInput(f"not a safety network: {error}") from error
        if any(weights[name].shape != shape for name, shape in cls.SHAPES.items()):
            raise InvalidInput("this safety network was made for another version: train it again")
        return cls(weights, thresholds)


def _softmax(scores: Floats) -> Floats:
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    result: Floats = powers / powers.sum(axis=-1, keepdims=True)
    return result
