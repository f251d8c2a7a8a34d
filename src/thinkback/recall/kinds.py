"""Memory classification (PerLTQA, Eq. 1): which kind of memory does a query ask for?

    P(kind | query) = softmax(W x + V v + b)

x are the query's words and signs, hashed; v is its vector. PerLTQA trains BERT for it; a linear model takes a
fraction of a millisecond. A vector means something for one embedder only, and that one reads no Chinese: for
any other embedder, and for text with Han characters, a second set of weights reads the words alone.
`thinkback-lab train kinds` makes the file that is read here; `kinds.md` beside it is its card.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from os import PathLike
from typing import IO, TYPE_CHECKING, ClassVar, Self

import numpy as np

from thinkback.errors import InvalidInput
from thinkback.index.lexical import hash_terms
from thinkback.language.kinds import extract_kind_features, guess_kind
from thinkback.language.scripts import UNSPACED, has_han
from thinkback.language.tokens import fold_text
from thinkback.types import KINDS, Kind, Thought, Turn

if TYPE_CHECKING:
    import numpy.typing as npt

    from thinkback.types import Vector

    Floats = npt.NDArray[np.float32]
    Slots = npt.NDArray[np.int64]

BUCKETS = 1 << 13
MAX_CHARS = 2_000  # a question is shorter; a pasted page must not make this step slow
MAX_GRAM_CHARS = 3  # characters, where words are not spaced
MODEL_FILE = "kinds.npz"

_TOKEN = re.compile(
    rf"[{UNSPACED}]+|\d+|(?:(?![{UNSPACED}])[^\W\d_])+(?:'(?:(?![{UNSPACED}])[^\W\d_])+)*|[?!]"
)
_UNSPACED_CHARACTER = re.compile(f"[{UNSPACED}]")
_QUANTISATION_LEVELS = 127  # of a weight kept in eight bits


def classify_query(text: str, vector: Vector | None, embedder: str | None) -> dict[Kind, float]:
    """P(kind | query) by the model we ship; `embedder` is the name of the one that made the vector."""
    return KindModel.shipped().classify(text, vector, embedder)


def memory_kind(memory: Thought | Turn) -> Kind | None:
    """The kind of a thought, or what the form of a note tells; a turn of talk can hold any."""
    if isinstance(memory, Thought):
        return memory.kind
    return None if memory.response else guess_kind(memory.query)


@dataclass(frozen=True, slots=True, eq=False)
class KindWeights:
    """One linear model; W is kept in eight bits with a scale for each kind. Without V no vector is read."""

    words: npt.NDArray[np.int8]
    scale: Floats
    bias: Floats
    vector: Floats | None = None

    @classmethod
    def quantise(
        cls, words: npt.ArrayLike, bias: npt.ArrayLike, vector: npt.ArrayLike | None = None
    ) -> KindWeights:
        """From W as (buckets, kinds), b as (kinds), V as (dimensions, kinds)."""
        exact = np.asarray(words, dtype=np.float32)
        scale = np.maximum(np.abs(exact).max(axis=0), np.float32(1e-9)) / np.float32(_QUANTISATION_LEVELS)
        return cls(
            np.rint(exact / scale).astype(np.int8),
            scale,
            np.asarray(bias, dtype=np.float32),
            None if vector is None else np.asarray(vector, dtype=np.float16).astype(np.float32),
        )

    def probabilities(self, slots: Slots, vector: Vector | None) -> Floats:
        words = self.words[slots].sum(axis=0, dtype=np.float32) * self.scale
        logits = words / np.sqrt(np.float32(max(len(slots), 1))) + self.bias
        if self.vector is not None and vector is not None:
            logits = logits + vector @ self.vector
        likely = np.exp(logits - logits.max())
        return np.asarray(likely / likely.sum(), dtype=np.float32)


@dataclass(frozen=True, slots=True, eq=False)
class KindModel:
    """Both sets of weights: for the vectors of one embedder beside the words, and for the words alone."""

    BUCKETS: ClassVar[int] = BUCKETS

    embedder: str
    reading: KindWeights
    alone: KindWeights

    @classmethod
    def fitted(
        cls,
        embedder: str,
        reading: tuple[npt.ArrayLike, npt.ArrayLike, npt.ArrayLike],
        alone: tuple[npt.ArrayLike, npt.ArrayLike],
    ) -> Self:
        """From what was trained on `slots`: (W, b, V) for the embedder's vectors, (W, b) for words alone."""
        return cls(embedder, KindWeights.quantise(*reading), KindWeights.quantise(*alone))

    @staticmethod
    @cache
    def shipped() -> KindModel:
        """The model of the package, read at first use."""
        with files("thinkback.recall").joinpath(MODEL_FILE).open("rb") as file:
            return KindModel.load(file)

    @staticmethod
    def slots(text: str) -> Slots:
        """The buckets that a text falls into; in x each of these n is 1 / sqrt(n), and every other is 0."""
        return np.unique(hash_terms(extract_grams(text)).astype(np.int64) % BUCKETS)

    def reads(self, text: str, embedder: str | None) -> bool:
        """Whether the vector of this text by this embedder means anything to the model."""
        return embedder == self.embedder and not has_han(text[:MAX_CHARS])

    def classify(self, text: str, vector: Vector | None, embedder: str | None) -> dict[Kind, float]:
        """P(kind | query), in the order of KINDS; semantic and episodic are sums of them."""
        weights = self.reading if vector is not None and self.reads(text, embedder) else self.alone
        return dict(zip(KINDS, weights.probabilities(self.slots(text), vector).tolist(), strict=True))

    def basis(self, text: str, embedder: str | None) -> str:
        """What the probabilities of a text rest on, in words, for `why`."""
        if self.reads(text, embedder):
            return "by its words and its vector"
        if embedder == self.embedder:
            return f"by its words alone: {self.embedder} does not read Chinese well enough"
        return f"by its words alone: vectors are read of {self.embedder}, not of {embedder or 'none'}"

    def save(self, file: str | PathLike[str] | IO[bytes]) -> None:
        """The same weights give the same bytes."""
        told = {"embedder": np.array(self.embedder), "kinds": np.array(KINDS)}
        for name, weights in (("reading", self.reading), ("alone", self.alone)):
            told |= {f"{name}_words": weights.words, f"{name}_scale": weights.scale}
            told[f"{name}_bias"] = weights.bias
        if self.reading.vector is not None:
            told["reading_vector"] = self.reading.vector.astype(np.float16)
        np.savez_compressed(file, allow_pickle=False, **told)

    @classmethod
    def load(cls, file: str | PathLike[str] | IO[bytes]) -> Self:
        """What `save` wrote."""
        try:
            with np.load(file, allow_pickle=False) as told:
                kept = dict(told)
            if tuple(kept["kinds"]) != KINDS or len(kept["alone_words"]) != BUCKETS:
                raise InvalidInput("this model of kinds was made for another version: train it again")
            vector = kept["reading_vector"].astype(np.float32)
            reading = KindWeights(kept["reading_words"], kept["reading_scale"], kept["reading_bias"], vector)
            alone = KindWeights(kept["alone_words"], kept["alone_scale"], kept["alone_bias"])
        except (KeyError, ValueError, TypeError, EOFError) as error:
            raise InvalidInput(f"no model of kinds: {error}") from error
        return cls(str(kept["embedder"]), reading, alone)


def extract_grams(text: str) -> list[str]:
    """What the model reads of a text, each once: words, pairs, endings; runs of up to 3 characters; signs.

    Function words are kept: "did" and "my" tell more of a question than its nouns do. All numbers are one to
    us, so that any date counts as a date.
    """
    text = text[:MAX_CHARS]
    folded = fold_text(text)
    found: dict[str, None] = {}
    last = "^"
    for piece in _TOKEN.findall(folded):
        if _UNSPACED_CHARACTER.match(piece):
            _add_character_grams(f"^{piece}" if last == "^" else piece, found)
            last = piece[-1]
            continue
        word = "0" if piece[0].isdigit() else piece
        found[word] = found[f"{last} {word}"] = None
        if len(word) > 4:
            found[f"-{word[-2:]}"] = None
        last = word
    found[f"{last} $"] = None
    seen = sorted(extract_kind_features(text, folded))
    for place, sign in enumerate(seen):
        found[f"<{sign}>"] = None
        found.update((f"<{sign} {other}>", None) for other in seen[place + 1 :])
    return list(found)


def _add_character_grams(run: str, found: dict[str, None]) -> None:
    for size in range(1, MAX_GRAM_CHARS + 1):
        for start in range(len(run) - size + 1):
            found[run[start : start + size]] = None
