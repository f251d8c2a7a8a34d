"""The memory loader of a search reads each memory once."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from thinkback.recall.query import MemoryLoader
from thinkback.types import Turn

WHEN = datetime(2026, 5, 1, tzinfo=UTC)


def test_memory_is_read_once_per_query() -> None:
    asked: list[list[int]] = []

    def turns(ids: Sequence[int]) -> list[Turn]:
        asked.append(list(ids))
        return [Turn(query=str(id_), at=WHEN, id=id_, recorded_at=WHEN) for id_ in sorted(ids) if id_ != 4]

    lookup = MemoryLoader(thoughts=lambda ids: [], turns=turns, journal=lambda id_: []).load_once()
    assert [turn.id for turn in lookup.turns([3, 1])] == [1, 3]
    assert [turn.id for turn in lookup.turns([4, 3, 2])] == [2, 3]  # 4 was erased since
    assert [turn.id for turn in lookup.turns([2, 1])] == [1, 2]
    assert asked == [[3, 1], [4, 2]]
