"""Invariants of a store that hold after any crash."""

from __future__ import annotations

from collections import Counter

import numpy as np
from tests.factories import replay_journal

from thinkback.index.lsh import assign_groups
from thinkback.protocols import Store
from thinkback.types import VersionStamp


def assert_invariants(store: Store) -> None:
    assert store.check() == []
    for space in store.users():
        _assert_journal_matches_thoughts(store, space)
        _assert_groups_match_hashing(store, space)


def count_turns_thought_twice(store: Store) -> int:
    """Number of turns whose thoughts were inserted more than once."""
    return sum(
        count > 1
        for space in store.users()
        for count in Counter(a.turn for a in store.journal(space) if a.action == "insert").values()
    )


def _assert_journal_matches_thoughts(store: Store, space: str) -> None:
    actions = store.journal(space)
    assert replay_journal(actions) == store.thoughts(space, current=False)
    ids = [turn.id for turn in store.turns(space)]
    assert ids == list(range(1, len(ids) + 1))
    thought_over = {turn.id for turn in store.turns(space) if turn.thought_at is not None}
    assert {action.turn for action in actions if action.turn is not None} == thought_over


def _assert_groups_match_hashing(store: Store, space: str) -> None:
    """All groups match the stored hashing; old and new groups are never mixed."""
    entries = store.delta(space, VersionStamp()).entries
    turns = {turn.id: turn.text for turn in store.turns(space)}
    thoughts = {thought.id for thought in store.thoughts(space, current=False)}
    waiting = {(item.kind, item.id) for item in store.unindexed(space, 1_000_000).items}
    known = {("turn", id_) for id_ in turns} | {("thought", id_) for id_ in thoughts}
    assert known == waiting | {(item.kind, item.id) for item in entries}
    if not entries:
        return
    found = np.array([item.group for item in entries])
    hashing = store.hashing(space)
    wanted = 0 if hashing is None else assign_groups(hashing, np.stack([item.vector for item in entries]))
    assert np.all(found == wanted)
