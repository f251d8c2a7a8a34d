"""Store contract: erase removes everything derived and restores the rest."""

from __future__ import annotations

import numpy as np
import pytest
from tests.factories import (
    DIM,
    NOW,
    add_thought,
    append_turns,
    apply_operations,
    forget_operation,
    index_all,
    insert_operation,
    merge_operation,
    minute,
    new_turn,
    replay_journal,
    sentences,
    supersede_operation,
    thought_draft,
)

from thinkback.errors import NotFound
from thinkback.protocols import Store
from thinkback.types import Hashing, NewTurn, RecalledItem, VersionStamp


def consistent(store: Store) -> None:
    """Journal, thoughts and index agree, and the integrity check passes."""
    thoughts = store.thoughts("ann", current=False)
    assert replay_journal(store.journal("ann")) == thoughts
    known = {("turn", turn.id) for turn in store.turns("ann")} | {("thought", t.id) for t in thoughts}
    assert {(item.kind, item.id) for item in store.delta("ann", VersionStamp()).entries} <= known
    assert store.check() == []


def test_erasing_a_turn_erases_thoughts_actions_and_entries(store: Store) -> None:
    for sentence in ("a", "b", "c"):
        add_thought(store, "ann", sentence)
    index_all(store, "ann")
    seen = store.stamp("ann")
    erased = store.erase("ann", turn=2, now=NOW)
    assert (erased.turns, erased.thoughts, erased.actions, erased.requeued) == (1, 1, 1, 0)
    assert [turn.id for turn in store.turns("ann")] == [1, 3]
    assert sentences(store.thoughts("ann", current=False)) == ["a", "c"]
    assert [action.turn for action in store.journal("ann")] == [1, 3]
    delta = store.delta("ann", seen)
    assert delta.stamp.epoch != seen.epoch
    assert sorted((item.kind, item.id) for item in delta.entries) == [
        ("thought", 1),
        ("thought", 3),
        ("turn", 1),
        ("turn", 3),
    ]
    consistent(store)


def test_ids_are_not_reused(store: Store) -> None:
    add_thought(store, "ann", "a")
    add_thought(store, "ann", "b")
    store.erase("ann", turn=2, now=NOW)
    turn, thought = add_thought(store, "ann", "c")
    assert (turn.id, thought.id, store.journal("ann")[-1].id) == (3, 3, 3)


def test_erasing_a_session(store: Store) -> None:
    add_thought(store, "ann", "a", session="one")
    add_thought(store, "ann", "b", session="two")
    add_thought(store, "ann", "c", session="one")
    assert store.erase("ann", session="one", now=NOW).turns == 2
    assert store.sessions("ann") == ["two"]
    assert sentences(store.thoughts("ann", current=False)) == ["b"]
    consistent(store)


def test_erasing_a_space_leaves_others(store: Store) -> None:
    add_thought(store, "ann", "a")
    add_thought(store, "bob", "b")
    index_all(store, "ann")
    hashing = Hashing(np.ones((DIM, 2), np.float32), 1, False, 1, 2)
    store.regroup("ann", hashing, {}, store.stamp("ann"))
    erased = store.erase("ann", now=NOW)
    assert (erased.turns, erased.thoughts, erased.actions) == (1, 1, 1)
    assert store.users() == ["bob"]
    assert (store.turns("ann"), store.thoughts("ann", current=False), store.journal("ann")) == ([], [], [])
    assert (store.entities("ann"), store.hashing("ann"), store.stamp("ann")) == ([], None, VersionStamp())
    assert sentences(store.thoughts("bob")) == ["b"]
    turn, thought = add_thought(store, "ann", "new")
    assert (turn.id, thought.id) == (1, 1)


def test_thought_superseded_by_an_erased_one_becomes_current(store: Store) -> None:
    add_thought(store, "ann", "lives in Oslo")
    held = store.thoughts("ann")
    append_turns(store, "ann", "Rome")
    apply_operations(store, "ann", supersede_operation(thought_draft("lives in Rome", 2), 1))
    store.erase("ann", turn=2, now=NOW)
    assert store.thoughts("ann", current=False) == held
    consistent(store)


def test_thought_forgotten_by_an_erased_turn_becomes_current(store: Store) -> None:
    add_thought(store, "ann", "a")
    held = store.thoughts("ann")
    append_turns(store, "ann", "no")
    apply_operations(store, "ann", forget_operation(1, reason="ann said a secret"))
    for action in (2, 3):
        store.undo("ann", action, "ann", NOW)
    assert store.thoughts("ann") == []
    store.erase("ann", turn=2, now=NOW)
    assert store.thoughts("ann", current=False) == held
    assert [action.reason for action in store.journal("ann")] == ["new"]
    consistent(store)


def test_thought_that_superseded_an_erased_one_stays(store: Store) -> None:
    add_thought(store, "ann", "lives in Oslo")
    append_turns(store, "ann", "Rome")
    apply_operations(
        store, "ann", supersede_operation(thought_draft("lives in Rome", 2), 1, reason="Rome, no longer Oslo")
    )
    erased = store.erase("ann", turn=1, now=NOW)
    assert (erased.thoughts, erased.actions) == (1, 1)
    assert sentences(store.thoughts("ann")) == ["lives in Rome"]
    (action,) = store.journal("ann")
    assert (action.id, action.action, action.before, sentences(action.after)) == (
        2,
        "insert",
        (),
        ["lives in Rome"],
    )
    assert "Oslo" not in action.reason
    consistent(store)
    store.undo("ann", 2, "ann", NOW)
    assert store.thoughts("ann") == []


def test_thought_retired_by_a_surviving_one_stays_retired(store: Store) -> None:
    add_thought(store, "ann", "lives in Oslo")
    add_thought(store, "ann", "lives in Bonn")
    append_turns(store, "ann", "Rome")
    apply_operations(store, "ann", supersede_operation(thought_draft("lives in Rome", 3), 1, 2))
    store.erase("ann", turn=1, now=NOW)
    assert sentences(store.thoughts("ann")) == ["lives in Rome"]
    consistent(store)
    store.undo("ann", 3, "ann", NOW)
    assert sentences(store.thoughts("ann")) == ["lives in Bonn"]


def test_merged_thought_is_erased_and_other_turns_are_requeued(
    store: Store,
) -> None:
    add_thought(store, "ann", "tea")
    add_thought(store, "ann", "green tea")
    append_turns(store, "ann", "x")
    apply_operations(store, "ann", merge_operation(thought_draft("tea, green tea", 1, 2), 1, 2))
    erased = store.erase("ann", turn=1, now=NOW)
    assert (erased.turns, erased.thoughts, erased.requeued) == (1, 2, 1)
    assert sentences(store.thoughts("ann", current=False)) == ["green tea"]
    assert sentences(store.thoughts("ann")) == ["green tea"]
    assert [item.turn.id for item in store.claim("ann", 9, 60, minute(9))] == [2]
    consistent(store)


def test_merge_by_an_erased_turn_is_undone(store: Store) -> None:
    add_thought(store, "ann", "tea")
    add_thought(store, "ann", "green tea")
    held = store.thoughts("ann")
    append_turns(store, "ann", "x")
    apply_operations(store, "ann", merge_operation(thought_draft("tea, green tea", 1, 2), 1, 2))
    store.erase("ann", turn=3, now=NOW)
    assert store.thoughts("ann", current=False) == held
    consistent(store)


def test_a_thought_forgotten_later_by_hand_stays_forgotten(store: Store) -> None:
    add_thought(store, "ann", "lives in Oslo")
    append_turns(store, "ann", "Rome")
    apply_operations(store, "ann", supersede_operation(thought_draft("lives in Rome", 2), 1))
    store.undo("ann", 2, "ann", NOW)
    store.retire("ann", 1, "wrong", "ann", NOW)
    store.erase("ann", turn=2, now=NOW)
    assert store.thoughts("ann") == []
    consistent(store)


def test_action_on_erased_thoughts_only_is_deleted(store: Store) -> None:
    append_turns(store, "ann", "a", "b")
    apply_operations(store, "ann", insert_operation(thought_draft("a", 1)))
    apply_operations(store, "ann", forget_operation(1))
    erased = store.erase("ann", turn=1, now=NOW)
    assert erased.actions == 2
    assert store.journal("ann") == []
    consistent(store)


def test_turns_that_recalled_erased_memories_are_reported(store: Store) -> None:
    add_thought(store, "ann", "a")
    add_thought(store, "ann", "b")
    quoting = (
        RecalledItem("thought", 1, 1.0, 1.0, 0.0, 0),
        RecalledItem("turn", 1, 1.0, 1.0, 0.0, 0),
        RecalledItem("thought", 2, 1.0, 1.0, 0.0, 0),
    )
    for used in quoting:
        store.append("ann", [NewTurn(query="what?", response="that", at=NOW, recalled=(used,))], NOW)
    assert store.erase("ann", turn=1, now=NOW).quoted_in == (3, 4)
    assert store.erase("ann", turn=5, now=NOW).quoted_in == ()


def test_entities_without_thoughts_are_deleted(store: Store) -> None:
    append_turns(store, "ann", "x", "y")
    apply_operations(
        store,
        "ann",
        insert_operation(thought_draft("a", 1, subject="BOB"), thought_draft("b", 1, subject="Carol")),
    )
    apply_operations(store, "ann", insert_operation(thought_draft("c", 2, subject="Bob")))
    store.erase("ann", turn=1, now=NOW)
    assert [entity.name for entity in store.entities("ann")] == ["Bob"]
    assert sentences(store.thoughts("ann", subject="bob")) == ["c"]
    assert store.thoughts("ann", subject="carol") == []


@pytest.mark.parametrize("learned", [True, False])
def test_only_learned_hashing_is_deleted(store: Store, learned: bool) -> None:
    add_thought(store, "ann", "a")
    add_thought(store, "ann", "b")
    hashing = Hashing(np.ones((DIM, 2), np.float32), 1, learned, 1, 2)
    assert store.regroup("ann", hashing, {}, store.stamp("ann"))
    store.erase("ann", turn=1, now=NOW)
    assert (store.hashing("ann") is None) == learned


def test_pending_and_failed_turns_can_be_erased(store: Store) -> None:
    append_turns(store, "ann", "a", "b", "c")
    claimed = store.claim("ann", 1, 60, NOW)[0]
    store.release("ann", 1, claimed.lease, reason="no", retry_at=None)
    for turn in (1, 2):
        store.erase("ann", turn=turn, now=NOW)
    assert (store.failures("ann"), store.pending("ann")) == ([], 1)


def test_key_of_an_erased_turn_can_be_reused(store: Store) -> None:
    store.append("ann", [new_turn("a", key="k")], NOW)
    append_turns(store, "ann", "b")
    store.erase("ann", turn=1, now=NOW)
    (turn,) = store.append("ann", [new_turn("other", key="k")], NOW)
    assert turn.id == 3


def test_erasing_something_unknown_is_an_error(store: Store) -> None:
    with pytest.raises(NotFound, match="'ann'"):
        store.erase("ann", now=NOW)
    add_thought(store, "ann", "a")
    with pytest.raises(NotFound, match="turn:9"):
        store.erase("ann", turn=9, now=NOW)
    with pytest.raises(NotFound, match="session 'nowhere'"):
        store.erase("ann", session="nowhere", now=NOW)
    assert sentences(store.thoughts("ann")) == ["a"]
