"""An embedder without a model: signed feature hashing of words, their pieces and CJK characters.

It knows no meaning, only shared spelling, in any language; it is instant and the same everywhere, so tests
and small devices use it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from math import sqrt
from typing import TYPE_CHECKING

from thinkback.models import cjk
from thinkback.models.vectors import MAX_CHARS, unit_rows

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

WORD = re.compile(r"\w+")
PIECES = (3, 4)


class Hashing:
    """Unit vectors from hashed features."""

    def __init__(self, dim: int = 256) -> None:
        self.dim = dim
        self.name = f"hashing-{dim}"

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        import numpy as np

        rows = np.zeros((len(texts), self.dim))
        for row, text in zip(rows, texts, strict=True):
            for feature, weight in features(text[:MAX_CHARS]):
                place, sign = cjk.slot(feature, self.dim)
                row[place] += sign * weight
        return unit_rows(rows)


def features(text: str) -> Iterator[tuple[str, float]]:
    """CJK grams, each word whole, and its pieces of 3 and 4 letters, together as heavy as the word."""
    yield from cjk.grams(text)
    for word in WORD.findall(cjk.RUN.sub(" ", text).casefold()):
        yield word, 1.0
        padded = f"<{word}>"
        pieces = [padded[i : i + n] for n in PIECES for i in range(len(padded) - n + 1)]
        for piece in pieces:
            yield piece, 1 / sqrt(len(pieces))
