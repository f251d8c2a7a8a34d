"""Embedders without a model: hashed Chinese characters and words, and helpers for vectors."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Sequence
from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from thinkback.language.writing_systems import to_simplified

if TYPE_CHECKING:
    import numpy.typing as npt

    from thinkback.protocols import Embedder


MAX_TEXT_CHARS = 8_000
"""The fast embedders ignore text beyond this length: it would hardly change the direction of the vector."""


def normalise_rows(rows: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
    """Scale each row to length 1; rows that are zero or not finite become the first unit vector."""
    exact = np.asarray(rows, dtype=np.float64)
    lengths = np.array([np.sqrt(np.dot(row, row)) for row in exact])
    degenerate = ~np.isfinite(lengths) | (lengths < 1e-12)
    out = np.zeros(exact.shape, dtype=np.float32)
    out[~degenerate] = exact[~degenerate] / lengths[~degenerate, None]
    out[degenerate, 0] = 1.0
    return out


CJK_RUN_RE = re.compile(
    r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]+"
)

UNIGRAM_WEIGHT = 0.8
WEAK_BIGRAM_WEIGHT = 0.3
FUNCTION_CHARACTERS = frozenset(
    "的了是我你他她它们这那在有和也都就不很吗呢吧啊么什怎个一着过到说要会能可以还没对去来好得地把被让给与及或但因为所如果"
)


def cjk_ngrams(text: str) -> Iterator[tuple[str, float]]:
    """Yield every character and every adjacent pair in the CJK runs of a text, with its weight."""
    for run in CJK_RUN_RE.findall(to_simplified(text)):
        for i, char in enumerate(run):
            if char not in FUNCTION_CHARACTERS:
                yield char, UNIGRAM_WEIGHT
            pair = run[i : i + 2]
            function_count = sum(character in FUNCTION_CHARACTERS for character in pair)
            if len(pair) == 2 and function_count < 2:
                yield pair, WEAK_BIGRAM_WEIGHT if function_count else 1.0


def hash_feature(feature: str, dim: int) -> tuple[int, float]:
    """The dimension and the sign with which a feature is counted; signs keep inner products unbiased."""
    code = zlib.crc32(feature.encode("utf-8", "surrogatepass"))
    return code % dim, 1.0 if code >> 31 else -1.0


WORD_RE = re.compile(r"\w+")
SUBWORD_LENGTHS = (3, 4)


class HashingEmbedder:
    """Embeds by shared spelling, not by meaning, in any language. Instant and deterministic."""

    def __init__(self, dim: int = 256) -> None:
        self.dim = dim
        self.name = f"hashing-{dim}"

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        rows = np.zeros((len(texts), self.dim))
        for row, text in zip(rows, texts, strict=True):
            for feature, weight in hashed_features(text[:MAX_TEXT_CHARS]):
                dimension, sign = hash_feature(feature, self.dim)
                row[dimension] += sign * weight
        return normalise_rows(rows)


def hashed_features(text: str) -> Iterator[tuple[str, float]]:
    """Yield the features of a text with weights: CJK n-grams, words, and subwords of 3 and 4 letters.

    All subwords of a word together have the same norm as the word.
    """
    yield from cjk_ngrams(text)
    for word in WORD_RE.findall(CJK_RUN_RE.sub(" ", text).casefold()):
        yield word, 1.0
        padded = f"<{word}>"
        subwords = [padded[i : i + n] for n in SUBWORD_LENGTHS for i in range(len(padded) - n + 1)]
        for subword in subwords:
            yield subword, 1 / sqrt(len(subwords))


CJK_WEIGHT = 0.7
CJK_DIMENSIONS = 128
LATIN_WORD_RE = re.compile(r"[^\W\d_]+")


def cjk_share(text: str) -> float:
    """The share of CJK in a text: each character counts as half a word."""
    chars = sum(map(len, CJK_RUN_RE.findall(text)))
    words = len(LATIN_WORD_RE.findall(CJK_RUN_RE.sub(" ", text))) if chars else 0
    return chars / (chars + 2 * words) if chars else 0.0


class HashedChineseEmbedder:
    """Extends the vectors of an English embedder by dimensions of hashed CJK characters.

        s = weight * cjk_characters / (cjk_characters + 2 * latin_words)
        v = [base * sqrt(1 - s), hashed * sqrt(s)]

    The vector keeps length 1. Texts without CJK have s = 0, so their cosines are exactly those of the base.
    """

    def __init__(self, base: Embedder, *, dim: int = CJK_DIMENSIONS, weight: float = CJK_WEIGHT) -> None:
        self._base = base
        self._cjk_dim = dim
        self._weight = weight
        self.name = f"{base.name}+cjk{dim}"
        self.dim = base.dim + dim

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        out = np.zeros((len(texts), self.dim), dtype=np.float32)
        out[:, : self._base.dim] = self._base.embed(texts)
        for row, text in zip(out, texts, strict=True):
            self._write_cjk_part(row, text[:MAX_TEXT_CHARS])
        return out

    def _write_cjk_part(self, row: npt.NDArray[np.float32], text: str) -> None:
        """Write the hashed part of one text into its row and scale the base part accordingly."""
        counts = np.zeros((1, self._cjk_dim))
        for ngram, weight in cjk_ngrams(text):
            dimension, sign = hash_feature(ngram, self._cjk_dim)
            counts[0, dimension] += sign * weight
        if not counts.any():
            return
        share = self._weight * cjk_share(text)
        row[: -self._cjk_dim] *= np.sqrt(1 - share)
        row[-self._cjk_dim :] = normalise_rows(counts)[0] * np.sqrt(share)
