"""Hashed n-gram features: an embedder without a model, and CJK dimensions for an English embedder."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Sequence
from math import sqrt
from typing import TYPE_CHECKING

from thinkback.embedders.vectors import MAX_TEXT_CHARS, normalise_rows
from thinkback.language.zh.traditional import to_simplified

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from thinkback.protocols import Embedder


CJK_RUN_RE = re.compile(
    r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]+"
)

UNIGRAM_WEIGHT = 0.8
WEAK_BIGRAM_WEIGHT = 0.3
FUNCTION_CHARACTERS = frozenset(
    "的了是我你他她它们这那在有和也都就不很吗呢吧啊么什怎个一着过到说要会能可以还没对去来好得地把被让给与及或但因为所如果"
)


def cjk_ngrams(text: str) -> Iterator[tuple[str, float]]:
    """Every character and pair of neighbours in the CJK runs of a text, with its weight."""
    for run in CJK_RUN_RE.findall(to_simplified(text)):
        for i, char in enumerate(run):
            if char not in FUNCTION_CHARACTERS:
                yield char, UNIGRAM_WEIGHT
            pair = run[i : i + 2]
            empty = sum(c in FUNCTION_CHARACTERS for c in pair)
            if len(pair) == 2 and empty < 2:
                yield pair, WEAK_BIGRAM_WEIGHT if empty else 1.0


def hash_feature(feature: str, dim: int) -> tuple[int, float]:
    """Where a feature is counted and with which sign: signed hashing keeps inner products unbiased."""
    code = zlib.crc32(feature.encode("utf-8", "surrogatepass"))
    return code % dim, 1.0 if code >> 31 else -1.0


WORD_RE = re.compile(r"\w+")
SUBWORD_LENGTHS = (3, 4)


class HashingEmbedder:
    """Unit vectors from hashed features."""

    def __init__(self, dim: int = 256) -> None:
        self.dim = dim
        self.name = f"hashing-{dim}"

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        import numpy as np

        rows = np.zeros((len(texts), self.dim))
        for row, text in zip(rows, texts, strict=True):
            for feature, weight in hashed_features(text[:MAX_TEXT_CHARS]):
                place, sign = hash_feature(feature, self.dim)
                row[place] += sign * weight
        return normalise_rows(rows)


def hashed_features(text: str) -> Iterator[tuple[str, float]]:
    """CJK grams, each word whole, and its pieces of 3 and 4 letters, together as heavy as the word."""
    yield from cjk_ngrams(text)
    for word in WORD_RE.findall(CJK_RUN_RE.sub(" ", text).casefold()):
        yield word, 1.0
        padded = f"<{word}>"
        pieces = [padded[i : i + n] for n in SUBWORD_LENGTHS for i in range(len(padded) - n + 1)]
        for piece in pieces:
            yield piece, 1 / sqrt(len(pieces))


CJK_WEIGHT = 0.7
CJK_DIMENSIONS = 128
LATIN_WORD_RE = re.compile(r"[^\W\d_]+")


class BilingualEmbedder:
    """`base` with CJK dimensions behind its own."""

    def __init__(self, base: Embedder, *, dim: int = CJK_DIMENSIONS, weight: float = CJK_WEIGHT) -> None:
        self._base = base
        self._cjk_dim = dim
        self._weight = weight
        self.name = f"{base.name}+cjk{dim}"
        self.dim = base.dim + dim

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        import numpy as np

        out = np.zeros((len(texts), self.dim), dtype=np.float32)
        out[:, : self._base.dim] = self._base.embed(texts)
        for row, text in zip(out, texts, strict=True):
            self._write_cjk_part(row, text[:MAX_TEXT_CHARS])
        return out

    def _write_cjk_part(self, row: npt.NDArray[np.float32], text: str) -> None:
        """Write the hashed part of one text in place and shrink its base part to match."""
        import numpy as np

        counts = np.zeros((1, self._cjk_dim))
        for gram, weight in cjk_ngrams(text):
            place, sign = hash_feature(gram, self._cjk_dim)
            counts[0, place] += sign * weight
        if not counts.any():
            return
        chars = sum(map(len, CJK_RUN_RE.findall(text)))
        words = len(LATIN_WORD_RE.findall(CJK_RUN_RE.sub(" ", text)))
        share = self._weight * chars / (chars + 2 * words)
        row[: -self._cjk_dim] *= np.sqrt(1 - share)
        row[-self._cjk_dim :] = normalise_rows(counts)[0] * np.sqrt(share)
