"""All rows of one kind (turns or thoughts) of a space: vectors, terms, times, side by side.

A row's slot is its dense number, given once; its vector lives in the arena, its words in the lexicon.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from datetime import datetime
from typing import TYPE_CHECKING

import numpy as np

from thinkback.errors import NotFound
from thinkback.index.arena import Arena
from thinkback.index.growth import grown
from thinkback.index.lexical import Lexicon

if TYPE_CHECKING:
    import numpy.typing as npt

    from thinkback.types import Entry, Period, Vector

    Ints = npt.NDArray[np.int64]
    Slots = npt.NDArray[np.int32]
    Mask = npt.NDArray[np.bool_]

_SLOT_BYTES = 120  # what an id takes in a dictionary, measured
_SMALL = 2000  # rows, for all of which something may be worked out beforehand


class Rows:
    """One writer at a time; readers only between writes."""

    def __init__(self) -> None:
        self.arena = Arena()
        self.lexicon = Lexicon()
        self._slot: dict[int, int] = {}
        self._ids = np.zeros(0, dtype=np.int64)
        self._turns = np.zeros(0, dtype=np.int64)
        # Times are seconds since 1970; an open end is infinite.
        self._valid_from = np.zeros(0)
        self._valid_to = np.zeros(0)
        self._recorded_at = np.zeros(0)
        self._retired_at = np.zeros(0)
        self._waiting: dict[int, Period] = {}  # told when before they were told what
        self._near: dict[tuple[int, float], Ints] = {}  # of all slots of a small space, until a row comes

    def __len__(self) -> int:
        return len(self._slot)

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
        own = sum(column.nbytes for column in columns) + len(self._slot) * _SLOT_BYTES
        return own + self.arena.nbytes + self.lexicon.nbytes

    def put(self, entries: Iterable[Entry]) -> None:
        """Add rows; an id that is here already is replaced."""
        last = {entry.id: entry for entry in entries}
        if not last:
            return
        self._near = {}
        vectors = np.stack([entry.vector for entry in last.values()]).astype(np.float32, copy=False)
        fresh = [id for id in last if id not in self._slot]
        slot_of = {id: slot for slot, id in enumerate(fresh, start=len(self._slot))}
        slots = [self._slot[id] if id in self._slot else slot_of[id] for id in last]
        self.arena.put(slots, vectors, [entry.group for entry in last.values()])
        self.lexicon.extend(slots, [entry.terms for entry in last.values()])
        self._slot |= slot_of
        size = len(self._slot)
        self._ids = grown(self._ids, size)
        self._ids[size - len(fresh) : size] = fresh
        self._turns = grown(self._turns, size)
        self._valid_from = grown(self._valid_from, size, fill=-np.inf)
        self._valid_to = grown(self._valid_to, size, fill=np.inf)
        self._recorded_at = grown(self._recorded_at, size, fill=-np.inf)
        self._retired_at = grown(self._retired_at, size, fill=np.inf)
        self.date([self._waiting.pop(id) for id in fresh if id in self._waiting])

    def date(self, periods: Iterable[Period]) -> None:
        """Note when rows hold; the period of a row not yet here waits for it."""
        for period in periods:
            slot = self._slot.get(period.id)
            if slot is None:
                self._waiting[period.id] = period
                continue
            self._near = {}
            self._turns[slot] = period.turn
            self._valid_from[slot] = _seconds(period.valid_from, -np.inf)
            self._valid_to[slot] = _seconds(period.valid_to, np.inf)
            self._recorded_at[slot] = _seconds(period.recorded_at, -np.inf)
            self._retired_at[slot] = _seconds(period.retired_at, np.inf)

    def allowed(self, *, as_of: float | None, current_only: bool, only: Collection[int] | None) -> Mask:
        """Of every slot, whether a search may return it."""
        size = len(self)
        keep = self._retired_at[:size] == np.inf if current_only else np.ones(size, dtype=np.bool_)
        if as_of is not None:
            keep &= (self._valid_from[:size] <= as_of) & (as_of < self._valid_to[:size])
        if only is not None:
            listed = np.zeros(size, dtype=np.bool_)
            listed[[self._slot[id] for id in only if id in self._slot]] = True
            keep &= listed
        return keep

    def among(self, ids: Collection[int], allowed: Mask) -> set[int]:
        """Those of these ids that are here and allowed."""
        return {id for id in ids if id in self._slot and allowed[self._slot[id]]}

    def ids(self, slots: Slots | None = None) -> Ints:
        """The ids of these slots, or all in the order they came."""
        return self._ids[: len(self)].copy() if slots is None else self._ids[slots]

    def beside(self, id: int) -> list[int]:
        """The ids that came right before and after one; none if it is not here."""
        slot = self._slot.get(id)
        if slot is None:
            return []
        return [int(self._ids[near]) for near in (slot - 1, slot + 1) if 0 <= near < len(self)]

    def turns(self, slots: Slots) -> Ints:
        """The source turn of each, 0 where it is not known."""
        return self._turns[slots]

    def retired_of(self, turn: int) -> list[int]:
        """The ids of what came of a turn and is held true no more."""
        size = len(self)
        return [
            int(id)
            for id in self._ids[:size][(self._turns[:size] == turn) & (self._retired_at[:size] < np.inf)]
        ]

    def retired(self) -> list[int]:
        """The ids of what is held true no more."""
        size = len(self)
        ids: list[int] = self._ids[:size][self._retired_at[:size] < np.inf].tolist()
        return ids

    @property
    def any_retired(self) -> bool:
        return bool((self._retired_at[: len(self)] < np.inf).any())

    def near(self, slots: Slots, step: int, seconds: float) -> Ints:
        """The slot so many steps from each, if it began within so many seconds of it; else -1."""
        if len(self) > _SMALL:
            return self._stepped(slots.astype(np.int64), step, seconds)
        known = self._near.get((step, seconds))
        if known is None:
            known = self._near[step, seconds] = self._stepped(np.arange(len(self)), step, seconds)
        return known[slots]

    def _stepped(self, slots: Ints, step: int, seconds: float) -> Ints:
        there = slots + step
        other = np.clip(there, 0, len(self) - 1)
        with np.errstate(invalid="ignore"):
            close = np.abs(self._valid_from[other] - self._valid_from[slots]) <= seconds
        return np.where((other == there) & close, other, -1)

    def began(self, start: float, end: float) -> Mask:
        """Of every slot, whether it holds from a time in this span on."""
        since = self._valid_from[: len(self)]
        return (since >= start) & (since < end)

    def since(self, slots: Slots) -> npt.NDArray[np.float64]:
        return self._valid_from[slots]

    def vector(self, id: int) -> Vector:
        if id not in self._slot:
            raise NotFound(f"no row {id} in this index: apply the space's latest delta first")
        return self.arena.vector(self._slot[id])


def _seconds(time: datetime | None, otherwise: float) -> float:
    return otherwise if time is None else time.timestamp()
