"""What was read of a space's rows, kept until a delta tells that they changed: recalls read the same again.

A delta names every thought that an action touched, a new epoch comes with every erasure, and of a turn only
`thought_at` ever changes in between: so nothing here outlives what it was read from. It belongs to one view
of one space, is used under that view's lock, and goes with it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from thinkback.types import IndexDelta, Thought, Turn

MAX_ROWS = 2048  # rows of a kind; what was read first goes first
MAX_TEXT_CHARS = 4096  # characters; a longer text is read again

_MAX_MEMO_ENTRIES = 8 * MAX_ROWS
_ROW_BYTES, _MEMO_ENTRY_BYTES = 2048, 512  # about what one takes: a row with its texts, what was read of one

Read = TypeVar("Read", Thought, Turn)
Value = TypeVar("Value")


class RowCache:
    """Rows by id; and what a reader concluded from them, which it alone knows the form of."""

    def __init__(self) -> None:
        self._thoughts: dict[int, Thought] = {}
        self._turns: dict[int, Turn] = {}
        self.lifecycles: dict[int, Any] = {}  # by thought: how it ended, as its journal tells
        self.entity_graph: Any = None  # who is who, as all thoughts tell
        self._memo: dict[tuple[Callable[[str], Any], str], Any] = {}

    @property
    def nbytes(self) -> int:
        """About how much memory it takes."""
        rows = len(self._thoughts) + len(self._turns) + len(self.lifecycles)
        return rows * _ROW_BYTES + len(self._memo) * _MEMO_ENTRY_BYTES

    def invalidate(self, delta: IndexDelta) -> None:
        """Let go of whatever a change of the space may have changed."""
        touched = [period.id for period in delta.periods if period.kind == "thought"]
        for id_ in touched:
            self._thoughts.pop(id_, None)
            self.lifecycles.pop(id_, None)
        if touched:
            self.entity_graph = None
        for id_ in [turn.id for turn in self._turns.values() if turn.thought_at is None]:
            del self._turns[id_]

    def thoughts(
        self, ids: Sequence[int], read: Callable[[Sequence[int]], Sequence[Thought]]
    ) -> list[Thought]:
        """The thoughts of these ids, in their order by number; `read` gives those that are not here."""
        return _read_through(self._thoughts, ids, read)

    def turns(self, ids: Sequence[int], read: Callable[[Sequence[int]], Sequence[Turn]]) -> list[Turn]:
        return _read_through(self._turns, ids, read)

    def memoise(self, function: Callable[[str], Value], text: str) -> Value:
        """What a function of the text alone makes of a text of this space."""
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
    cache: dict[int, Read], ids: Sequence[int], read: Callable[[Sequence[int]], Sequence[Read]]
) -> list[Read]:
    missing = [id_ for id_ in ids if id_ not in cache]
    if not missing:
        return [cache[id_] for id_ in sorted(ids) if id_ in cache]
    new = {each.id: each for each in read(missing)}
    found = [new.get(id_) or cache[id_] for id_ in sorted(ids) if id_ in new or id_ in cache]
    cache.update((id_, each) for id_, each in new.items() if len(_text(each)) <= MAX_TEXT_CHARS)
    while len(cache) > MAX_ROWS:
        del cache[next(iter(cache))]
    return found


def _text(row: Thought | Turn) -> str:
    return row.sentence if isinstance(row, Thought) else row.text
