"""Rows of a space and data derived from them, reused by successive recalls.

Nothing here outlives the rows it was computed from: an index delta names every thought that was changed, an
erasure starts a new epoch with a new cache, and of a turn only `thought_at`, `hidden_by` and `findings` ever
change; an index delta names the turns with a new `hidden_by`, and those in which something was found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from thinkback.index.cache import CachedSpace
from thinkback.recall.entities import EntityGraph
from thinkback.recall.expansion import ThoughtLinks
from thinkback.recall.retired import RetiredThoughts
from thinkback.recall.rows import ThoughtRow, TurnRow
from thinkback.recall.thought_lifecycle import LifecycleCache
from thinkback.types import IndexDelta, Thought, Turn

MAX_ROWS = 2048  # of each kind; the oldest entry is dropped first
MAX_TEXT_CHARS = 4096  # longer texts are not cached

_MAX_MEMO_ENTRIES = 8 * MAX_ROWS
_ROW_BYTES, _MEMO_ENTRY_BYTES = 2048, 512  # approximate memory use per entry

Memory = TypeVar("Memory", Thought, Turn)
Row = TypeVar("Row", ThoughtRow, TurnRow)
Value = TypeVar("Value")


class RecallCache:
    """The cache of one space. Use it under the lock of its `CachedSpace`, and drop it with the space."""

    def __init__(self) -> None:
        self.lifecycles = LifecycleCache()
        self._thoughts: dict[int, ThoughtRow] = {}
        self._turns: dict[int, TurnRow] = {}
        self._entity_graph: EntityGraph | None = None
        self._thought_links: ThoughtLinks | None = None
        self._retired: RetiredThoughts | None = None
        self._instructions: tuple[Thought, ...] | None = None
        self._memo: dict[tuple[Callable[[str], Any], str], Any] = {}

    @classmethod
    def of(cls, space: CachedSpace) -> RecallCache:
        """The recall cache of a space; attached to it at the first call."""
        if not isinstance(space.derived, cls):
            space.derived = cls()
        return space.derived

    @property
    def nbytes(self) -> int:
        """Approximate memory use."""
        rows = len(self._thoughts) + len(self._turns) + len(self.lifecycles.own)
        return rows * _ROW_BYTES + len(self._memo) * _MEMO_ENTRY_BYTES

    def invalidate(self, delta: IndexDelta) -> None:
        """Drop everything that a change of the space may have changed, and keep new turns."""
        changed = [period.id for period in delta.periods if period.kind == "thought"]
        for id_ in changed:
            self._thoughts.pop(id_, None)
        self.lifecycles.invalidate(changed)
        for period in delta.periods:
            if period.kind == "turn":
                self._turns.pop(period.id, None)
        _keep(self._turns, [TurnRow(turn) for turn in delta.turns])
        kinds = {entry.kind for entry in delta.entries} | {period.kind for period in delta.periods}
        if kinds == {"turn"}:  # new turns change nothing about the others
            return
        if changed:
            self._entity_graph = None
            self._thought_links = None
            self._retired = None
            self._instructions = None
        for id_ in [row.id for row in self._turns.values() if row.memory.thought_at is None]:
            del self._turns[id_]  # it may have been thought about

    def thoughts(
        self, ids: Sequence[int], read: Callable[[Sequence[int]], Sequence[Thought]]
    ) -> list[ThoughtRow]:
        """The thoughts with these ids, ordered by id; `read` loads the ones that are not cached."""
        return _read_through(self._thoughts, ids, read, ThoughtRow)

    def turns(self, ids: Sequence[int], read: Callable[[Sequence[int]], Sequence[Turn]]) -> list[TurnRow]:
        """The turns with these ids, ordered by id; `read` loads the ones that are not cached."""
        return _read_through(self._turns, ids, read, TurnRow)

    def entity_graph(self, read: Callable[[], Iterable[Thought]]) -> EntityGraph:
        """The entity graph of the space; `read` loads its current thoughts if they have changed."""
        if self._entity_graph is None:
            self._entity_graph = EntityGraph.from_thoughts(read())
        return self._entity_graph

    def thought_links(self, read: Callable[[], Iterable[Thought]]) -> ThoughtLinks:
        """The links between the thoughts of the space; `read` loads them if they have changed."""
        if self._thought_links is None:
            self._thought_links = ThoughtLinks.from_thoughts(read())
        return self._thought_links

    def memoise_retired(self, read: Callable[[], RetiredThoughts]) -> RetiredThoughts:
        """The retired thoughts of the space; `read` loads them if they have changed."""
        if self._retired is None:
            self._retired = read()
        return self._retired

    def instructions(self, read: Callable[[], Sequence[Thought]]) -> tuple[Thought, ...]:
        """The standing wishes of the user; `read` loads them if thoughts have changed."""
        if self._instructions is None:
            self._instructions = tuple(read())
        return self._instructions

    def memoise(self, function: Callable[[str], Value], text: str) -> Value:
        """`function(text)`, from the cache if it was called before. The function must be pure."""
        if len(text) > MAX_TEXT_CHARS:
            return function(text)
        key = function, text
        if key not in self._memo:
            if len(self._memo) >= _MAX_MEMO_ENTRIES:
                self._memo.clear()
            self._memo[key] = function(text)
        value: Value = self._memo[key]
        return value


def _read_through(
    cache: dict[int, Row],
    ids: Sequence[int],
    read: Callable[[Sequence[int]], Sequence[Memory]],
    make_row: Callable[[Memory], Row],
) -> list[Row]:
    missing = [id_ for id_ in ids if id_ not in cache]
    if not missing:
        return [cache[id_] for id_ in sorted(ids)]
    new = {memory.id: make_row(memory) for memory in read(missing)}
    rows = [new.get(id_) or cache[id_] for id_ in sorted(ids) if id_ in new or id_ in cache]
    _keep(cache, new.values())
    return rows


def _keep(cache: dict[int, Row], rows: Iterable[Row]) -> None:
    """Add rows to a cache, unless they are long; the oldest ones make room."""
    cache.update((row.id, row) for row in rows if len(row.text) <= MAX_TEXT_CHARS)
    while len(cache) > MAX_ROWS:
        del cache[next(iter(cache))]
