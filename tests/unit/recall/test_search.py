"""The memory loader of a search reads each memory once."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from thinkback.recall.query import MemoryLoader
from thinkback.recall.rows import TurnRow
from thinkback.types import Turn

WHEN = datetime(2026, 5, 1, tzinfo=UTC)


def test_memory_is_read_once_per_query() -> None:
    asked: list[list[int]] = []

    def row(id_: int) -> TurnRow:
        return TurnRow(Turn(query=str(id_), at=WHEN, id=id_, recorded_at=WHEN))

    def turns(ids: Sequence[int]) -> list[TurnRow]:
        asked.append(list(ids))
        return [row(id_) for id_ in sorted(ids) if id_ != 4]

    lookup = MemoryLoader(thought_rows=lambda ids: [], turn_rows=turns, journal=lambda id_: []).load_once()
    assert [turn.id for turn in lookup.turns([3, 1])] == [1, 3]
    assert [turn.id for turn in lookup.turns([4, 3, 2])] == [2, 3]  # 4 was erased since
    assert [turn.id for turn in lookup.turns([2, 1])] == [1, 2]
    assert asked == [[3, 1], [4, 2]]
