"""Older values of a slot are marked as possibly outdated, and the newer one comes first."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np

from thinkback.index.space_index import Hits
from thinkback.recall.features import MemoryHit
from thinkback.recall.rows import ThoughtRow
from thinkback.recall.slots import find_slot_updates, newer_first
from thinkback.types import Kind, Source, Thought

_NONE = np.zeros(0, dtype=np.int64)
_SCORES = np.zeros(0)
HITS = Hits(
    _NONE, _NONE, _SCORES, _SCORES.astype(np.float32), _SCORES, _NONE, None, 0, True, 0, _NONE
)  # fmt: skip
QUESTION = "What hours do I work at the bakery?"


def hit(
    number: int, value: str, total: float, relation: str = "works from", kind: Kind = "profile"
) -> MemoryHit:
    said = datetime(2025, 1, 1, tzinfo=UTC) + timedelta(days=60 * number)
    thought = Thought(
        id=number,
        subject="user",
        relation=relation,
        objects=(value,),
        sentence=f"The user {relation} {value} at the bakery.",
        kind=kind,
        sources=(Source(number, "user", "query", 0, 1),),
        valid_from=said,
        recorded_at=said,
    )
    return MemoryHit(ThoughtRow(thought), total, 0.0, 0.0, 0, HITS)


def test_the_newest_value_replaces_all_older_ones() -> None:
    hits = [hit(1, "8 to 5", 0.9), hit(2, "6 to 2", 0.8), hit(3, "7 to 3", 0.3)]
    updates = find_slot_updates(hits, QUESTION)
    assert {old: update.newer.id for old, update in updates.items()} == {1: 3, 2: 3}
    ranked = newer_first(hits, updates)
    assert [each.memory.id for each in ranked] == [3, 1, 2]
    assert ranked[0].score.total == 0.9


def test_other_slots_same_values_and_relationships_are_left_alone() -> None:
    assert not find_slot_updates([hit(1, "8 to 5", 0.9), hit(2, "a van", 0.8, "drives")], QUESTION)
    assert not find_slot_updates([hit(1, "8 to 5", 0.9), hit(2, "8 to 5", 0.8)], QUESTION)
    people = [hit(1, "Ann", 0.9, "friend", "relationship"), hit(2, "Bob", 0.8, "friend", "relationship")]
    assert not find_slot_updates(people, QUESTION)
    assert newer_first(people, {}) == people
