"""Vectors of a space in growing arrays, with binary sketches for fast approximate search."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from thinkback.errors import InvalidInput

if TYPE_CHECKING:
    import numpy.typing as npt


Scalar = TypeVar("Scalar", bound=np.generic)


def ensure_capacity(array: npt.NDArray[Scalar], size: int, fill: Any = 0) -> npt.NDArray[Scalar]:
    """`array` itself if it has at least `size` rows, otherwise a larger copy padded with `fill`."""
    if size <= len(array):
        return array
    larger = np.full((max(size, 2 * len(array), 16), *array.shape[1:]), fill, dtype=array.dtype)
    larger[: len(array)] = array
    return larger


if TYPE_CHECKING:
    import numpy.typing as npt

    from thinkback.types import Vector

    Ints = npt.NDArray[np.int64]
    Mask = npt.NDArray[np.bool_]
    Sketches = npt.NDArray[np.uint64]
    Slots = npt.NDArray[np.int32]

# One dot product per row, never a threaded BLAS call: on two busy cores a two-thread matrix-vector product
# took 8 ms where one thread needs 0.2 ms.
row_dots = np.vecdot

MAX_EXACT_ROWS = 2000  # comparing this many exactly is cheaper than building a shortlist
MAX_SKETCH_BITS = 512
_PLANE_SEED = 1


@lru_cache(maxsize=4)
def random_planes(dim: int) -> Vector:
    """Orthogonal hyperplanes, one per row, as many as dimensions (at most 512); the same in every process."""
    count = min(dim, MAX_SKETCH_BITS)
    normal = np.random.Generator(np.random.PCG64(_PLANE_SEED)).standard_normal((dim, count))
    return np.ascontiguousarray(np.linalg.qr(normal)[0].T, dtype=np.float32)


def compute_sketches(vectors: Vector) -> Sketches:
    """One sketch per column: on which side of each hyperplane the vector lies."""
    rows, dim = vectors.shape
    sides = np.zeros((rows, sketch_word_count(dim) * 64), dtype=bool)
    planes = random_planes(dim)
    # Plain dot products for a single query: a threaded BLAS call is slower on busy cores.
    projected = np.vecdot(planes, vectors[0])[None, :] if rows == 1 else vectors @ planes.T
    np.greater(projected, 0, out=sides[:, : len(planes)])
    return np.ascontiguousarray(np.packbits(sides, axis=1).view(np.uint64).T)


def sketch_word_count(dim: int) -> int:
    """The number of 64-bit words in a sketch."""
    return -(-min(dim, MAX_SKETCH_BITS) // 64)


def hamming_distances(
    sketches: Sequence[npt.NDArray[np.uint64]], query: Sequence[np.uint64]
) -> npt.NDArray[np.uint16]:
    """The number of bits in which each sketch differs from the query's."""
    total = np.zeros(len(sketches[0]), dtype=np.uint16)
    for row, word in zip(sketches, query, strict=True):
        np.add(total, np.bitwise_count(row ^ word), out=total)
    return total


class GroupedVectors:
    """Vectors by slot (a dense row number), stored group by group.

    A position is a row of the matrix. Slots and positions map to each other; -1 means none.
    """

    def __init__(self) -> None:
        self._matrix: Vector = np.zeros((0, 0), dtype=np.float32)
        # One column per position; no rows while every search is exact (at most `MAX_EXACT_ROWS` vectors).
        self._sketches: Sketches = np.zeros((0, 0), dtype=np.uint64)
        self._slot_by_position = np.zeros(0, dtype=np.int32)
        self._position_by_slot = np.zeros(0, dtype=np.int64)
        self._group_by_slot = np.zeros(0, dtype=np.int64)
        # of each group: first position, number of vectors, capacity
        self._group_start = np.zeros(0, dtype=np.int64)
        self._group_count = np.zeros(0, dtype=np.int64)
        self._group_capacity = np.zeros(0, dtype=np.int64)
        self._end = 0
        self._size = 0
        self._occupied: Ints | None = None  # cached result of `_occupied_positions`

    @property
    def dim(self) -> int:
        return int(self._matrix.shape[1])

    @property
    def nbytes(self) -> int:
        """Memory in use; the spare capacity at the end of the matrix is never touched."""
        row = self.dim * self._matrix.itemsize + len(self._sketches) * self._sketches.itemsize
        columns = (
            self._slot_by_position,
            self._position_by_slot,
            self._group_by_slot,
            self._group_start,
            self._group_count,
            self._group_capacity,
        )
        return self._end * row + sum(column.nbytes for column in columns)

    def put(self, slots: Sequence[int], vectors: Vector, groups: Sequence[int]) -> None:
        """Store one vector per slot, replacing older ones. Slots must be distinct."""
        self._validate(vectors, groups)
        self._occupied = None
        if not self._size:
            self._matrix = np.zeros((len(self._matrix), vectors.shape[1]), dtype=np.float32)
            self._sketches = np.zeros((0, len(self._matrix)), dtype=np.uint64)
        top = max(slots, default=-1) + 1
        self._position_by_slot = ensure_capacity(self._position_by_slot, top, fill=-1)
        self._group_by_slot = ensure_capacity(self._group_by_slot, top)
        group_count = max(groups, default=-1) + 1
        self._group_start = ensure_capacity(self._group_start, group_count)
        self._group_count = ensure_capacity(self._group_count, group_count)
        self._group_capacity = ensure_capacity(self._group_capacity, group_count)
        where = np.asarray(slots, dtype=np.int64)
        for slot in where[self._position_by_slot[where] >= 0].tolist():
            self._remove(slot)
        self._group_by_slot[where] = groups
        if len(slots) > 32 + self._size // 8:
            self._rebuild(where, vectors)
        else:
            self._append(slots, vectors, groups)
        if not len(self._sketches) and self._size > MAX_EXACT_ROWS:
            occupied = self._occupied_positions()
            sketches = np.zeros((sketch_word_count(self.dim), len(self._matrix)), dtype=np.uint64)
            sketches[:, occupied] = compute_sketches(self._matrix[occupied])
            self._sketches = sketches

    def _append(self, slots: Sequence[int], vectors: Vector, groups: Sequence[int]) -> None:
        bits = compute_sketches(vectors) if len(self._sketches) else self._sketches[:, :0]
        for number, (slot, vector, group) in enumerate(zip(slots, vectors, groups, strict=True)):
            if self._group_count[group] == self._group_capacity[group]:
                self._relocate_group(group)
            position = self._group_start[group] + self._group_count[group]
            self._matrix[position] = vector
            if len(bits):
                self._sketches[:, position] = bits[:, number]
            self._slot_by_position[position] = slot
            self._position_by_slot[slot] = position
            self._group_count[group] += 1
            self._size += 1

    def scan(self, query: Vector, shortlist: int, allowed: Mask) -> tuple[Slots, Vector]:
        """The allowed slots and their cosines; if there are too many, about `shortlist` of the nearest."""
        return self._exact_cosines(query, slice(0, self._end), shortlist, allowed)

    def probe(self, query: Vector, groups: Ints, shortlist: int, allowed: Mask) -> tuple[Slots, Vector]:
        """Like `scan`, limited to these (distinct) groups."""
        known = groups[groups < len(self._group_count)]
        ranges = zip(self._group_start[known].tolist(), self._group_count[known].tolist(), strict=True)
        ranges_of_positions = [np.arange(start, start + count) for start, count in ranges if count]
        return self._exact_cosines(
            query, np.concatenate(ranges_of_positions or [known[:0]]), shortlist, allowed
        )

    def _exact_cosines(
        self, query: Vector, where: slice | Ints, shortlist: int, allowed: Mask
    ) -> tuple[Slots, Vector]:
        """Exact cosines; if there are too many rows, only of those with the nearest sketches."""
        if not self._size:
            return self._slot_by_position[:0], np.zeros(0, dtype=np.float32)
        slots = self._slot_by_position[where]
        candidates = self._occupied_positions() if isinstance(where, slice) else np.flatnonzero(slots >= 0)
        if not allowed.all():
            candidates = candidates[allowed[slots[candidates]]]
        if len(candidates) > max(MAX_EXACT_ROWS, shortlist):
            query_sketch = compute_sketches(query[None, :])[:, 0]
            distance = hamming_distances([row[where] for row in self._sketches], list(query_sketch))[
                candidates
            ]
            # Counting finds the distance that about `shortlist` rows stay within, faster than a partition.
            max_distance = int(np.searchsorted(np.cumsum(np.bincount(distance)), shortlist))
            candidates = candidates[distance <= max_distance]
        positions = candidates if isinstance(where, slice) else where[candidates]
        return slots[candidates], row_dots(self._matrix[positions], query)

    def _occupied_positions(self) -> Ints:
        """The positions that hold a vector, cached between searches."""
        if self._occupied is None:
            self._occupied = np.flatnonzero(self._slot_by_position[: self._end] >= 0)
        return self._occupied

    def all_cosines(self, query: Vector) -> Vector:
        """The cosine of every slot, by slot."""
        if not self._size:
            return np.zeros(0, dtype=np.float32)
        cosine: Vector = row_dots(self._matrix[: self._end], query)[self._position_by_slot[: self._size]]
        return cosine

    def occupied_slots(self) -> Slots:
        """All slots, in the order of their positions."""
        return self._slot_by_position[self._occupied_positions()]

    def cosines(self, query: Vector, slots: Slots) -> Vector:
        cosine: Vector = row_dots(self._matrix[self._position_by_slot[slots]], query)
        return cosine

    def vector(self, slot: int) -> Vector:
        row: Vector = self._matrix[self._position_by_slot[slot]].copy()
        return row

    def groups_of(self, slots: Slots) -> Ints:
        return self._group_by_slot[slots]

    def group_sizes(self) -> Ints:
        """The number of vectors in each group, without trailing empty groups."""
        occupied = np.flatnonzero(self._group_count)
        return self._group_count[: occupied[-1] + 1 if len(occupied) else 0].copy()

    def _validate(self, vectors: Vector, groups: Sequence[int]) -> None:
        if vectors.ndim != 2 or (self._size and len(vectors) and vectors.shape[1] != self._matrix.shape[1]):
            raise InvalidInput(
                f"vectors of shape {vectors.shape} do not fit a space of {self._matrix.shape[1]} dimensions: "
                "re-embed the space with one embedder"
            )
        if min(groups, default=0) < 0:
            raise InvalidInput(f"a group is a number from 0, got {min(groups)}")

    def _remove(self, slot: int) -> None:
        """Remove a slot; the last vector of its group takes its position."""
        group = self._group_by_slot[slot]
        free, last = self._position_by_slot[slot], self._group_start[group] + self._group_count[group] - 1
        moved = self._slot_by_position[last]
        self._matrix[free] = self._matrix[last]
        self._sketches[:, free] = self._sketches[:, last]
        self._slot_by_position[free] = moved
        self._position_by_slot[moved] = free
        self._slot_by_position[last] = -1
        self._position_by_slot[slot] = -1
        self._group_count[group] -= 1
        self._size -= 1

    def _relocate_group(self, group: int) -> None:
        """Move a full group to the end; rebuild everything if there is no space left."""
        count = int(self._group_count[group])
        capacity = count + count // 2 + 4
        if self._end + capacity > len(self._matrix):
            self._rebuild(np.zeros(0, dtype=np.int64), self._matrix[:0])
            if self._group_count[group] < self._group_capacity[group]:
                return
        old, new = int(self._group_start[group]), self._end
        self._matrix[new : new + count] = self._matrix[old : old + count]
        self._sketches[:, new : new + count] = self._sketches[:, old : old + count]
        moved = self._slot_by_position[old : old + count].copy()
        self._slot_by_position[old : old + count] = -1
        self._slot_by_position[new : new + count] = moved
        self._position_by_slot[moved] = np.arange(new, new + count)
        self._group_start[group], self._group_capacity[group] = new, capacity
        self._end += capacity

    def _rebuild(self, new: Ints, vectors: Vector) -> None:
        """Lay out all vectors again, together with the `new` slots.

        Each group gets an eighth of spare capacity, and there is more at the end.
        """
        old = np.flatnonzero(self._slot_by_position[: self._end] >= 0)
        slots = np.concatenate([self._slot_by_position[old], new]).astype(np.int64)
        groups = self._group_by_slot[slots]
        count = np.bincount(groups, minlength=len(self._group_count))
        capacity = np.where(count > 0, count + count // 8 + 2, 0)
        start = np.cumsum(capacity) - capacity
        order = np.argsort(groups, kind="stable")
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order)) - np.repeat(np.cumsum(count) - count, count)
        position = start[groups] + rank
        end = int(capacity.sum())
        # The kernel provides zero pages only when they are touched, so spare capacity costs no memory.
        matrix = np.zeros((end + end // 4 + 32, vectors.shape[1]), dtype=np.float32)
        matrix[position[: len(old)]] = self._matrix[old]
        matrix[position[len(old) :]] = vectors
        sketches = np.zeros((len(self._sketches), len(matrix)), dtype=np.uint64)
        sketches[:, position[: len(old)]] = self._sketches[:, old]
        if len(sketches):
            sketches[:, position[len(old) :]] = compute_sketches(vectors)
        self._matrix = matrix
        self._sketches = sketches
        self._slot_by_position = np.full(len(matrix), -1, dtype=np.int32)
        self._slot_by_position[position] = slots
        self._position_by_slot[slots] = position
        self._group_start, self._group_count, self._group_capacity = start, count, capacity
        self._end, self._size = end, len(slots)
