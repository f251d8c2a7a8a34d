"""Vectors laid out group by group, so that looking into a group reads one contiguous slice of memory.

This is the hash table of TiM 002, section 3.2.2, for reading fast: every group has room to grow, and one that
has outgrown its room moves to the end. A new vector is in its place at once: there is no sorting to wait for
and no unsorted tail to scan.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from thinkback.errors import InvalidInput
from thinkback.index.growth import grown
from thinkback.index.sketch import distances, sketch, words

if TYPE_CHECKING:
    import numpy.typing as npt

    from thinkback.index.sketch import Bits
    from thinkback.types import Vector

    Flags = npt.NDArray[np.bool_]

    Ints = npt.NDArray[np.int64]
    Slots = npt.NDArray[np.int32]

# One dot product a row, never a threaded BLAS call: on two busy cores a two-thread matrix-vector product was
# seen to take 8 ms where one thread needs 0.2 ms.
row_dots = np.vecdot

EXACT_UP_TO = 2000  # rows; looking at all of them costs less than choosing among them


class Arena:
    """Vectors by slot (a dense row number), placed by group."""

    def __init__(self) -> None:
        self._matrix: Vector = np.zeros((0, 0), dtype=np.float32)
        self._bits: Bits = np.zeros((0, 0), dtype=np.uint64)  # one column a position
        self._slot_at = np.zeros(0, dtype=np.int32)  # position -> slot, -1 where nobody lives
        self._position = np.zeros(0, dtype=np.int64)  # slot -> position, -1 if it has none
        self._group = np.zeros(0, dtype=np.int64)  # slot -> group
        self._start = np.zeros(0, dtype=np.int64)  # of every group: first position, inhabitants, room
        self._count = np.zeros(0, dtype=np.int64)
        self._room = np.zeros(0, dtype=np.int64)
        self._end = 0
        self._size = 0
        self._lived_in: Ints | None = None

    @property
    def dim(self) -> int:
        return int(self._matrix.shape[1])

    @property
    def nbytes(self) -> int:
        """Of what was ever touched: room at the end has no memory yet."""
        row = self.dim * self._matrix.itemsize + len(self._bits) * self._bits.itemsize
        columns = (self._slot_at, self._position, self._group, self._start, self._count, self._room)
        return self._end * row + sum(column.nbytes for column in columns)

    def put(self, slots: Sequence[int], vectors: Vector, groups: Sequence[int]) -> None:
        """Place one vector a slot; a slot that has one already gets the new one. Slots must be distinct."""
        self._expect(vectors, groups)
        self._lived_in = None
        if not self._size:
            self._matrix = np.zeros((len(self._matrix), vectors.shape[1]), dtype=np.float32)
            self._bits = np.zeros((words(vectors.shape[1]), len(self._matrix)), dtype=np.uint64)
        top = max(slots, default=-1) + 1
        self._position = grown(self._position, top, fill=-1)
        self._group = grown(self._group, top)
        for column in ("_start", "_count", "_room"):
            setattr(self, column, grown(getattr(self, column), max(groups, default=-1) + 1))
        where = np.asarray(slots, dtype=np.int64)
        for slot in where[self._position[where] >= 0].tolist():
            self._take_out(slot)
        self._group[where] = groups
        if len(slots) > 32 + self._size // 8:
            self._lay_out(where, vectors)
            return
        bits = sketch(vectors)
        for number, (slot, vector, group) in enumerate(zip(slots, vectors, groups, strict=True)):
            if self._count[group] == self._room[group]:
                self._make_room(group)
            position = self._start[group] + self._count[group]
            self._matrix[position] = vector
            self._bits[:, position] = bits[:, number]
            self._slot_at[position] = slot
            self._position[slot] = position
            self._count[group] += 1
            self._size += 1

    def scan(self, query: Vector, most: int, allowed: Flags) -> tuple[Slots, Vector]:
        """The slots that are allowed, and their cosines; of too many, the `most` that are worth a look."""
        return self._look(query, slice(0, self._end), most, allowed)

    def probe(self, query: Vector, groups: Ints, most: int, allowed: Flags) -> tuple[Slots, Vector]:
        """The same of the slots in these (distinct) groups."""
        known = groups[groups < len(self._count)]
        ranges = zip(self._start[known].tolist(), self._count[known].tolist(), strict=True)
        pieces = [np.arange(start, start + count) for start, count in ranges if count]
        return self._look(query, np.concatenate(pieces or [known[:0]]), most, allowed)

    def _look(self, query: Vector, where: slice | Ints, most: int, allowed: Flags) -> tuple[Slots, Vector]:
        """Exact cosines; where there are too many, only of those whose sketches are nearest."""
        if not self._size:
            return self._slot_at[:0], np.zeros(0, dtype=np.float32)
        slots = self._slot_at[where]
        here = self._inhabited() if isinstance(where, slice) else np.flatnonzero(slots >= 0)
        if not allowed.all():
            here = here[allowed[slots[here]]]
        if len(here) > max(EXACT_UP_TO, most):
            asked = sketch(query[None, :])[:, 0]
            apart = distances([row[where] for row in self._bits], list(asked))[here]
            # Counting finds the distance that about `most` stay within faster than any partition does.
            enough = int(np.searchsorted(np.cumsum(np.bincount(apart)), most))
            here = here[apart <= enough]
        positions = here if isinstance(where, slice) else where[here]
        return slots[here], row_dots(self._matrix[positions], query)

    def _inhabited(self) -> Ints:
        """The positions where somebody lives, kept from search to search."""
        if self._lived_in is None:
            self._lived_in = np.flatnonzero(self._slot_at[: self._end] >= 0)
        return self._lived_in

    def cosines(self, query: Vector, slots: Slots) -> Vector:
        cosine: Vector = row_dots(self._matrix[self._position[slots]], query)
        return cosine

    def vector(self, slot: int) -> Vector:
        row: Vector = self._matrix[self._position[slot]].copy()
        return row

    def groups(self, slots: Slots) -> Ints:
        return self._group[slots]

    def sizes(self) -> Ints:
        """How many slots every group holds; the last one is not empty."""
        inhabited = np.flatnonzero(self._count)
        return self._count[: inhabited[-1] + 1 if len(inhabited) else 0].copy()

    def _expect(self, vectors: Vector, groups: Sequence[int]) -> None:
        if vectors.ndim != 2 or (self._size and len(vectors) and vectors.shape[1] != self._matrix.shape[1]):
            raise InvalidInput(
                f"vectors of shape {vectors.shape} do not fit a space of {self._matrix.shape[1]} dimensions: "
                "re-embed the space with one embedder"
            )
        if min(groups, default=0) < 0:
            raise InvalidInput(f"a group is a number from 0, got {min(groups)}")

    def _take_out(self, slot: int) -> None:
        """The last inhabitant of the group moves into the place that becomes free."""
        group = self._group[slot]
        free, last = self._position[slot], self._start[group] + self._count[group] - 1
        mover = self._slot_at[last]
        self._matrix[free] = self._matrix[last]
        self._bits[:, free] = self._bits[:, last]
        self._slot_at[free] = mover
        self._position[mover] = free
        self._slot_at[last] = -1
        self._position[slot] = -1
        self._count[group] -= 1
        self._size -= 1

    def _make_room(self, group: int) -> None:
        """Move a full group to the end of the arena; where there is no end left, lay out all anew."""
        count = int(self._count[group])
        room = count + count // 2 + 4
        if self._end + room > len(self._matrix):
            self._lay_out(np.zeros(0, dtype=np.int64), self._matrix[:0])
            if self._count[group] < self._room[group]:
                return
        old, new = int(self._start[group]), self._end
        self._matrix[new : new + count] = self._matrix[old : old + count]
        self._bits[:, new : new + count] = self._bits[:, old : old + count]
        movers = self._slot_at[old : old + count].copy()
        self._slot_at[old : old + count] = -1
        self._slot_at[new : new + count] = movers
        self._position[movers] = np.arange(new, new + count)
        self._start[group], self._room[group] = new, room
        self._end += room

    def _lay_out(self, new: Ints, vectors: Vector) -> None:
        """Place everybody, and the `new` slots, afresh, with an eighth of spare room, and more at the end."""
        old = np.flatnonzero(self._slot_at[: self._end] >= 0)
        slots = np.concatenate([self._slot_at[old], new]).astype(np.int64)
        groups = self._group[slots]
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
        bits = np.zeros((len(self._bits), len(matrix)), dtype=np.uint64)
        bits[:, position[: len(old)]] = self._bits[:, old]
        bits[:, position[len(old) :]] = sketch(vectors)
        self._matrix = matrix
        self._bits = bits
        self._slot_at = np.full(len(matrix), -1, dtype=np.int32)
        self._slot_at[position] = slots
        self._position[slots] = position
        self._start, self._count, self._room = start, count, room
        self._end, self._size = end, len(slots)
