"""Store contract: turns hidden by a journal action."""

from __future__ import annotations

import pytest
from tests.contract.conftest import NewStore
from tests.factories import (
    EMBEDDER,
    NOW,
    add_thought,
    append_turns,
    apply_operations,
    entries_for_plan,
    index_all,
    insert_operation,
    merge_operation,
    minute,
    replay_journal,
    sentences,
    supersede_operation,
    thought_draft,
)

from thinkback.errors import Conflict, LeaseLost, NotFound
from thinkback.history import hidden_turns
from thinkback.protocols import Store
from thinkback.types import USER_ACTOR, Action, Plan, Summary, SummaryUpdate, VersionStamp


def hide(store: Store, *turns: int, cause: int | None = None, thoughts: tuple[int, ...] = ()) -> Action:
    return store.forget(
        "ann", turns=turns, thoughts=thoughts, reason="private", actor=USER_ACTOR, now=minute(5), cause=cause
    )


def visible(store: Store) -> list[int]:
    return [turn.id for turn in store.turns("ann")]


def retired_turns(store: Store) -> set[int]:
    periods = store.delta("ann", VersionStamp()).periods
    return {period.id for period in periods if period.kind == "turn" and period.retired_at is not None}


def test_hidden_turn_is_neither_listed_nor_thought_about(store: Store) -> None:
    append_turns(store, "ann", "a", "b", "c")
    action = hide(store, 2)
    assert (action.action, action.hides, action.after) == ("forget", (2,), ())
    assert visible(store) == [1, 3]
    assert [turn.hidden_by for turn in store.turns("ann", hidden=True)] == [None, action.id, None]
    assert [turn.hidden for turn in store.turns("ann", ids=[2])] == [True]
    assert [turn.id for turn in store.turns("ann", session="default", newest=True, limit=2)] == [1, 3]
    assert store.pending("ann") == store.stats("ann").pending == 2
    assert [claim.turn.id for claim in store.claim("ann", 9, 60, NOW)] == [1, 3]


def test_hidden_turn_is_retired_in_the_index(store: Store) -> None:
    append_turns(store, "ann", "a", "b")
    index_all(store, "ann")
    before = store.stamp("ann")
    action = hide(store, 1)
    (period,) = store.delta("ann", before).periods
    assert (period.kind, period.id, period.retired_at) == ("turn", 1, minute(5))
    assert period.valid_from == period.valid_to
    append_turns(store, "ann", "c")
    later = hide(store, 3)  # before it is indexed
    index_all(store, "ann")
    assert retired_turns(store) == {1, 3}
    store.undo("ann", action.id, "ann", minute(6))
    store.undo("ann", later.id, "ann", minute(6))
    assert retired_turns(store) == set()


def test_hiding_takes_back_what_the_turn_changed(store: Store) -> None:
    add_thought(store, "ann", "lives in Lyon")
    held = store.thoughts("ann")
    append_turns(store, "ann", "Oslo", "tea")
    apply_operations(
        store,
        "ann",
        supersede_operation(thought_draft("lives in Oslo", 2), 1),
        insert_operation(thought_draft("likes snow", 2)),
    )
    apply_operations(store, "ann", merge_operation(thought_draft("likes snow, tea", 2, 3), 3))
    action = hide(store, 2, cause=3)
    # "likes snow" was merged into a thought of turn 3, which stays.
    assert sentences(store.thoughts("ann")) == ["lives in Lyon", "likes snow, tea"]
    assert store.thoughts("ann")[:1] == held
    assert action.turn == 3
    assert replay_journal(store.journal("ann")) == store.thoughts("ann", current=False)
    hide(store, 3)
    assert store.thoughts("ann") == held


def test_thought_of_two_turns_goes_with_the_last_of_them(store: Store) -> None:
    append_turns(store, "ann", "a", "b")
    apply_operations(store, "ann")
    apply_operations(store, "ann")
    draft = thought_draft("fact", 1, 2)
    plan = Plan(turn=None, lease="", actor="tester", operations=(insert_operation(draft),), cause=2)
    (made,) = store.apply("ann", plan, entries_for_plan(plan), NOW)
    assert made.turn == 2
    hide(store, 1)
    assert sentences(store.thoughts("ann")) == ["fact"]
    hide(store, 2)
    assert store.thoughts("ann") == []


def test_undo_and_redo(store: Store) -> None:
    add_thought(store, "ann", "a")
    append_turns(store, "ann", "b")
    held = store.thoughts("ann")
    action = hide(store, 1, 2)
    assert (store.thoughts("ann"), visible(store), store.pending("ann")) == ([], [], 0)
    undo = store.undo("ann", action.id, "ann", minute(6))
    assert (store.thoughts("ann"), visible(store), store.pending("ann")) == (held, [1, 2], 1)
    store.undo("ann", undo.id, "ann", minute(7))
    assert (store.thoughts("ann"), visible(store)) == ([], [])
    assert hidden_turns(store.journal("ann")) == {1: action.id, 2: action.id}
    assert hidden_turns(store.journal("ann"), minute(6)) == {}
    assert hidden_turns(store.journal("ann"), minute(5)) == {1: action.id, 2: action.id}


def test_redo_is_refused_while_another_action_hides_the_turn(store: Store) -> None:
    append_turns(store, "ann", "a")
    first = hide(store, 1)
    undo = store.undo("ann", first.id, "ann", minute(6))
    hide(store, 1)
    with pytest.raises(Conflict, match="turn:1 is already hidden: undo action:3 first"):
        store.undo("ann", undo.id, "ann", minute(7))
    assert [action.id for action in store.journal("ann")] == [1, 2, 3]


def test_unknown_and_hidden_turns_are_refused(store: Store) -> None:
    append_turns(store, "ann", "a")
    with pytest.raises(NotFound, match="turn:7"):
        hide(store, 1, 7)
    assert (visible(store), store.journal("ann")) == ([1], [])
    hide(store, 1)
    with pytest.raises(Conflict, match="already hidden: undo action:1 first"):
        hide(store, 1)


def test_turn_hidden_while_it_is_thought_about(store: Store) -> None:
    append_turns(store, "ann", "a", "b")
    claim, _ = store.claim("ann", 2, 60, NOW)
    hide(store, 1)
    plan = Plan(
        turn=1, lease=claim.lease, actor="t", operations=(insert_operation(thought_draft("fact", 1)),)
    )
    with pytest.raises(LeaseLost, match="hidden"):
        store.apply("ann", plan, entries_for_plan(plan), NOW)
    assert store.thoughts("ann") == []


def test_summary_that_covers_a_hidden_turn_is_made_again(store: Store) -> None:
    append_turns(store, "ann", "a", "b", session="s")
    summary = Summary(session="s", version=1, turn=1, facts=("a",))
    update = SummaryUpdate(session="s", version=1, turn=1, actor="rules", at=NOW)
    store.save_summary("ann", summary, update, Summary(session="s"))
    hide(store, 2)
    assert store.summary("ann", "s") == summary
    assert store.summaries_behind("ann") == []
    hide(store, 1)
    assert (store.summary("ann", "s"), store.summary_updates("ann", "s")) == (None, [])


def test_erasing_the_request_shows_the_turn_again(store: Store) -> None:
    add_thought(store, "ann", "a")
    append_turns(store, "ann", "forget that")
    hide(store, 1, 2, cause=2)
    store.erase("ann", turn=2, now=NOW)
    assert (visible(store), sentences(store.thoughts("ann"))) == ([1], ["a"])


def test_erasing_a_hidden_turn_leaves_the_rest_of_the_action(store: Store) -> None:
    append_turns(store, "ann", "a", "b", "c")
    action = hide(store, 1, 2)
    undo = store.undo("ann", action.id, "ann", minute(6))
    store.undo("ann", undo.id, "ann", minute(7))
    store.erase("ann", turn=1, now=NOW)
    kept, *undos = store.journal("ann")
    assert (kept.hides, len(undos)) == ((2,), 2)
    assert "private" not in kept.reason
    assert visible(store) == [3]
    store.erase("ann", turn=2, now=NOW)
    assert (store.journal("ann"), visible(store)) == ([], [3])


def test_load_hides_by_the_journal(new_store: NewStore) -> None:
    source, target = new_store(), new_store()
    for store in (source, target):
        store.bind_embedder(EMBEDDER)
    append_turns(source, "ann", "a", "b", "c")
    action = hide(source, 1, 2)
    undone = hide(source, 3)
    source.undo("ann", undone.id, "ann", minute(6))
    turns = source.turns("ann", hidden=True)
    target.load("ann", turns, source.journal("ann"), source.entities("ann"))
    assert target.turns("ann", hidden=True) == turns
    assert (visible(target), target.pending("ann")) == ([3], 1)
    target.undo("ann", action.id, "ann", minute(7))
    assert visible(target) == [1, 2, 3]
