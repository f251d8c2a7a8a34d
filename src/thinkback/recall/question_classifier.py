"""Does a message ask for something that was told before, as people type: "rent?", "mri what day", 到底去没去?

    P(question | message) = sigmoid(w x + u d)              without the package thinkback-reranker
    P(question | message) = sigmoid(a (w x + u d) + v n + b)    with it, if the first is not certain

x are hashed words and runs of characters, d a few numbers, among them what the rules of
`language.sentences.is_question` say, and n is the vector of the network. `thinkback-lab train questions`
writes the model file.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from os import PathLike
from typing import IO, TYPE_CHECKING, ClassVar, Self

import numpy as np

from thinkback.errors import InvalidInput
from thinkback.index.lexical import hash_term
from thinkback.language.sentences import is_question, is_without_subject
from thinkback.language.text_cache import cache_by_digest
from thinkback.language.tokens import fold_text
from thinkback.language.writing_systems import has_han
from thinkback.network.cross_encoder import VECTOR_WIDTH, load_cross_encoder
from thinkback.recall.answerable import asks
from thinkback.recall.kind_classifier import extract_grams

if TYPE_CHECKING:
    import numpy.typing as npt

    Features = tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]

MODEL_FILE = "questions.npz"
BUCKETS = 1 << 14
MAX_CHARS = 400  # longer messages are cut
THRESHOLD = 0.5  # of the probability of a question
THRESHOLD_IF_NOTHING_KEPT = 0.2  # of a message that was read and of which nothing was worth keeping
THRESHOLD_IF_MENTIONED = 0.4  # of a sentence that was not worth keeping, but may state a fact
CERTAIN = 0.02  # the network is not run if the probability by words is below this, or above 1 minus this
THRESHOLD_IF_STORED = 0.6  # a stored message above it is a question, so that it is not quoted as an answer
_RUN_LENGTHS = (3, 4)
_QUANTISATION_LEVELS = 127


def asks_for_memory(message: str, *, threshold: float = THRESHOLD, use_network: bool = True) -> bool:
    """Whether a message asks for something that was told before, by the model of this package."""
    if is_without_subject(message):
        return False
    text = message[:MAX_CHARS]
    probability = _probability(text) if use_network else QuestionModel.shipped().probability(text)
    return probability >= threshold


@cache_by_digest(2048, min_characters=1)
def _probability(text: str) -> float:
    model = QuestionModel.shipped()
    probability = model.probability(text)
    if not CERTAIN < probability < 1 - CERTAIN or (encoder := load_cross_encoder()) is None:
        return probability
    return model.probability_with(text, encoder.vector(text.strip()))


def mark_question(message: str, *, use_network: bool = True) -> str:
    """The message with a question mark if it asks for something and has none: "mri what day?"."""
    text = message.rstrip()
    if any(mark in text for mark in "?？") or not asks_for_memory(text, use_network=use_network):
        return message
    return text + ("？" if has_han(text) else "?")


@dataclass(frozen=True, slots=True, eq=False)
class QuestionModel:
    """A linear model: `words` in 8 bits with one scale, and the weights of the numbers.

    `network` are the weights of the vector of the network, of the linear score beside it, and the bias.
    """

    BUCKETS: ClassVar[int] = BUCKETS

    words: npt.NDArray[np.int8]
    scale: float
    dense: npt.NDArray[np.float64]
    network: npt.NDArray[np.float32]

    @classmethod
    def quantise(
        cls,
        words: npt.NDArray[np.float64],
        dense: npt.NDArray[np.float64],
        network: npt.NDArray[np.float64] | None = None,
    ) -> Self:
        """Store exact weights in as few bits as the model file does, so that a saved model scores alike."""
        scale = float(np.float32(max(float(np.abs(words).max()), 1e-9) / _QUANTISATION_LEVELS))
        rounded = dense.astype(np.float32).astype(np.float64)
        if network is None:
            network = np.zeros(VECTOR_WIDTH + 2)
        return cls(np.rint(words / scale).astype(np.int8), scale, rounded, network.astype(np.float32))

    @staticmethod
    @cache
    def shipped() -> QuestionModel:
        """The model of this package, loaded at the first call."""
        with files("thinkback.recall").joinpath(MODEL_FILE).open("rb") as file:
            return QuestionModel.load(file)

    @staticmethod
    def hashed_features(text: str) -> Features:
        """The buckets of a text and their values."""
        slots = np.array(sorted({hash_term(gram) % BUCKETS for gram in _grams(text)}), dtype=np.int64)
        return slots, np.full(len(slots), 1 / math.sqrt(max(len(slots), 1)))

    @staticmethod
    def dense_features(text: str) -> list[float]:
        """1, what rules say, whether it ends with a question mark, its length, whether it is Chinese."""
        return [
            1.0,
            float(is_question(text)),
            float(asks(text)),
            float(any(mark in text[-6:] for mark in "?？")),
            math.log(len(text) + 1) / 5,
            float(has_han(text)),
        ]

    def probability(self, message: str) -> float:
        """By words alone."""
        return 1 / (1 + math.exp(-self.logit(message)))

    def probability_with(self, message: str, vector: npt.NDArray[np.float32]) -> float:
        """By words and the vector of the network."""
        logit = float(self.network[:-2] @ vector) + float(self.network[-2]) * self.logit(message)
        return 1 / (1 + math.exp(-logit - float(self.network[-1])))

    def logit(self, message: str) -> float:
        """The log odds by words alone."""
        text = message.strip()[:MAX_CHARS]
        slots, values = self.hashed_features(text)
        return self.scale * float(self.words[slots] @ values) + float(
            np.dot(self.dense_features(text), self.dense)
        )

    def save(self, file: str | PathLike[str] | IO[bytes]) -> None:
        """Write the model as .npz; the same weights give the same bytes."""
        np.savez_compressed(
            file,
            allow_pickle=False,
            words=self.words,
            scale=np.float32(self.scale),
            dense=self.dense.astype(np.float32),
            network=self.network,
        )

    @classmethod
    def load(cls, file: str | PathLike[str] | IO[bytes]) -> Self:
        """Read a model written by `save`.

        Raises:
            InvalidInput: if the file is not a model, or one of another version.
        """
        try:
            with np.load(file, allow_pickle=False) as archive:
                arrays = dict(archive)
            words, dense, network = arrays["words"], arrays["dense"].astype(np.float64), arrays["network"]
            shapes = (words.shape, dense.shape, network.shape)
            if shapes != ((BUCKETS,), (len(cls.dense_features("")),), (VECTOR_WIDTH + 2,)):
                raise InvalidInput("this model of questions was made for another version: train it again")
            return cls(words, float(arrays["scale"]), dense, network.astype(np.float32))
        except (KeyError, ValueError, TypeError, EOFError) as error:
            raise InvalidInput(f"no model of questions: {error}") from error


def _grams(text: str) -> set[str]:
    """Words, pairs and classes of words, runs of characters, and how the message begins and ends."""
    folded = fold_text(text)
    grams = set(extract_grams(text))
    framed = f"^{folded}$"
    grams |= {
        f"c{framed[start : start + length]}"
        for length in _RUN_LENGTHS
        for start in range(len(framed) - length + 1)
    }
    words = folded.split()
    if words:
        grams |= {
            f"F {words[0]}",
            f"L {words[-1]}",
            f"F2 {' '.join(words[:2])}",
            f"L2 {' '.join(words[-2:])}",
        }
    return grams
