"""What was read of a space's rows, kept until a delta tells that they changed: recalls read the same again.

A delta names every thought that an action touched, a new epoch comes with every erasure, and of a turn only
`thought_at` ever changes in between: so nothing here outlives what it was read from. It belongs to one view
of one space, is used under that view's lock, and goes with it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from thinkback.types import Delta, Thought, Turn

MOST = 2048  # rows of a kind; what was read first goes first
LONG = 4096  # characters; a longer text is read again

_READINGS = 8 * MOST
_ROW_BYTES, _READING_BYTES = 2048, 512  # about what one takes: a row with its texts, what was read of one

Read = TypeVar("Read", Thought, Turn)
Value = TypeVar("Value")


class Kept:
    """Rows by id; and what a reader concluded from them, which it alone knows the form of."""

    def __init__(self) -> None:
        self._thoughts: dict[int, Thought] = {}
        self._turns: dict[int, Turn] = {}
        self.ends: dict[int, Any] = {}  # by thought: how it ended, as its journal tells
        self.who: Any = None  # who is who, as all thoughts tell
        self._readings: dict[tuple[Callable[[str], Any], str], Any] = {}

    @property
    def nbytes(self) -> int:
        """About how much memory it takes."""
        rows = len(self._thoughts) + len(self._turns) + len(self.ends)
        return rows * _ROW_BYTES + len(self._readings) * _READING_BYTES

    def follow(self, delta: Delta) -> None:
        """Let go of whatever a change of the space may have changed."""
        touched = [period.id for period in delta.periods if period.kind == "thought"]
        for id_ in touched:
            self._thoughts.pop(id_, None)
            self.ends.pop(id_, None)
        if touched:
            self.who = None
        for id_ in [turn.id for turn in self._turns.values() if turn.thought_at is None]:
            del self._turns[id_]

    def thoughts(
        self, ids: Sequence[int], read: Callable[[Sequence[int]], Sequence[Thought]]
    ) -> list[Thought]:
        """The thoughts of these ids, in their order by number; `read` gives those that are not here."""
        return _found(self._thoughts, ids, read)

    def turns(self, ids: Sequence[int], read: Callable[[Sequence[int]], Sequence[Turn]]) -> list[Turn]:
        return _found(self._turns, ids, read)

    def reading(self, function: Callable[[str], Value], text: str) -> Value:
        """What a function of the text alone makes of a text of this space."""
        if len(text) > LONG:
            return function(text)
        key = function, text
        if key not in self._readings:
            if len(self._readings) >= _READINGS:
                self._readings.clear()
            self._readings[key] = function(text)
        value: Value = self._readings[key]
        return value


def _found(
    kept: dict[int, Read], ids: Sequence[int], read: Callable[[Sequence[int]], Sequence[Read]]
) -> list[Read]:
    missing = [id_ for id_ in ids if id_ not in kept]
    if not missing:
        return [kept[id_] for id_ in sorted(ids) if id_ in kept]
    new = {each.id: each for each in read(missing)}
    found = [new.get(id_) or kept[id_] for id_ in sorted(ids) if id_ in new or id_ in kept]
    kept.update((id_, each) for id_, each in new.items() if len(_text(each)) <= LONG)
    while len(kept) > MOST:
        del kept[next(iter(kept))]
    return found


def _text(row: Thought | Turn) -> str:
    return row.sentence if isinstance(row, Thought) else row.text
