"""All thoughts of a space in memory, for filters and views that look at every one of them.

A snapshot belongs to a version of the space. When the space has changed, only the changed thoughts are read
again; an erasure starts a new epoch, and then everything is.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property, partial
from math import inf

import numpy as np
import numpy.typing as npt

from thinkback.language.names import normalise_name
from thinkback.language.proper_names import NameMention, find_proper_names
from thinkback.language.tokens import fold_text
from thinkback.memory import Memory
from thinkback.think.aliases import Aliases
from thinkback.types import KINDS, SAID, SAME_AS, IndexDelta, SpaceKey, Thought, VersionStamp

MAX_CACHED_THOUGHTS = 100_000  # of all spaces together; the least recently used space is dropped first
MAX_NAME_CHARS = 40  # a longer value is no name

KIND_NUMBERS = {kind: number for number, kind in enumerate(KINDS)}


@dataclass(frozen=True, slots=True)
class Row:
    """One thought with what the views compare: folded text and the keys of its names."""

    thought: Thought
    text: str
    person: str  # primary name of its subject
    keys: frozenset[str]  # normalised names of its subject and values


@dataclass(frozen=True, slots=True)
class IndexedPositions:
    """What the index knows: the group of each thought, and when each turn was said."""

    groups: dict[int, int]
    said_at: dict[int, datetime]

    def updated(self, delta: IndexDelta) -> IndexedPositions:
        groups = {entry.id: entry.group for entry in delta.entries if entry.kind == "thought"}
        said_at = {
            period.id: period.valid_from
            for period in delta.periods
            if period.kind == "turn" and period.valid_from is not None
        }
        return IndexedPositions(self.groups | groups, self.said_at | said_at)


@dataclass(frozen=True, eq=False)
class SpaceSnapshot:
    """The thoughts of one space at one version, without those that only join two names.

    Groups and times are read from the database when they are first needed: a plain search does without.
    """

    stamp: VersionStamp
    rows: tuple[Row, ...]  # in order of their ids
    joins: tuple[Thought, ...]  # the thoughts that only join two names
    aliases: Aliases = field(repr=False)
    read_positions: Callable[[], IndexedPositions] = field(repr=False)

    @cached_property
    def positions(self) -> IndexedPositions:
        return self.read_positions()

    @cached_property
    def mentions(self) -> tuple[tuple[NameMention, ...], ...]:
        """For each row that keeps a sentence as it was said: the names in it."""
        said = [index for index, row in enumerate(self.rows) if row.thought.relation == SAID]
        found = find_proper_names([self.rows[index].thought.sentence for index in said])
        by_index = dict(zip(said, found, strict=True))
        return tuple(by_index.get(index, ()) for index in range(len(self.rows)))

    @cached_property
    def mentioned_keys(self) -> tuple[frozenset[str], ...]:
        """The normalised names of `mentions`."""
        names = self.aliases
        return tuple(
            frozenset(normalise_name(names.primary_name(mention.name)) for mention in row)
            for row in self.mentions
        )

    @cached_property
    def texts(self) -> tuple[str, ...]:
        return tuple(row.text for row in self.rows)

    @cached_property
    def people(self) -> tuple[tuple[tuple[str, str], ...], ...]:
        """For each row: key and name of its subject and of the people named in its sentence, each once."""
        people = []
        for row, mentions in zip(self.rows, self.mentions, strict=True):
            mentioned = (self.aliases.primary_name(name) for name, is_person in mentions if is_person)
            found: dict[str, str] = {}
            for name in (row.person, *mentioned):
                found.setdefault(normalise_name(name), name)
            people.append(tuple(found.items()))
        return tuple(people)

    @cached_property
    def kinds(self) -> npt.NDArray[np.int8]:
        return np.array([KIND_NUMBERS[row.thought.kind] for row in self.rows], dtype=np.int8)

    @cached_property
    def current(self) -> npt.NDArray[np.bool_]:
        return np.array([row.thought.current for row in self.rows], dtype=np.bool_)

    @cached_property
    def group_numbers(self) -> npt.NDArray[np.int64]:
        groups = self.positions.groups
        return np.array([groups.get(row.thought.id, -1) for row in self.rows], dtype=np.int64)

    @cached_property
    def starts(self) -> npt.NDArray[np.float64]:
        """When each thought began to hold, else when it was said, in seconds."""
        said_at = self.positions.said_at
        return np.array([_start(row.thought, said_at) for row in self.rows], dtype=np.float64)

    @cached_property
    def ends(self) -> npt.NDArray[np.float64]:
        """When each thought ceased to hold; infinite if it still does."""
        ended = [row.thought.valid_to or row.thought.retired_at for row in self.rows]
        ends = np.array([inf if end is None else end.timestamp() for end in ended], dtype=np.float64)
        return np.maximum(ends, self.starts)

    def group_of(self, thought: int) -> int | None:
        return self.positions.groups.get(thought)


def read_snapshot(memory: Memory, previous: SpaceSnapshot | None = None) -> SpaceSnapshot:
    """The snapshot of the current version; `previous` is an earlier one of the same space."""
    store, user = memory.store, memory.user
    stamp = store.stamp(user)
    if previous is not None and stamp == previous.stamp:
        return previous
    if previous is not None and stamp.epoch == previous.stamp.epoch:
        delta = store.delta(user, previous.stamp)
        if delta.stamp.epoch == previous.stamp.epoch:
            return _updated(memory, previous, delta)
    return _build(stamp, store.thoughts(user, current=False), {}, partial(_read_positions, memory))


def _read_positions(memory: Memory) -> IndexedPositions:
    return IndexedPositions({}, {}).updated(memory.store.delta(memory.user, VersionStamp()))


def _updated(memory: Memory, previous: SpaceSnapshot, delta: IndexDelta) -> SpaceSnapshot:
    """The previous snapshot with the changes since."""
    changed = sorted({period.id for period in delta.periods if period.kind == "thought"})
    rows = {row.thought.id: row for row in previous.rows}
    thoughts = {thought.id: thought for thought in (*(row.thought for row in previous.rows), *previous.joins)}
    if changed:
        read = memory.store.thoughts(memory.user, ids=changed, current=False)
        thoughts |= {thought.id: thought for thought in read}
    ordered = [thoughts[id_] for id_ in sorted(thoughts)]
    read_positions: Callable[[], IndexedPositions] = partial(_read_positions, memory)
    if "positions" in vars(previous):  # they were needed before: keep them up to date
        read_positions = partial(previous.positions.updated, delta)
    return _build(delta.stamp, ordered, rows, read_positions, previous.aliases)


def _build(
    stamp: VersionStamp,
    thoughts: Sequence[Thought],
    known_rows: dict[int, Row],
    read_positions: Callable[[], IndexedPositions],
    known_aliases: Aliases | None = None,
) -> SpaceSnapshot:
    aliases = Aliases.from_thoughts(
        thought for thought in thoughts if thought.current and thought.kind == "relationship"
    )
    if known_aliases is None or known_aliases.clusters != aliases.clusters:
        known_rows = {}
    rows: list[Row] = []
    for thought in thoughts:
        if thought.relation != SAME_AS:
            known = known_rows.get(thought.id)
            rows.append(known if known and known.thought is thought else _row(thought, aliases))
    joins = tuple(thought for thought in thoughts if thought.relation == SAME_AS)
    return SpaceSnapshot(stamp, tuple(rows), joins, aliases, read_positions)


def _start(thought: Thought, said_at: dict[int, datetime]) -> float:
    started = thought.valid_from or min(
        (said_at[source.turn] for source in thought.sources if source.turn in said_at),
        default=thought.recorded_at,
    )
    return started.timestamp()


def _row(thought: Thought, aliases: Aliases) -> Row:
    person = aliases.primary_name(thought.subject)
    return Row(
        thought=thought,
        text=fold_text(" ".join((thought.sentence, thought.subject, thought.relation, thought.object))),
        person=person,
        keys=frozenset(_keys(thought, person, aliases)),
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
