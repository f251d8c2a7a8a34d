"""A linear classifier of short messages, whose instances are `QuestionModel` and `RequestModel`.

    P(message is one) = sigmoid(w x + u d)                  without the package thinkback-reranker
    P(message is one) = sigmoid(a (w x + u d) + v n + b)    with it, if the first is not certain

x are hashed words and runs of characters, d a few numbers that each model defines, and n is the vector of the
network.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from importlib.resources import files
from os import PathLike
from typing import IO, TYPE_CHECKING, ClassVar, Self
from zipfile import BadZipFile

import numpy as np

from thinkback.errors import InvalidInput
from thinkback.index.lexical import hash_term
from thinkback.language.text_cache import cache_by_digest
from thinkback.language.tokens import fold_text
from thinkback.network.cross_encoder import VECTOR_WIDTH, load_cross_encoder
from thinkback.recall.kind_classifier import extract_grams

if TYPE_CHECKING:
    import numpy.typing as npt

    Features = tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]

BUCKETS = 1 << 14
MAX_CHARS = 400  # longer messages are cut
CERTAIN = 0.02  # the network is not run if the probability by words is below this, or above 1 minus this
_MAX_CACHED_VECTORS = 64  # several models read the same message
_RUN_LENGTHS = (3, 4)
_QUANTISATION_LEVELS = 127


@dataclass(frozen=True, slots=True, eq=False)
class MessageModel(ABC):
    """A linear model: `words` in 8 bits with one scale, and the weights of the numbers.

    `network` are the weights of the vector of the network, of the linear score beside it, and the bias.
    """

    BUCKETS: ClassVar[int] = BUCKETS
    MODEL_FILE: ClassVar[str]
    SUBJECT: ClassVar[str]
    """What the model is about, for errors: "questions"."""

    words: npt.NDArray[np.int8]
    scale: float
    dense: npt.NDArray[np.float64]
    network: npt.NDArray[np.float32]

    @staticmethod
    @abstractmethod
    def dense_features(text: str) -> list[float]:
        """The numbers beside the words; the first is 1."""

    @staticmethod
    def hashed_features(text: str) -> Features:
        """The buckets of a text and their values."""
        slots = np.array(sorted({hash_term(gram) % BUCKETS for gram in _grams(text)}), dtype=np.int64)
        return slots, np.full(len(slots), 1 / math.sqrt(max(len(slots), 1)))

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

    def estimate(self, message: str) -> float:
        """The probability by words and, if these are not certain, by the network where it is installed."""
        probability = self.probability(message)
        if not CERTAIN < probability < 1 - CERTAIN or (vector := _read_vector(message.strip())) is None:
            return probability
        return self.probability_with(message, vector)

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
            scale = float(arrays["scale"])
        except (KeyError, ValueError, TypeError, EOFError, OSError, BadZipFile) as error:
            raise InvalidInput(f"no model of {cls.SUBJECT}: {error}") from error
        shapes = (words.shape, dense.shape, network.shape)
        if shapes != ((BUCKETS,), (len(cls.dense_features("")),), (VECTOR_WIDTH + 2,)):
            raise InvalidInput(f"this model of {cls.SUBJECT} was made for another version: train it again")
        return cls(words, scale, dense, network.astype(np.float32))

    @classmethod
    def load_shipped(cls) -> Self:
        """Read the model file of this package."""
        with files("thinkback.recall").joinpath(cls.MODEL_FILE).open("rb") as file:
            return cls.load(file)


@cache_by_digest(_MAX_CACHED_VECTORS, min_characters=1)
def _read_vector(text: str) -> npt.NDArray[np.float32] | None:
    encoder = load_cross_encoder()
    return None if encoder is None else encoder.vector(text)


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
