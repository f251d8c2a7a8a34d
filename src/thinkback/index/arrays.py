"""Arrays that grow: room is doubled, so that appending one row costs a constant on average."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

Scalar = TypeVar("Scalar", bound=np.generic)


def ensure_capacity(array: npt.NDArray[Scalar], size: int, fill: Any = 0) -> npt.NDArray[Scalar]:
    """`rows` itself if it holds `size` rows, else a copy with room for at least that many."""
    if size <= len(array):
        return array
    larger = np.full((max(size, 2 * len(array), 16), *array.shape[1:]), fill, dtype=array.dtype)
    larger[: len(array)] = array
    return larger
