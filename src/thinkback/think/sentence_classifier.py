"""Which sentences of a user's message state a lasting fact, and of which kind is it?

    P(fact | sentence) = sigmoid(W x + U d + V v)

x are hashed text features (`think.sentence_features`), d a few numbers, v the vectors of the sentence and of
the whole message by one embedder. With any other embedder a second set of weights without V is used. The kind
of the fact comes from five further linear functions. `thinkback-lab train sentences` writes the model file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from os import PathLike
from typing import IO, TYPE_CHECKING, ClassVar
from zipfile import BadZipFile

import numpy as np

from thinkback.errors import InvalidInput
from thinkback.language.plain_statements import is_plain_statement
from thinkback.think.sentence_features import (
    BUCKETS,
    DENSE_FEATURES,
    Piece,
    dense_features,
    hashed_features,
    is_statement,
    split_pieces,
)
from thinkback.types import KINDS, Kind

if TYPE_CHECKING:
    import numpy.typing as npt

    from thinkback.protocols import Embedder

    Floats = npt.NDArray[np.float64]

MODEL_FILE = "sentences.npz"
FORMAT_VERSION = 1
MAX_EMBEDDED_CHARS = 400
SENTENCE_VECTOR_WEIGHT = 1.5
MESSAGE_VECTOR_WEIGHT = 0.7
PLAIN_PROBABILITY = 0.9
"""The least probability of a plain statement about the user."""
SUREST_WEIGHT = 0.1
"""Share of the surest piece of the message in the score of each piece: facts come together."""
_QUANTISATION_LEVELS = 127


@dataclass(frozen=True, slots=True, eq=False)
class LinearWeights:
    """Linear functions of the features of a piece: one column for each output.

    `words` has shape (buckets, outputs) in 8 bits with one scale per output, `dense` (features, outputs), and
    `vectors` (dimensions, outputs), or no rows if the weights use no vectors.
    """

    words: npt.NDArray[np.int8]
    scale: Floats
    dense: Floats
    vectors: Floats

    @classmethod
    def quantise(cls, words: Floats, dense: Floats, vectors: Floats) -> LinearWeights:
        """Store exact weights in as few bits as the model file does, so that a saved model scores alike."""
        scale = np.maximum(np.abs(words).max(axis=0), 1e-9) / _QUANTISATION_LEVELS
        return cls(
            np.rint(words / scale).astype(np.int8),
            scale.astype(np.float32).astype(np.float64),
            dense.astype(np.float32).astype(np.float64),
            vectors.astype(np.float16).astype(np.float64),
        )

    def logits(self, piece: Piece, vector: Floats | None) -> Floats:
        slots, values = hashed_features(piece)
        words = (self.words[slots] * values[:, None]).sum(axis=0) * self.scale
        result: Floats = words + np.array(dense_features(piece)) @ self.dense
        if vector is not None and len(self.vectors):
            result = result + vector @ self.vectors
        return result


@dataclass(frozen=True, slots=True)
class ScoredPiece:
    """A piece with the probability that it states a lasting fact, and the kind that such a fact would have.

    The probability is 0 for questions, suppositions, requests and quotations.
    """

    piece: Piece
    probability: float
    kept: bool
    kind: Kind


@dataclass(frozen=True, slots=True, eq=False)
class KeepWeights:
    """The weights of P(fact | sentence) for one embedder, and the probability from which a piece is kept."""

    weights: LinearWeights
    threshold: float


@dataclass(frozen=True, slots=True, eq=False)
class SentenceModel:
    """Weights by name of the embedder, `TEXT_ALONE` for any other one, and the weights of the kinds."""

    BUCKETS: ClassVar[int] = BUCKETS
    KINDS: ClassVar[tuple[Kind, ...]] = KINDS
    TEXT_ALONE: ClassVar[str] = "text alone"

    keep: Mapping[str, KeepWeights]
    kinds: LinearWeights

    @staticmethod
    @cache
    def shipped() -> SentenceModel:
        """The model of this package, loaded at the first call."""
        with files("thinkback.think").joinpath("models", MODEL_FILE).open("rb") as file:
            return SentenceModel.load(file)

    @staticmethod
    def split(message: str, previous_reply: str = "") -> list[Piece]:
        """The pieces of a user's message; `previous_reply` is what the assistant said just before."""
        return split_pieces(message, previous_reply)

    @staticmethod
    def features(piece: Piece) -> tuple[npt.NDArray[np.int64], Floats, list[float]]:
        """The buckets and values of the text features, and the other features."""
        return *hashed_features(piece), dense_features(piece)

    @staticmethod
    def vectors(pieces: Sequence[Piece], embedder: Embedder) -> Floats:
        """One row per piece of a message: the vectors of the piece and of the whole message."""
        texts = [*(piece.text for piece in pieces), pieces[0].message[:MAX_EMBEDDED_CHARS]]
        rows = np.asarray(embedder.embed(texts), dtype=np.float64)
        return np.hstack(
            [rows[:-1] * SENTENCE_VECTOR_WEIGHT, np.repeat(rows[-1:] * MESSAGE_VECTOR_WEIGHT, len(pieces), 0)]
        )

    @staticmethod
    def weights(words: Floats, dense: Floats, vectors: Floats) -> LinearWeights:
        """Trained weights with shapes (buckets, outputs), (features, outputs) and (dimensions, outputs)."""
        return LinearWeights.quantise(words, dense, vectors)

    def with_weights(self, embedder: str, weights: LinearWeights, threshold: float) -> SentenceModel:
        """A copy of the model that knows these weights for the embedder, too."""
        return SentenceModel({**self.keep, embedder: KeepWeights(weights, threshold)}, self.kinds)

    def score(self, pieces: Sequence[Piece], embedder: Embedder | None = None) -> list[ScoredPiece]:
        """Score the pieces of one message, with the vectors of the embedder if the model knows it."""
        if not pieces:
            return []
        vectors: Sequence[Floats | None] = [None] * len(pieces)
        keep = self.keep[self.TEXT_ALONE]
        if embedder is not None and embedder.name in self.keep:
            keep = self.keep[embedder.name]
            vectors = list(self.vectors(pieces, embedder))
        logits = [
            float(keep.weights.logits(piece, vector)[0]) if is_statement(piece.text) else -np.inf
            for piece, vector in zip(pieces, vectors, strict=True)
        ]
        surest = max(logits)
        return [
            self._scored(piece, (1 - SUREST_WEIGHT) * logit + SUREST_WEIGHT * surest, keep.threshold)
            for piece, logit in zip(pieces, logits, strict=True)
        ]

    def _scored(self, piece: Piece, logit: float, threshold: float) -> ScoredPiece:
        kind = self.KINDS[int(np.argmax(self.kinds.logits(piece, None)))]
        probability = float(1 / (1 + np.exp(-logit))) if logit > -np.inf else 0.0
        if probability and is_plain_statement(piece.text):
            probability = max(probability, PLAIN_PROBABILITY)
        return ScoredPiece(piece, probability, probability >= threshold, kind)

    def save(self, file: str | PathLike[str] | IO[bytes]) -> None:
        """Write the model as .npz; the same weights give the same bytes."""
        names = sorted(self.keep)
        arrays = {
            "version": np.array(FORMAT_VERSION),
            "embedders": np.array(names),
            "thresholds": np.array([self.keep[name].threshold for name in names]),
            "kinds": np.array(self.KINDS),
        }
        parts = {f"keep{number}": self.keep[name].weights for number, name in enumerate(names)}
        for name, weights in {**parts, "kind": self.kinds}.items():
            arrays |= {
                f"{name}_words": weights.words,
                f"{name}_scale": weights.scale.astype(np.float32),
                f"{name}_dense": weights.dense.astype(np.float32),
                f"{name}_vectors": weights.vectors.astype(np.float16),
            }
        np.savez_compressed(file, allow_pickle=False, **arrays)

    @classmethod
    def load(cls, file: str | PathLike[str] | IO[bytes]) -> SentenceModel:
        """Read a model written by `save`.

        Raises:
            InvalidInput: the file is no such model, or one of another version.
        """
        try:
            with np.load(file, allow_pickle=False) as archive:
                arrays = dict(archive)
            if int(arrays["version"]) != FORMAT_VERSION or tuple(arrays["kinds"]) != KINDS:
                raise InvalidInput("this sentence model was made for another version: train it again")
            named = zip(arrays["embedders"].tolist(), arrays["thresholds"].tolist(), strict=True)
            keep = {
                name: KeepWeights(_read_weights(arrays, f"keep{number}"), threshold)
                for number, (name, threshold) in enumerate(named)
            }
            if cls.TEXT_ALONE not in keep:
                raise InvalidInput("not a sentence model: it has no weights for the text alone")
            return cls(keep, _read_weights(arrays, "kind"))
        except (KeyError, ValueError, TypeError, EOFError, OSError, BadZipFile) as error:
            raise InvalidInput(f"not a sentence model: {error}") from error


def _read_weights(arrays: dict[str, npt.NDArray[np.generic]], name: str) -> LinearWeights:
    words = arrays[f"{name}_words"]
    dense = arrays[f"{name}_dense"].astype(np.float64)
    if words.shape[0] != BUCKETS or dense.shape[0] != DENSE_FEATURES:
        raise InvalidInput("this sentence model was made for another version: train it again")
    return LinearWeights(
        words.astype(np.int8),
        arrays[f"{name}_scale"].astype(np.float64),
        dense,
        arrays[f"{name}_vectors"].astype(np.float64),
    )
