"""All rows of one kind (turns or thoughts) of a space: vectors, terms, times, side by side.

A row's slot is its dense number, given once; its vector lives in the arena, its words in the lexicon.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from datetime import datetime
from typing import TYPE_CHECKING

import numpy as np

from thinkback.errors import NotFound
from thinkback.index.arrays import ensure_capacity
from thinkback.index.lexical import LexicalIndex
from thinkback.index.vectors import GroupedVectors

if TYPE_CHECKING:
    import numpy.typing as npt

    from thinkback.types import IndexEntry, ValidityPeriod, Vector

    Ints = npt.NDArray[np.int64]
    Slots = npt.NDArray[np.int32]
    Mask = npt.NDArray[np.bool_]

_SLOT_BYTES = 120  # what an id takes in a dictionary, measured
_MAX_PRECOMPUTED_ROWS = 2000  # rows, for all of which something may be worked out beforehand


class RowTable:
    """One writer at a time; readers only between writes."""

    def __init__(self) -> None:
        self.vectors = GroupedVectors()
        self.lexical = LexicalIndex()
        self._slot_by_id: dict[int, int] = {}
        self._ids = np.zeros(0, dtype=np.int64)
        self._turns = np.zeros(0, dtype=np.int64)
        # Times are seconds since 1970; an open end is infinite.
        self._valid_from = np.zeros(0)
        self._valid_to = np.zeros(0)
        self._recorded_at = np.zeros(0)
        self._retired_at = np.zeros(0)
        self._pending_periods: dict[int, ValidityPeriod] = {}  # told when before they were told what
        self._adjacent_cache: dict[
            tuple[int, float], Ints
        ] = {}  # of all slots of a small space, until a row comes

    def __len__(self) -> int:
        return len(self._slot_by_id)

    @property
    def nbytes(self) -> int:
        columns = (
            self._ids,
            self._turns,
            self._valid_from,
            self._valid_to,
            self._recorded_at,
            self._retired_at,
        )
        own = sum(column.nbytes for column in columns) + len(self._slot_by_id) * _SLOT_BYTES
        return own + self.vectors.nbytes + self.lexical.nbytes

    def put(self, entries: Iterable[IndexEntry]) -> None:
        """Add rows; an id that is here already is replaced."""
        last = {entry.id: entry for entry in entries}
        if not last:
            return
        self._adjacent_cache = {}
        vectors = np.stack([entry.vector for entry in last.values()]).astype(np.float32, copy=False)
        fresh = [id for id in last if id not in self._slot_by_id]
        slot_of = {id: slot for slot, id in enumerate(fresh, start=len(self._slot_by_id))}
        slots = [self._slot_by_id[id] if id in self._slot_by_id else slot_of[id] for id in last]
        self.vectors.put(slots, vectors, [entry.group for entry in last.values()])
        self.lexical.extend(slots, [entry.terms for entry in last.values()])
        self._slot_by_id |= slot_of
        size = len(self._slot_by_id)
        self._ids = ensure_capacity(self._ids, size)
        self._ids[size - len(fresh) : size] = fresh
        self._turns = ensure_capacity(self._turns, size)
        self._valid_from = ensure_capacity(self._valid_from, size, fill=-np.inf)
        self._valid_to = ensure_capacity(self._valid_to, size, fill=np.inf)
        self._recorded_at = ensure_capacity(self._recorded_at, size, fill=-np.inf)
        self._retired_at = ensure_capacity(self._retired_at, size, fill=np.inf)
        self.set_periods([self._pending_periods.pop(id) for id in fresh if id in self._pending_periods])

    def set_periods(self, periods: Iterable[ValidityPeriod]) -> None:
        """Note when rows hold; the period of a row not yet here waits for it."""
        for period in periods:
            slot = self._slot_by_id.get(period.id)
            if slot is None:
                self._pending_periods[period.id] = period
                continue
            self._adjacent_cache = {}
            self._turns[slot] = period.turn
            self._valid_from[slot] = _timestamp(period.valid_from, -np.inf)
            self._valid_to[slot] = _timestamp(period.valid_to, np.inf)
            self._recorded_at[slot] = _timestamp(period.recorded_at, -np.inf)
            self._retired_at[slot] = _timestamp(period.retired_at, np.inf)

    def allowed(
        self, *, as_of: float | None, current_only: bool, allowed_ids: Collection[int] | None
    ) -> Mask:
        """Of every slot, whether a search may return it."""
        size = len(self)
        keep = self._retired_at[:size] == np.inf if current_only else np.ones(size, dtype=np.bool_)
        if as_of is not None:
            keep &= (self._valid_from[:size] <= as_of) & (as_of < self._valid_to[:size])
        if allowed_ids is not None:
            listed = np.zeros(size, dtype=np.bool_)
            listed[[self._slot_by_id[id] for id in allowed_ids if id in self._slot_by_id]] = True
            keep &= listed
        return keep

    def filter_allowed(self, ids: Collection[int], allowed: Mask) -> set[int]:
        """Those of these ids that are here and allowed."""
        return {id for id in ids if id in self._slot_by_id and allowed[self._slot_by_id[id]]}

    def ids(self, slots: Slots | None = None) -> Ints:
        """The ids of these slots, or all in the order they came."""
        return self._ids[: len(self)].copy() if slots is None else self._ids[slots]

    def adjacent_ids(self, id: int) -> list[int]:
        """The ids that came right before and after one; none if it is not here."""
        slot = self._slot_by_id.get(id)
        if slot is None:
            return []
        return [int(self._ids[near]) for near in (slot - 1, slot + 1) if 0 <= near < len(self)]

    def source_turns(self, slots: Slots) -> Ints:
        """The source turn of each, 0 where it is not known."""
        return self._turns[slots]

    def retired_from_turn(self, turn: int) -> list[int]:
        """The ids of what came of a turn and is held true no more."""
        size = len(self)
        return [
            int(id)
            for id in self._ids[:size][(self._turns[:size] == turn) & (self._retired_at[:size] < np.inf)]
        ]

    def retired_ids(self) -> list[int]:
        """The ids of what is held true no more."""
        size = len(self)
        ids: list[int] = self._ids[:size][self._retired_at[:size] < np.inf].tolist()
        return ids

    @property
    def has_retired(self) -> bool:
        return bool((self._retired_at[: len(self)] < np.inf).any())

    def adjacent_slots(self, slots: Slots, step: int, seconds: float) -> Ints:
        """The slot so many steps from each, if it began within so many seconds of it; else -1."""
        if len(self) > _MAX_PRECOMPUTED_ROWS:
            return self._compute_adjacent(slots.astype(np.int64), step, seconds)
        known = self._adjacent_cache.get((step, seconds))
        if known is None:
            known = self._adjacent_cache[step, seconds] = self._compute_adjacent(
                np.arange(len(self)), step, seconds
            )
        return known[slots]

    def _compute_adjacent(self, slots: Ints, step: int, seconds: float) -> Ints:
        there = slots + step
        other = np.clip(there, 0, len(self) - 1)
        with np.errstate(invalid="ignore"):
            close = np.abs(self._valid_from[other] - self._valid_from[slots]) <= seconds
        return np.where((other == there) & close, other, -1)

    def starts_within(self, start: float, end: float) -> Mask:
        """Of every slot, whether it holds from a time in this span on."""
        since = self._valid_from[: len(self)]
        return (since >= start) & (since < end)

    def start_times(self, slots: Slots) -> npt.NDArray[np.float64]:
        return self._valid_from[slots]

    def vector(self, id: int) -> Vector:
        if id not in self._slot_by_id:
            raise NotFound(f"no row {id} in this index: apply the space's latest delta first")
        return self.vectors.vector(self._slot_by_id[id])


def _timestamp(time: datetime | None, otherwise: float) -> float:
    return otherwise if time is None else time.timestamp()
