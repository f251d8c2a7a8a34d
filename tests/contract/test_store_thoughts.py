"""Store contract: thoughts, entities, journal and undo."""

from __future__ import annotations

import re

import pytest
from tests.factories import (
    NOW,
    add_thought,
    append_turns,
    apply_operations,
    end_operation,
    forget_operation,
    insert_operation,
    merge_operation,
    minute,
    replay_journal,
    sentences,
    supersede_operation,
    thought_draft,
)

from thinkback.errors import Conflict, NotFound
from thinkback.protocols import Store
from thinkback.types import Hashing, NewTurn


def everything(store: Store) -> list[object]:
    return [store.thoughts("ann", current=False), store.journal("ann"), store.entities("ann")]


def test_valid_from_defaults_to_the_time_of_the_turn(store: Store) -> None:
    append_turns(store, "ann", "I moved in March and like tea")
    apply_operations(
        store,
        "ann",
        insert_operation(thought_draft("moved", 1, valid_from=minute(-999)), thought_draft("tea", 1)),
        now=minute(7),
    )
    moved, tea = store.thoughts("ann")
    assert (moved.valid_from, tea.valid_from) == (minute(-999), NOW)
    assert moved.recorded_at == tea.recorded_at == minute(7)


def test_thought_keeps_the_fields_of_its_draft(store: Store) -> None:
    append_turns(store, "ann", "x")
    told = thought_draft("她喜欢 🍵", 1, subject="Ann", relation="likes")
    apply_operations(store, "ann", insert_operation(told))
    (thought,) = store.thoughts("ann")
    assert (thought.subject, thought.relation, thought.objects) == ("Ann", "likes", told.objects)
    assert (thought.sentence, thought.kind, thought.sources) == (told.sentence, told.kind, told.sources)
    assert thought.current


def test_thoughts_by_filter(store: Store) -> None:
    for n in range(4):
        append_turns(store, "ann", "x")
        relation = "likes" if n % 2 else "owns"
        apply_operations(store, "ann", insert_operation(thought_draft(f"s{n}", n + 1, relation=relation)))
    store.retire("ann", 2, "wrong", "tester", NOW)
    assert sentences(store.thoughts("ann")) == ["s0", "s2", "s3"]
    assert sentences(store.thoughts("ann", current=False)) == ["s0", "s1", "s2", "s3"]
    assert sentences(store.thoughts("ann", relation="likes")) == ["s3"]
    assert sentences(store.thoughts("ann", after=1, limit=1)) == ["s2"]
    assert sentences(store.thoughts("ann", ids=[4, 1, 99])) == ["s0", "s3"]
    assert store.thoughts("ann", ids=[]) == []
    assert store.thoughts("nobody") == []


def test_a_subject_is_found_by_any_spelling(store: Store) -> None:
    for n, subject in enumerate(("Anna Lee", " anna  LEE.", "Bob", "ＡＮＮＡ lee")):
        append_turns(store, "ann", "x")
        apply_operations(
            store,
            "ann",
            insert_operation(thought_draft(f"s{n}", n + 1, subject=subject, relation=f"r{n % 2}")),
        )
    assert sentences(store.thoughts("ann", subject="ANNA LEE")) == ["s0", "s1", "s3"]
    assert sentences(store.thoughts("ann", subject="anna lee", relation="r1")) == ["s1", "s3"]
    assert sentences(store.thoughts("ann", subject="anna lee", after=1, limit=1)) == ["s1"]
    assert store.thoughts("ann", subject="carol") == []
    store.retire("ann", 1, "wrong", "tester", NOW)
    assert sentences(store.thoughts("ann", subject="anna lee", current=False)) == ["s0", "s1", "s3"]
    assert sentences(store.thoughts("ann", subject="anna lee")) == ["s1", "s3"]
    assert [(entity.id, entity.name) for entity in store.entities("ann")] == [(1, "Anna Lee"), (2, "Bob")]
    assert [len(entity.aliases) for entity in store.entities("ann")] == [1, 1]
    assert store.entities("nobody") == []


def test_thoughts_of_one_group(store: Store) -> None:
    for sentence in ("a", "b", "c"):
        add_thought(store, "ann", sentence)
    delta = store.delta("ann", store.stamp("nobody"))
    hashing = Hashing(delta.entries[0].vector.reshape(-1, 1), 1, False, 1, 3)
    groups = {(item.kind, item.id): int(item.id > 1) for item in delta.entries}
    assert store.regroup("ann", hashing, groups, delta.stamp)
    assert sentences(store.thoughts("ann", group=1)) == ["b", "c"]
    assert sentences(store.thoughts("ann", group=0)) == ["a"]
    assert store.thoughts("ann", group=5) == []


def test_the_journal_by_filter(store: Store) -> None:
    add_thought(store, "ann", "a")
    add_thought(store, "ann", "b")
    store.retire("ann", 1, "wrong", "ann", minute(3))
    inserted_a, inserted_b, forgotten = store.journal("ann")
    assert (inserted_a.turn, inserted_b.turn, forgotten.turn) == (1, 2, None)
    assert (forgotten.action, forgotten.reason, forgotten.actor) == ("forget", "wrong", "ann")
    assert forgotten.at == minute(3)
    assert store.journal("ann", thought=1) == [inserted_a, forgotten]
    assert store.journal("ann", thought=1, after=1) == [forgotten]
    assert store.journal("ann", turn=2) == [inserted_b]
    assert store.journal("ann", ids=[3, 1]) == [inserted_a, forgotten]
    assert store.journal("ann", after=1, limit=1) == [inserted_b]
    assert store.journal("nobody") == []


def test_superseded_thought_is_valid_until_the_new_one(store: Store) -> None:
    add_thought(store, "ann", "lives in Oslo")
    append_turns(store, "ann", "I live in Rome since")
    (action,) = apply_operations(
        store,
        "ann",
        supersede_operation(thought_draft("lives in Rome", 2, valid_from=minute(50)), 1),
        now=minute(60),
    )
    old, new = store.thoughts("ann", current=False)
    assert (old.valid_from, old.valid_to, old.retired_at) == (NOW, minute(50), minute(60))
    assert (new.valid_from, new.valid_to, new.current) == (minute(50), None, True)
    assert action.before[0].current
    assert action.after == (old, new)


def test_a_period_never_ends_before_it_starts(store: Store) -> None:
    add_thought(store, "ann", "lives in Oslo")
    append_turns(store, "ann", "in fact always in Rome")
    apply_operations(
        store, "ann", supersede_operation(thought_draft("lives in Rome", 2, valid_from=minute(-99)), 1)
    )
    old, _ = store.thoughts("ann", current=False)
    assert old.valid_from == old.valid_to == NOW


def test_validity_of_merged_and_forgotten_thoughts(store: Store) -> None:
    for sentence in ("tea", "green tea", "figs"):
        add_thought(store, "ann", sentence)
    store.append("ann", [NewTurn(query="so", at=minute(30))], minute(30))
    apply_operations(
        store, "ann", merge_operation(thought_draft("tea, green tea", 1, 2), 1, 2), now=minute(31)
    )
    store.retire("ann", 3, "wrong", "ann", minute(31))
    tea, green, figs = store.thoughts("ann", ids=[1, 2, 3])
    assert (tea.valid_to, green.valid_to, figs.valid_to) == (minute(30), minute(30), figs.valid_from)
    assert {tea.retired_at, green.retired_at, figs.retired_at} == {minute(31)}
    assert sentences(store.thoughts("ann")) == ["tea, green tea"]


def test_ended_thought_was_valid_until_its_end(store: Store) -> None:
    add_thought(store, "ann", "has a dog")
    store.append("ann", [NewTurn(query="he died", at=minute(30))], minute(30))
    (action,) = apply_operations(store, "ann", end_operation(1, ended_at=minute(20)), now=minute(31))
    (dog,) = store.thoughts("ann", current=False)
    assert (action.action, action.after) == ("end", (dog,))
    assert (dog.valid_to, dog.retired_at) == (minute(20), minute(31))
    assert store.thoughts("ann") == []


@pytest.mark.parametrize("kind", ["insert", "supersede", "merge", "forget", "end", "retire"])
def test_undo_restores_the_state_before(store: Store, kind: str) -> None:
    add_thought(store, "ann", "a")
    add_thought(store, "ann", "b")
    held = store.thoughts("ann")
    append_turns(store, "ann", "c")
    if kind == "retire":
        action = store.retire("ann", 1, "wrong", "ann", NOW)
    else:
        new = thought_draft("c", 3)
        change = {
            "insert": insert_operation(new),
            "supersede": supersede_operation(new, 1),
            "merge": merge_operation(new, 1, 2),
            "forget": forget_operation(1, 2),
            "end": end_operation(1),
        }[kind]
        (action,) = apply_operations(store, "ann", change)
    undone = store.undo("ann", action.id, "ann", minute(9))
    assert store.thoughts("ann") == held
    assert (undone.action, undone.undoes, undone.actor, undone.at) == ("undo", action.id, "ann", minute(9))
    assert store.journal("ann", ids=[action.id])[0].undone_by == undone.id
    assert replay_journal(store.journal("ann")) == store.thoughts("ann", current=False)
    with pytest.raises(Conflict, match=f"action:{action.id} is already undone by action:{undone.id}"):
        store.undo("ann", action.id, "ann", NOW)


def test_undo_of_undo(store: Store) -> None:
    add_thought(store, "ann", "a")
    states = [store.thoughts("ann")]
    store.retire("ann", 1, "wrong", "ann", minute(1))
    states.append(store.thoughts("ann"))
    for n in range(4):
        store.undo("ann", 2 + n, "ann", minute(2 + n))
        assert store.thoughts("ann") == states[n % 2]
        # Every second action stands, counted from the newest.
        standing = [action.id for action in store.journal("ann", after=1) if action.undone_by is None]
        assert standing == [id_ for id_ in range(2, 4 + n) if (3 + n - id_) % 2 == 0]


def test_undo_out_of_order_names_what_to_undo_first(store: Store) -> None:
    add_thought(store, "ann", "lives in Oslo")
    append_turns(store, "ann", "Rome")
    apply_operations(store, "ann", supersede_operation(thought_draft("lives in Rome", 2), 1))
    before = everything(store)
    with pytest.raises(Conflict, match="thought:1 has changed since action:1: undo action:2 first"):
        store.undo("ann", 1, "ann", NOW)
    assert everything(store) == before
    store.undo("ann", 2, "ann", NOW)
    store.undo("ann", 1, "ann", NOW)
    assert store.thoughts("ann") == []


def test_undo_after_a_later_action_was_undone(store: Store) -> None:
    add_thought(store, "ann", "a")
    forgotten = store.retire("ann", 1, "wrong", "ann", NOW)
    store.undo("ann", forgotten.id, "ann", NOW)
    store.undo("ann", 1, "ann", NOW)
    assert store.thoughts("ann") == []


def test_undo_in_the_suggested_order_terminates(store: Store) -> None:
    add_thought(store, "ann", "a")
    append_turns(store, "ann", "b", "c")
    apply_operations(store, "ann", supersede_operation(thought_draft("b", 2), 1))
    apply_operations(store, "ann", supersede_operation(thought_draft("c", 3), 2))
    store.retire("ann", 3, "wrong", "ann", NOW)
    wanted, steps = [1], 0
    while wanted:
        steps += 1
        try:
            store.undo("ann", wanted[-1], "ann", NOW)
            wanted.pop()
        except Conflict as conflict:
            wanted.append(int(re.findall(r"undo action:(\d+) first", str(conflict))[0]))
        assert steps < 20
    assert store.thoughts("ann") == []


def test_unknown_ids_are_not_found(store: Store) -> None:
    add_thought(store, "ann", "a")
    with pytest.raises(NotFound, match="thought:7"):
        store.retire("ann", 7, "x", "ann", NOW)
    with pytest.raises(NotFound, match="action:7"):
        store.undo("ann", 7, "ann", NOW)
    with pytest.raises(NotFound, match="'nobody'"):
        store.retire("nobody", 1, "x", "ann", NOW)
    with pytest.raises(NotFound, match="'nobody'"):
        store.undo("nobody", 1, "ann", NOW)
    assert store.users() == ["ann"]


def test_a_retired_thought_is_not_retired_again(store: Store) -> None:
    add_thought(store, "ann", "a")
    store.retire("ann", 1, "wrong", "ann", minute(1))
    with pytest.raises(Conflict, match="thought:1 is already retired"):
        store.retire("ann", 1, "again", "ann", minute(2))
    assert len(store.journal("ann")) == 2
