"""One bit a dimension: enough to tell which few hundred of many vectors deserve an exact look.

Two unit vectors at an angle t differ in about t/pi of their signs (the argument behind every random
hyperplane hash), so the Hamming distance of sign bits ranks like the cosine, at 1/32 of the memory read.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from thinkback.types import Vector

    Bits = npt.NDArray[np.uint64]


def sketch(vectors: Vector) -> Bits:
    """The signs of every row, packed; one column a row, for words are compared across many rows at once."""
    rows, dim = vectors.shape
    signs = np.zeros((rows, -(-dim // 64) * 64), dtype=bool)
    np.greater(vectors, 0, out=signs[:, :dim])
    return np.ascontiguousarray(np.packbits(signs, axis=1).view(np.uint64).T)


def distances(words: Sequence[npt.NDArray[np.uint64]], query: Sequence[np.uint64]) -> npt.NDArray[np.uint16]:
    """In how many signs each column differs from the query, word by word."""
    total = np.zeros(len(words[0]), dtype=np.uint16)
    for row, word in zip(words, query, strict=True):
        np.add(total, np.bitwise_count(row ^ word), out=total)
    return total
