"""Vectors of one space, stored group by group, with bit sketches that shortlist rows for exact comparison."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from thinkback.errors import InvalidInput
from thinkback.index.arrays import ensure_capacity

if TYPE_CHECKING:
    import numpy.typing as npt

    from thinkback.types import Vector

    Sketches = npt.NDArray[np.uint64]

MAX_SKETCH_BITS = 512
_PLANE_SEED = 1


@lru_cache(maxsize=4)
def random_planes(dim: int) -> Vector:
    """One plane a row, as many as dimensions (at most 512): orthogonal, and the same in every process."""
    count = min(dim, MAX_SKETCH_BITS)
    normal = np.random.Generator(np.random.PCG64(_PLANE_SEED)).standard_normal((dim, count))
    return np.ascontiguousarray(np.linalg.qr(normal)[0].T, dtype=np.float32)


def compute_sketches(vectors: Vector) -> Sketches:
    """On which side of every plane each row lies; one column a row, for words are compared row by row."""
    rows, dim = vectors.shape
    sides = np.zeros((rows, sketch_word_count(dim) * 64), dtype=bool)
    across = random_planes(dim)
    # One query is projected by plain dot products: a threaded BLAS call is slower on busy cores.
    projected = np.vecdot(across, vectors[0])[None, :] if rows == 1 else vectors @ across.T
    np.greater(projected, 0, out=sides[:, : len(across)])
    return np.ascontiguousarray(np.packbits(sides, axis=1).view(np.uint64).T)


def sketch_word_count(dim: int) -> int:
    """How many 64-bit words a sketch has."""
    return -(-min(dim, MAX_SKETCH_BITS) // 64)


def hamming_distances(
    bits: Sequence[npt.NDArray[np.uint64]], query: Sequence[np.uint64]
) -> npt.NDArray[np.uint16]:
    """In how many bits each column differs from the query, word by word."""
    total = np.zeros(len(bits[0]), dtype=np.uint16)
    for row, word in zip(bits, query, strict=True):
        np.add(total, np.bitwise_count(row ^ word), out=total)
    return total


if TYPE_CHECKING:
    import numpy.typing as npt

    pass
    from thinkback.types import Vector

    Mask = npt.NDArray[np.bool_]

    Ints = npt.NDArray[np.int64]
    Slots = npt.NDArray[np.int32]

# One dot product a row, never a threaded BLAS call: on two busy cores a two-thread matrix-vector product was
# seen to take 8 ms where one thread needs 0.2 ms.
row_dots = np.vecdot

MAX_EXACT_ROWS = 2000  # rows; looking at all of them costs less than choosing among them


class GroupedVectors:
    """Vectors by slot (a dense row number), placed by group."""

    def __init__(self) -> None:
        self._matrix: Vector = np.zeros((0, 0), dtype=np.float32)
        self._sketches: Sketches = np.zeros((0, 0), dtype=np.uint64)  # one column a position
        self._slot_by_position = np.zeros(0, dtype=np.int32)  # position -> slot, -1 where nobody lives
        self._position_by_slot = np.zeros(0, dtype=np.int64)  # slot -> position, -1 if it has none
        self._group_by_slot = np.zeros(0, dtype=np.int64)  # slot -> group
        self._start = np.zeros(0, dtype=np.int64)  # of every group: first position, inhabitants, room
        self._count = np.zeros(0, dtype=np.int64)
        self._room = np.zeros(0, dtype=np.int64)
        self._end = 0
        self._size = 0
        self._occupied: Ints | None = None

    @property
    def dim(self) -> int:
        return int(self._matrix.shape[1])

    @property
    def nbytes(self) -> int:
        """Of what was ever touched: room at the end has no memory yet."""
        row = self.dim * self._matrix.itemsize + len(self._sketches) * self._sketches.itemsize
        columns = (
            self._slot_by_position,
            self._position_by_slot,
            self._group_by_slot,
            self._start,
            self._count,
            self._room,
        )
        return self._end * row + sum(column.nbytes for column in columns)

    def put(self, slots: Sequence[int], vectors: Vector, groups: Sequence[int]) -> None:
        """Place one vector a slot; a slot that has one already gets the new one. Slots must be distinct."""
        self._validate(vectors, groups)
        self._occupied = None
        if not self._size:
            self._matrix = np.zeros((len(self._matrix), vectors.shape[1]), dtype=np.float32)
            self._sketches = np.zeros(
                (sketch_word_count(vectors.shape[1]), len(self._matrix)), dtype=np.uint64
            )
        top = max(slots, default=-1) + 1
        self._position_by_slot = ensure_capacity(self._position_by_slot, top, fill=-1)
        self._group_by_slot = ensure_capacity(self._group_by_slot, top)
        for column in ("_start", "_count", "_room"):
            setattr(self, column, ensure_capacity(getattr(self, column), max(groups, default=-1) + 1))
        where = np.asarray(slots, dtype=np.int64)
        for slot in where[self._position_by_slot[where] >= 0].tolist():
            self._remove(slot)
        self._group_by_slot[where] = groups
        if len(slots) > 32 + self._size // 8:
            self._rebuild(where, vectors)
            return
        bits = compute_sketches(vectors)
        for number, (slot, vector, group) in enumerate(zip(slots, vectors, groups, strict=True)):
            if self._count[group] == self._room[group]:
                self._relocate_group(group)
            position = self._start[group] + self._count[group]
            self._matrix[position] = vector
            self._sketches[:, position] = bits[:, number]
            self._slot_by_position[position] = slot
            self._position_by_slot[slot] = position
            self._count[group] += 1
            self._size += 1

    def scan(self, query: Vector, shortlist: int, allowed: Mask) -> tuple[Slots, Vector]:
        """The slots that are allowed, and their cosines; of too many, the `most` that are worth a look."""
        return self._exact_cosines(query, slice(0, self._end), shortlist, allowed)

    def probe(self, query: Vector, groups: Ints, shortlist: int, allowed: Mask) -> tuple[Slots, Vector]:
        """The same of the slots in these (distinct) groups."""
        known = groups[groups < len(self._count)]
        ranges = zip(self._start[known].tolist(), self._count[known].tolist(), strict=True)
        pieces = [np.arange(start, start + count) for start, count in ranges if count]
        return self._exact_cosines(query, np.concatenate(pieces or [known[:0]]), shortlist, allowed)

    def _exact_cosines(
        self, query: Vector, where: slice | Ints, shortlist: int, allowed: Mask
    ) -> tuple[Slots, Vector]:
        """Exact cosines; where there are too many, only of those whose sketches are nearest."""
        if not self._size:
            return self._slot_by_position[:0], np.zeros(0, dtype=np.float32)
        slots = self._slot_by_position[where]
        here = self._occupied_positions() if isinstance(where, slice) else np.flatnonzero(slots >= 0)
        if not allowed.all():
            here = here[allowed[slots[here]]]
        if len(here) > max(MAX_EXACT_ROWS, shortlist):
            asked = compute_sketches(query[None, :])[:, 0]
            apart = hamming_distances([row[where] for row in self._sketches], list(asked))[here]
            # Counting finds the distance that about `most` stay within faster than any partition does.
            enough = int(np.searchsorted(np.cumsum(np.bincount(apart)), shortlist))
            here = here[apart <= enough]
        positions = here if isinstance(where, slice) else where[here]
        return slots[here], row_dots(self._matrix[positions], query)

    def _occupied_positions(self) -> Ints:
        """The positions where somebody lives, kept from search to search."""
        if self._occupied is None:
            self._occupied = np.flatnonzero(self._slot_by_position[: self._end] >= 0)
        return self._occupied

    def cosines(self, query: Vector, slots: Slots) -> Vector:
        cosine: Vector = row_dots(self._matrix[self._position_by_slot[slots]], query)
        return cosine

    def vector(self, slot: int) -> Vector:
        row: Vector = self._matrix[self._position_by_slot[slot]].copy()
        return row

    def groups_of(self, slots: Slots) -> Ints:
        return self._group_by_slot[slots]

    def group_sizes(self) -> Ints:
        """How many slots every group holds; the last one is not empty."""
        inhabited = np.flatnonzero(self._count)
        return self._count[: inhabited[-1] + 1 if len(inhabited) else 0].copy()

    def _validate(self, vectors: Vector, groups: Sequence[int]) -> None:
        if vectors.ndim != 2 or (self._size and len(vectors) and vectors.shape[1] != self._matrix.shape[1]):
            raise InvalidInput(
                f"vectors of shape {vectors.shape} do not fit a space of {self._matrix.shape[1]} dimensions: "
                "re-embed the space with one embedder"
            )
        if min(groups, default=0) < 0:
            raise InvalidInput(f"a group is a number from 0, got {min(groups)}")

    def _remove(self, slot: int) -> None:
        """The last inhabitant of the group moves into the place that becomes free."""
        group = self._group_by_slot[slot]
        free, last = self._position_by_slot[slot], self._start[group] + self._count[group] - 1
        mover = self._slot_by_position[last]
        self._matrix[free] = self._matrix[last]
        self._sketches[:, free] = self._sketches[:, last]
        self._slot_by_position[free] = mover
        self._position_by_slot[mover] = free
        self._slot_by_position[last] = -1
        self._position_by_slot[slot] = -1
        self._count[group] -= 1
        self._size -= 1

    def _relocate_group(self, group: int) -> None:
        """Move a full group to the end of the arena; where there is no end left, lay out all anew."""
        count = int(self._count[group])
        room = count + count // 2 + 4
        if self._end + room > len(self._matrix):
            self._rebuild(np.zeros(0, dtype=np.int64), self._matrix[:0])
            if self._count[group] < self._room[group]:
                return
        old, new = int(self._start[group]), self._end
        self._matrix[new : new + count] = self._matrix[old : old + count]
        self._sketches[:, new : new + count] = self._sketches[:, old : old + count]
        movers = self._slot_by_position[old : old + count].copy()
        self._slot_by_position[old : old + count] = -1
        self._slot_by_position[new : new + count] = movers
        self._position_by_slot[movers] = np.arange(new, new + count)
        self._start[group], self._room[group] = new, room
        self._end += room

    def _rebuild(self, new: Ints, vectors: Vector) -> None:
        """Place everybody, and the `new` slots, afresh, with an eighth of spare room, and more at the end."""
        old = np.flatnonzero(self._slot_by_position[: self._end] >= 0)
        slots = np.concatenate([self._slot_by_position[old], new]).astype(np.int64)
        groups = self._group_by_slot[slots]
        count = np.bincount(groups, minlength=len(self._count))
        room = np.where(count > 0, count + count // 8 + 2, 0)
        start = np.cumsum(room) - room
        order = np.argsort(groups, kind="stable")
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order)) - np.repeat(np.cumsum(count) - count, count)
        position = start[groups] + rank
        end = int(room.sum())
        # Zeros come from the kernel page by page when touched: spare room costs no memory.
        matrix = np.zeros((end + end // 4 + 32, vectors.shape[1]), dtype=np.float32)
        matrix[position[: len(old)]] = self._matrix[old]
        matrix[position[len(old) :]] = vectors
        bits = np.zeros((len(self._sketches), len(matrix)), dtype=np.uint64)
        bits[:, position[: len(old)]] = self._sketches[:, old]
        bits[:, position[len(old) :]] = compute_sketches(vectors)
        self._matrix = matrix
        self._sketches = bits
        self._slot_by_position = np.full(len(matrix), -1, dtype=np.int32)
        self._slot_by_position[position] = slots
        self._position_by_slot[slots] = position
        self._start, self._count, self._room = start, count, room
        self._end, self._size = end, len(slots)
