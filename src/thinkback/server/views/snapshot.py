"""All thoughts of a space in memory, for filters and views that look at every one of them.

A snapshot belongs to a version of the space. When the space has changed, only the changed thoughts are read
again; an erasure starts a new epoch, and then everything is.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property

import numpy as np
import numpy.typing as npt

from thinkback.language.names import normalise_name
from thinkback.language.tokens import fold_text
from thinkback.memory import Memory
from thinkback.think.aliases import Aliases
from thinkback.types import KINDS, SAID, SAME_AS, SpaceKey, Thought, VersionStamp

MAX_CACHED_THOUGHTS = 100_000  # of all spaces together; the least recently used space is dropped first
MAX_NAME_CHARS = 40  # a longer value is no name

KIND_NUMBERS = {kind: number for number, kind in enumerate(KINDS)}


@dataclass(frozen=True, slots=True)
class Row:
    """One thought with what the views compare: folded text, keys of the names, start and end in seconds."""

    thought: Thought
    text: str
    person: str  # primary name of its subject
    keys: frozenset[str]  # normalised names of its subject and values
    start: float
    end: float
    dated: bool  # whether the thought itself says when it began


@dataclass(frozen=True)
class SpaceSnapshot:
    """The thoughts of one space at one version, without those that only join two names."""

    stamp: VersionStamp
    rows: tuple[Row, ...]  # in order of their ids
    groups: dict[int, int]  # by thought
    said_at: dict[int, datetime]  # by turn
    joins: tuple[Thought, ...]  # the thoughts that only join two names
    aliases: Aliases = field(repr=False)

    @cached_property
    def kinds(self) -> npt.NDArray[np.int8]:
        return np.array([KIND_NUMBERS[row.thought.kind] for row in self.rows], dtype=np.int8)

    @cached_property
    def current(self) -> npt.NDArray[np.bool_]:
        return np.array([row.thought.current for row in self.rows], dtype=np.bool_)

    @cached_property
    def group_numbers(self) -> npt.NDArray[np.int64]:
        return np.array([self.groups.get(row.thought.id, -1) for row in self.rows], dtype=np.int64)

    @cached_property
    def starts(self) -> npt.NDArray[np.float64]:
        return np.array([row.start for row in self.rows], dtype=np.float64)

    @cached_property
    def ends(self) -> npt.NDArray[np.float64]:
        return np.array([row.end for row in self.rows], dtype=np.float64)

    def group_of(self, thought: int) -> int | None:
        return self.groups.get(thought)


def read_snapshot(memory: Memory, previous: SpaceSnapshot | None = None) -> SpaceSnapshot:
    """The snapshot of the current version; `previous` is an earlier one of the same space."""
    store, user = memory.store, memory.user
    stamp = store.stamp(user)
    if previous is not None and stamp == previous.stamp:
        return previous
    if previous is not None and stamp.epoch != previous.stamp.epoch:
        previous = None
    delta = store.delta(user, previous.stamp if previous else VersionStamp())
    thoughts: dict[int, Thought] = {}
    groups: dict[int, int] = {}
    said_at: dict[int, datetime] = {}
    if previous is None or delta.stamp.epoch != previous.stamp.epoch:
        thoughts = {thought.id: thought for thought in store.thoughts(user, current=False)}
    else:
        known = (*(row.thought for row in previous.rows), *previous.joins)
        thoughts = {thought.id: thought for thought in known}
        groups, said_at = dict(previous.groups), dict(previous.said_at)
        changed = sorted({period.id for period in delta.periods if period.kind == "thought"})
        if changed:
            thoughts |= {item.id: item for item in store.thoughts(user, ids=changed, current=False)}
    groups |= {entry.id: entry.group for entry in delta.entries if entry.kind == "thought"}
    for period in delta.periods:
        if period.kind == "turn" and period.valid_from is not None:
            said_at[period.id] = period.valid_from
    return _build(delta.stamp, thoughts, groups, said_at, previous)


def _build(
    stamp: VersionStamp,
    thoughts: dict[int, Thought],
    groups: dict[int, int],
    said_at: dict[int, datetime],
    previous: SpaceSnapshot | None,
) -> SpaceSnapshot:
    ordered = [thoughts[id_] for id_ in sorted(thoughts)]
    aliases = Aliases.from_thoughts(
        thought for thought in ordered if thought.current and thought.kind == "relationship"
    )
    joins = tuple(thought for thought in ordered if thought.relation == SAME_AS)
    reusable: dict[int, Row] = {}
    if previous is not None and previous.aliases.clusters == aliases.clusters:
        reusable = {row.thought.id: row for row in previous.rows}
    rows: list[Row] = []
    for thought in ordered:
        if thought.relation == SAME_AS:
            continue
        known = reusable.get(thought.id)
        rows.append(known if known and known.thought is thought else _row(thought, aliases, said_at))
    return SpaceSnapshot(stamp, tuple(rows), groups, said_at, joins, aliases)


def _row(thought: Thought, aliases: Aliases, said_at: dict[int, datetime]) -> Row:
    started = thought.valid_from or min(
        (said_at[source.turn] for source in thought.sources if source.turn in said_at),
        default=thought.recorded_at,
    )
    ended = thought.valid_to or thought.retired_at
    person = aliases.primary_name(thought.subject)
    return Row(
        thought=thought,
        text=fold_text(" ".join((thought.sentence, thought.subject, thought.relation, thought.object))),
        person=person,
        keys=frozenset(_keys(thought, person, aliases)),
        start=started.timestamp(),
        end=float("inf") if ended is None else max(ended.timestamp(), started.timestamp()),
        dated=thought.valid_from is not None,
    )


def _keys(thought: Thought, person: str, aliases: Aliases) -> Iterable[str]:
    yield normalise_name(person)
    if thought.relation != SAID:
        for value in thought.objects:
            if len(value) <= MAX_NAME_CHARS:
                yield normalise_name(aliases.primary_name(value))


class SnapshotCache:
    """The snapshots of the spaces that were looked at last. Safe to share between threads."""

    def __init__(self, max_thoughts: int = MAX_CACHED_THOUGHTS) -> None:
        self._max_thoughts = max_thoughts
        self._snapshots: OrderedDict[SpaceKey, SpaceSnapshot] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, memory: Memory) -> SpaceSnapshot:
        """The snapshot of the current version of a space."""
        key = (memory.tenant, memory.user)
        with self._lock:
            previous = self._snapshots.get(key)
        snapshot = read_snapshot(memory, previous)
        with self._lock:
            self._snapshots[key] = snapshot
            self._snapshots.move_to_end(key)
            while len(self._snapshots) > 1 and self._size() > self._max_thoughts:
                self._snapshots.popitem(last=False)
        return snapshot

    def _size(self) -> int:
        return sum(len(snapshot.rows) for snapshot in self._snapshots.values())
