"""Rows of numbers become unit vectors, because every embedder promises length 1 for any text whatever."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt


MAX_TEXT_CHARS = 8_000
"""What the quick embedders read of a text: the rest of a megabyte would not change its direction."""


def normalise_rows(rows: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
    """Each row at length 1; a row without a direction (zero, not finite) points along the first axis."""
    exact = np.asarray(rows, dtype=np.float64)
    lengths = np.array([np.sqrt(np.dot(row, row)) for row in exact])
    lost = ~np.isfinite(lengths) | (lengths < 1e-12)
    out = np.zeros(exact.shape, dtype=np.float32)
    out[~lost] = exact[~lost] / lengths[~lost, None]
    out[lost, 0] = 1.0
    return out
