"""Query classification (PerLTQA, Eq. 1): which kind of memory does a query ask for?

    P(kind | query) = softmax(W x + V v + b)

x are the hashed words and word classes of the query, v is its vector. PerLTQA trains BERT for this; a linear
model takes a fraction of a millisecond. The vector weights fit only one embedder, which does not understand
Chinese: for any other embedder and for Chinese text a second set of weights uses the words alone.
`thinkback-lab train kinds` writes the model file; `kinds.md` is its model card.
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
from thinkback.index.lexical import hash_term
from thinkback.language.kind_features import extract_kind_features, guess_kind
from thinkback.language.tokens import fold_text
from thinkback.language.writing_systems import UNSPACED, has_han
from thinkback.types import KINDS, Kind, Thought, Turn

if TYPE_CHECKING:
    import numpy.typing as npt

    from thinkback.types import Vector

    Floats = npt.NDArray[np.float32]
    Slots = npt.NDArray[np.int64]

BUCKETS = 1 << 13
MAX_CHARS = 2_000  # longer queries are cut, so that a pasted page does not make this slow
MAX_GRAM_CHARS = 3  # for languages without spaces between words
MODEL_FILE = "kinds.npz"

_TOKEN = re.compile(
    rf"[{UNSPACED}]+|\d+|(?:(?![{UNSPACED}])[^\W\d_])+(?:'(?:(?![{UNSPACED}])[^\W\d_])+)*|[?!]"
)
_UNSPACED_CHARACTER = re.compile(f"[{UNSPACED}]")
_QUANTISATION_LEVELS = 127  # of an 8-bit weight


def classify_query(text: str, vector: Vector | None, embedder: str | None) -> dict[Kind, float]:
    """P(kind | query) by the model of this package.

    `embedder` is the name of the embedder that computed the vector.
    """
    return KindModel.shipped().classify(text, vector, embedder)


def memory_kind(memory: Thought | Turn) -> Kind | None:
    """The kind of a thought, or a guess for a turn without a response; None if unknown."""
    if isinstance(memory, Thought):
        return memory.kind
    return None if memory.response else guess_kind(memory.query)


@dataclass(frozen=True, slots=True, eq=False)
class KindWeights:
    """One linear model: W in 8 bits with a scale per kind, b, and optionally V for vectors."""

    words: npt.NDArray[np.int8]
    scale: Floats
    bias: Floats
    vector: Floats | None = None

    @classmethod
    def quantise(
        cls, words: npt.ArrayLike, bias: npt.ArrayLike, vector: npt.ArrayLike | None = None
    ) -> KindWeights:
        """From W with shape (buckets, kinds), b (kinds) and V (dimensions, kinds)."""
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
            shared = min(len(vector), len(self.vector))  # the others are 0 for texts without Chinese
            logits = logits + vector[:shared] @ self.vector[:shared]
        likely = np.exp(logits - logits.max())
        return np.asarray(likely / likely.sum(), dtype=np.float32)


@dataclass(frozen=True, slots=True, eq=False)
class KindModel:
    """Two sets of weights: `reading` for words and the vectors of one embedder, `alone` for words only."""

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
        """From trained weights: (W, b, V) with the vectors of the embedder, (W, b) for words only."""
        return cls(embedder, KindWeights.quantise(*reading), KindWeights.quantise(*alone))

    @staticmethod
    @cache
    def shipped() -> KindModel:
        """The model of this package, loaded at the first call."""
        with files("thinkback.recall").joinpath(MODEL_FILE).open("rb") as file:
            return KindModel.load(file)

    @staticmethod
    def slots(text: str) -> Slots:
        """The hash buckets of a text. In x, each of these n buckets has the value 1 / sqrt(n)."""
        return np.array(sorted({hash_term(gram) % BUCKETS for gram in extract_grams(text)}), dtype=np.int64)

    def reads(self, text: str, embedder: str | None) -> bool:
        """Whether the model can use the vector of this text by this embedder.

        Embedders that put other dimensions after those of the same encoder have the same vector for a text
        without Chinese.
        """
        return self._has_same_encoder(embedder) and not has_han(text[:MAX_CHARS])

    def _has_same_encoder(self, embedder: str | None) -> bool:
        return embedder is not None and embedder.partition("+")[0] == self.embedder.partition("+")[0]

    def classify(self, text: str, vector: Vector | None, embedder: str | None) -> dict[Kind, float]:
        """P(kind | query), in the order of KINDS."""
        weights = self.reading if vector is not None and self.reads(text, embedder) else self.alone
        return dict(zip(KINDS, weights.probabilities(self.slots(text), vector).tolist(), strict=True))

    def basis(self, text: str, embedder: str | None) -> str:
        """What the probabilities of a text are based on, in words, for `why`."""
        if self.reads(text, embedder):
            return "by its words and its vector"
        if self._has_same_encoder(embedder):
            return f"by its words alone: {self.embedder} does not read Chinese well enough"
        return f"by its words alone: vectors are read of {self.embedder}, not of {embedder or 'none'}"

    def save(self, file: str | PathLike[str] | IO[bytes]) -> None:
        """Write the model as .npz; the same weights give the same bytes."""
        arrays = {"embedder": np.array(self.embedder), "kinds": np.array(KINDS)}
        for name, weights in (("reading", self.reading), ("alone", self.alone)):
            arrays |= {f"{name}_words": weights.words, f"{name}_scale": weights.scale}
            arrays[f"{name}_bias"] = weights.bias
        if self.reading.vector is not None:
            arrays["reading_vector"] = self.reading.vector.astype(np.float16)
        np.savez_compressed(file, allow_pickle=False, **arrays)

    @classmethod
    def load(cls, file: str | PathLike[str] | IO[bytes]) -> Self:
        """Read a model written by `save`.

        Raises:
            InvalidInput: if the file is not a model, or one of another version.
        """
        try:
            with np.load(file, allow_pickle=False) as archive:
                arrays = dict(archive)
            if tuple(arrays["kinds"]) != KINDS or len(arrays["alone_words"]) != BUCKETS:
                raise InvalidInput("this model of kinds was made for another version: train it again")
            vector = arrays["reading_vector"].astype(np.float32)
            reading = KindWeights(
                arrays["reading_words"], arrays["reading_scale"], arrays["reading_bias"], vector
            )
            alone = KindWeights(arrays["alone_words"], arrays["alone_scale"], arrays["alone_bias"])
        except (KeyError, ValueError, TypeError, EOFError) as error:
            raise InvalidInput(f"no model of kinds: {error}") from error
        return cls(str(arrays["embedder"]), reading, alone)


def extract_grams(text: str) -> list[str]:
    """The features of a text, each once.

    These are words, word pairs, endings, runs of up to 3 characters, and word classes. Function words are
    included: "did" and "my" say more about a question than its nouns. All numbers are equal, so that any date
    counts as a date.
    """
    text = text[:MAX_CHARS]
    folded = fold_text(text)
    grams: dict[str, None] = {}
    last = "^"
    for token in _TOKEN.findall(folded):
        if _UNSPACED_CHARACTER.match(token):
            _add_character_grams(f"^{token}" if last == "^" else token, grams)
            last = token[-1]
            continue
        word = "0" if token[0].isdigit() else token
        grams[word] = grams[f"{last} {word}"] = None
        if len(word) > 4:
            grams[f"-{word[-2:]}"] = None
        last = word
    grams[f"{last} $"] = None
    classes = sorted(extract_kind_features(text, folded))
    for position, word_class in enumerate(classes):
        grams[f"<{word_class}>"] = None
        grams.update((f"<{word_class} {other}>", None) for other in classes[position + 1 :])
    return list(grams)


def _add_character_grams(run: str, grams: dict[str, None]) -> None:
    for size in range(1, MAX_GRAM_CHARS + 1):
        for start in range(len(run) - size + 1):
            grams[run[start : start + size]] = None
