"""The rows of one kind (turns or thoughts) of a space: vectors, terms and validity periods.

Each row has a slot, a dense number that never changes; all arrays are indexed by slot.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from thinkback.errors import NotFound
from thinkback.index.lexical import LexicalIndex
from thinkback.index.vectors import GroupedVectors, ensure_capacity

if TYPE_CHECKING:
    import numpy.typing as npt

    from thinkback.types import IndexEntry, NearestRows, ValidityPeriod, Vector

    Ints = npt.NDArray[np.int64]
    Slots = npt.NDArray[np.int32]
    Mask = npt.NDArray[np.bool_]

_SLOT_BYTES = 120  # measured size of one dictionary entry
_CONVERSATION_GAP_SECONDS = 7200.0  # rows within this time belong to the same conversation


class RowFilter(NamedTuple):
    """Which rows a search may return."""

    as_of: float | None = None  # valid at this time, in seconds since 1970
    current_only: bool = True  # not retired
    allowed_ids: Collection[int] | None = None  # one of these ids


class ScannedRows(NamedTuple):
    """Candidates of a search with the columns that do not depend on the query, one element per candidate."""

    allowed: Mask  # of all slots
    slots: Slots
    ids: Ints
    turns: Ints
    groups: Ints
    lengths: npt.NDArray[np.float64]  # in words
    start_times: npt.NDArray[np.float64]  # in seconds since 1970
    adjacent: Ints  # the previous and the following slot, -1 if there is none in the same conversation


class RowTable:
    """One table row per turn or thought. One writer at a time, no readers during a write."""

    def __init__(self) -> None:
        self.vectors = GroupedVectors()
        self.lexical = LexicalIndex()
        self._slot_by_id: dict[int, int] = {}
        self._ids = np.zeros(0, dtype=np.int64)
        self._turns = np.zeros(0, dtype=np.int64)
        # Times are in seconds since 1970; an open end is infinite.
        self._valid_from = np.zeros(0)
        self._valid_to = np.zeros(0)
        self._recorded_at = np.zeros(0)
        self._retired_at = np.zeros(0)
        self._pending_periods: dict[int, ValidityPeriod] = {}  # received before their entry
        self._scanned: dict[RowFilter, ScannedRows] = {}  # cached until a row changes
        self._retired_by_turn: dict[int, list[int]] | None = None  # cached until a period changes

    def __len__(self) -> int:
        return len(self._slot_by_id)

    @property
    def nbytes(self) -> int:
        """Approximate memory use."""
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
        """Add rows; rows with a known id are replaced."""
        by_id = {entry.id: entry for entry in entries}
        if not by_id:
            return
        self._scanned, self._retired_by_turn = {}, None
        vectors = np.stack([entry.vector for entry in by_id.values()]).astype(np.float32, copy=False)
        new_ids = [id for id in by_id if id not in self._slot_by_id]
        new_slots = {id: slot for slot, id in enumerate(new_ids, start=len(self._slot_by_id))}
        slots = [self._slot_by_id[id] if id in self._slot_by_id else new_slots[id] for id in by_id]
        self.vectors.put(slots, vectors, [entry.group for entry in by_id.values()])
        self.lexical.extend(slots, [entry.terms for entry in by_id.values()])
        self._slot_by_id |= new_slots
        size = len(self._slot_by_id)
        self._ids = ensure_capacity(self._ids, size)
        self._ids[size - len(new_ids) : size] = new_ids
        self._turns = ensure_capacity(self._turns, size)
        self._valid_from = ensure_capacity(self._valid_from, size, fill=-np.inf)
        self._valid_to = ensure_capacity(self._valid_to, size, fill=np.inf)
        self._recorded_at = ensure_capacity(self._recorded_at, size, fill=-np.inf)
        self._retired_at = ensure_capacity(self._retired_at, size, fill=np.inf)
        self.set_periods([self._pending_periods.pop(id) for id in new_ids if id in self._pending_periods])

    def set_periods(self, periods: Iterable[ValidityPeriod]) -> None:
        """Set the validity periods of rows; a period is kept until its row is added."""
        known: dict[int, ValidityPeriod] = {}  # by slot; the last period of a row counts
        for period in periods:
            slot = self._slot_by_id.get(period.id)
            if slot is None:
                self._pending_periods[period.id] = period
            else:
                known[slot] = period
        if not known:
            return
        self._scanned, self._retired_by_turn = {}, None
        slots = list(known)
        self._turns[slots] = [period.turn for period in known.values()]
        self._valid_from[slots] = [_timestamp(period.valid_from, -np.inf) for period in known.values()]
        self._valid_to[slots] = [_timestamp(period.valid_to, np.inf) for period in known.values()]
        self._recorded_at[slots] = [_timestamp(period.recorded_at, -np.inf) for period in known.values()]
        self._retired_at[slots] = [_timestamp(period.retired_at, np.inf) for period in known.values()]

    def allowed(self, row_filter: RowFilter) -> Mask:
        """A mask over all slots: whether a search with this filter may return the row."""
        size = len(self)
        as_of, current_only, allowed_ids = row_filter
        mask = self._retired_at[:size] == np.inf if current_only else np.ones(size, dtype=np.bool_)
        if as_of is not None:
            mask &= (self._valid_from[:size] <= as_of) & (as_of < self._valid_to[:size])
        if allowed_ids is not None:
            listed = np.zeros(size, dtype=np.bool_)
            listed[[self._slot_by_id[id] for id in allowed_ids if id in self._slot_by_id]] = True
            mask &= listed
        return mask

    def nearest_slots(self, nearest: NearestRows, allowed: Mask) -> Slots:
        """The allowed slots of rows that the database found, and of those that it has not searched."""
        found = [self._slot_by_id[id] for id in nearest.ids if id in self._slot_by_id]
        later = np.flatnonzero(self._ids[: len(self)] > nearest.covered)
        slots = np.union1d(np.array(found, dtype=np.int64), later).astype(np.int32)
        return slots[allowed[slots]]

    def filter_allowed(self, ids: Collection[int], allowed: Mask) -> set[int]:
        """Those of `ids` that exist and are allowed."""
        return {id for id in ids if id in self._slot_by_id and allowed[self._slot_by_id[id]]}

    def ids(self, slots: Slots | None = None) -> Ints:
        """The ids at these slots, or all ids in the order they were added."""
        return self._ids[: len(self)].copy() if slots is None else self._ids[slots]

    def adjacent_ids(self, id: int) -> list[int]:
        """The ids that were added right before and after this one; empty if it is unknown."""
        slot = self._slot_by_id.get(id)
        if slot is None:
            return []
        return [int(self._ids[adjacent]) for adjacent in (slot - 1, slot + 1) if 0 <= adjacent < len(self)]

    def retired_from_turn(self, turn: int) -> list[int]:
        """The ids of retired rows that came from a turn."""
        return self._retired().get(turn, [])

    def retired_ids(self) -> list[int]:
        """The ids of all retired rows."""
        size = len(self)
        ids: list[int] = self._ids[:size][self._retired_at[:size] < np.inf].tolist()
        return ids

    @property
    def has_retired(self) -> bool:
        return bool(self._retired())

    def _retired(self) -> dict[int, list[int]]:
        """The ids of the retired rows by their turn."""
        if self._retired_by_turn is None:
            slots = np.flatnonzero(self._retired_at[: len(self)] < np.inf)
            self._retired_by_turn = {}
            for turn, id_ in zip(self._turns[slots].tolist(), self._ids[slots].tolist(), strict=True):
                self._retired_by_turn.setdefault(turn, []).append(id_)
        return self._retired_by_turn

    def scan(self, row_filter: RowFilter) -> ScannedRows:
        """All rows that a search with this filter may return, in the order of their vectors."""
        scanned = self._scanned.get(row_filter) if row_filter.allowed_ids is None else None
        if scanned is None:
            allowed = self.allowed(row_filter)
            slots = self.vectors.occupied_slots()
            scanned = self.columns(slots if allowed.all() else slots[allowed[slots]], allowed)
            if row_filter.as_of is None and row_filter.allowed_ids is None:
                self._scanned[row_filter] = scanned
        return scanned

    def columns(self, slots: Slots, allowed: Mask) -> ScannedRows:
        """These slots with their columns."""
        wide = slots.astype(np.int64)
        return ScannedRows(
            allowed=allowed,
            slots=slots,
            ids=self._ids[slots],
            turns=self._turns[slots],
            groups=self.vectors.groups_of(slots),
            lengths=self.lexical.lengths(slots).astype(np.float64),
            start_times=self._valid_from[slots],
            adjacent=np.stack([self._adjacent_slots(wide, -1), self._adjacent_slots(wide, 1)]),
        )

    def _adjacent_slots(self, slots: Ints, step: int) -> Ints:
        """For each slot, the slot `step` rows away if it is of the same conversation, else -1."""
        target = slots + step
        clipped = np.clip(target, 0, len(self) - 1)
        with np.errstate(invalid="ignore"):
            close = np.abs(self._valid_from[clipped] - self._valid_from[slots]) <= _CONVERSATION_GAP_SECONDS
        return np.where((clipped == target) & close, clipped, -1)

    def starts_within(self, start: float, end: float) -> Mask:
        """A mask over all slots: whether the row becomes valid in [start, end)."""
        starts = self._valid_from[: len(self)]
        return (starts >= start) & (starts < end)

    def vector(self, id: int) -> Vector:
        """The vector of a row.

        Raises:
            NotFound: if the row is not in the table.
        """
        if id not in self._slot_by_id:
            raise NotFound(f"no row {id} in this index: apply the space's latest delta first")
        return self.vectors.vector(self._slot_by_id[id])


def _timestamp(time: datetime | None, default: float) -> float:
    return default if time is None else time.timestamp()
