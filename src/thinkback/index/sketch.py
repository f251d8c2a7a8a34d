"""A few hundred bits a vector: enough to tell which of many vectors deserve an exact look.

Two unit vectors at an angle t lie on different sides of a random plane with probability t/pi, so the Hamming
distance of such bits ranks like the cosine, at a thirtieth of the memory read. The planes are orthogonal:
bare signs of the dimensions, which cost nothing, miss a quarter of the neighbours wherever some dimensions
are mostly zero (`benchmarks/lsh_recall.py` prints what is found).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from thinkback.types import Vector

    Bits = npt.NDArray[np.uint64]

MOST_BITS = 512
_SEED = 1


@lru_cache(maxsize=4)
def planes(dim: int) -> Vector:
    """One plane a row, as many as dimensions (at most 512): orthogonal, and the same in every process."""
    count = min(dim, MOST_BITS)
    normal = np.random.Generator(np.random.PCG64(_SEED)).standard_normal((dim, count))
    return np.ascontiguousarray(np.linalg.qr(normal)[0].T, dtype=np.float32)


def sketch(vectors: Vector) -> Bits:
    """On which side of every plane each row lies; one column a row, for words are compared row by row."""
    rows, dim = vectors.shape
    sides = np.zeros((rows, words(dim) * 64), dtype=bool)
    across = planes(dim)
    # One query is projected by plain dot products: a threaded BLAS call is slower on busy cores.
    projected = np.vecdot(across, vectors[0])[None, :] if rows == 1 else vectors @ across.T
    np.greater(projected, 0, out=sides[:, : len(across)])
    return np.ascontiguousarray(np.packbits(sides, axis=1).view(np.uint64).T)


def words(dim: int) -> int:
    """How many 64-bit words a sketch has."""
    return -(-min(dim, MOST_BITS) // 64)


def distances(bits: Sequence[npt.NDArray[np.uint64]], query: Sequence[np.uint64]) -> npt.NDArray[np.uint16]:
    """In how many bits each column differs from the query, word by word."""
    total = np.zeros(len(bits[0]), dtype=np.uint16)
    for row, word in zip(bits, query, strict=True):
        np.add(total, np.bitwise_count(row ^ word), out=total)
    return total
