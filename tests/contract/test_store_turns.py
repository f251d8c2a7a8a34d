"""Store contract: turns, keys and sessions."""

from __future__ import annotations

import pytest
from tests.factories import NOW, append_turns, apply_operations, minute, new_turn

from thinkback.errors import Conflict
from thinkback.protocols import Store
from thinkback.types import ConsistencyCheck, NewTurn, RecalledItem


def test_turns_are_numbered_in_sequence_from_one(store: Store) -> None:
    first = append_turns(store, "ann", "a", "b")
    second = append_turns(store, "ann", "c")
    assert [turn.id for turn in first + second] == [1, 2, 3]
    assert store.turns("ann") == first + second


def test_turn_round_trip(store: Store) -> None:
    said = NewTurn(
        query="Wo wohne ich? 我住哪儿？ 🏠",
        response="line\none\ttwo " + "x" * 1_000_000,
        at=minute(-3),
        session="visit 2",
        key="k-1",
        asker="Ann",
        answerer="helper",
        recalled=(RecalledItem("thought", 4, 0.5, 0.25, 1.5, 7), RecalledItem("turn", 2, 0.1, 0.0, 0.1, 0)),
        checks=(
            ConsistencyCheck(
                thought=4,
                way="embedding",
                words="你住在上海。",
                reason="nearer",
                score=0.9,
                threshold=0.7,
                draft=2,
                outcome="masked",
            ),
        ),
    )
    (returned,) = store.append("ann", [said], NOW)
    (kept,) = store.turns("ann")
    assert kept == returned
    assert (kept.query, kept.response, kept.at) == (said.query, said.response, said.at)
    assert (kept.session, kept.key, kept.asker, kept.answerer) == ("visit 2", "k-1", "Ann", "helper")
    assert (kept.recalled, kept.checks) == (said.recalled, said.checks)
    assert kept.recorded_at == NOW
    assert kept.thought_at is None


def test_key_used_before_returns_its_turn(store: Store) -> None:
    (first,) = store.append("ann", [new_turn("hello", "hi", key="k")], NOW)
    (again,) = store.append("ann", [new_turn("hello", "hi", key="k")], minute(5))
    assert again == first
    assert len(store.turns("ann")) == 1


def test_key_returns_its_turn_after_thinking(store: Store) -> None:
    store.append("ann", [new_turn("hello", key="k")], NOW)
    apply_operations(store, "ann", now=minute(1))
    (again,) = store.append("ann", [new_turn("hello", key="k")], minute(5))
    assert again.thought_at == minute(1)
    assert store.pending("ann") == 0


def test_key_with_another_text_is_a_conflict(store: Store) -> None:
    store.append("ann", [new_turn("hello", key="k")], NOW)
    with pytest.raises(Conflict, match=r"'k'.*turn:1"):
        store.append("ann", [new_turn("good bye", key="k")], NOW)
    assert [turn.query for turn in store.turns("ann")] == ["hello"]


def test_keys_within_one_batch(store: Store) -> None:
    first, other, again = store.append(
        "ann", [new_turn("a", key="k"), new_turn("b"), new_turn("a", key="k")], NOW
    )
    assert again == first
    assert store.turns("ann") == [first, other]


def test_batch_is_one_transaction(store: Store) -> None:
    with pytest.raises(Conflict):
        store.append("ann", [new_turn("a", key="k"), new_turn("b"), new_turn("other", key="k")], NOW)
    assert store.turns("ann") == []
    assert store.users() == []
    (turn,) = append_turns(store, "ann", "c")
    assert turn.id == 1


def test_the_same_key_of_two_users_makes_two_turns(store: Store) -> None:
    store.append("ann", [new_turn("a", key="k")], NOW)
    (bob,) = store.append("bob", [new_turn("b", key="k")], NOW)
    assert bob.query == "b"


def test_turns_without_a_key_may_repeat(store: Store) -> None:
    assert len(append_turns(store, "ann", "ok", "ok")) == len(store.turns("ann")) == 2


def test_turns_by_filter(store: Store) -> None:
    for n in range(6):
        append_turns(store, "ann", f"q{n}", session="even" if n % 2 == 0 else "odd")
    ids = [turn.id for turn in store.turns("ann", session="even")]
    assert ids == [1, 3, 5]
    assert [turn.id for turn in store.turns("ann", after=2, limit=2)] == [3, 4]
    assert [turn.id for turn in store.turns("ann", ids=[6, 2, 99, 2])] == [2, 6]
    assert store.turns("ann", ids=[]) == []
    assert store.turns("ann", limit=0) == []


def test_newest_turns_are_in_order(store: Store) -> None:
    for n in range(6):
        append_turns(store, "ann", f"q{n}", session="even" if n % 2 == 0 else "odd")
    assert [turn.id for turn in store.turns("ann", limit=2, newest=True)] == [5, 6]
    assert [turn.id for turn in store.turns("ann", session="odd", limit=2, newest=True)] == [4, 6]
    assert [turn.id for turn in store.turns("ann", newest=True)] == [1, 2, 3, 4, 5, 6]


def test_sessions_come_in_the_order_of_their_first_turn(store: Store) -> None:
    for session in ("z", "a", "z", "m", "a"):
        append_turns(store, "ann", "hello", session=session)
    assert store.sessions("ann") == ["z", "a", "m"]


def test_reading_an_unknown_user_does_not_create_it(store: Store) -> None:
    assert store.turns("nobody") == []
    assert store.sessions("nobody") == []
    assert store.append("nobody", [], NOW) == []
    assert store.users() == []


def test_users_are_those_with_memories(store: Store) -> None:
    append_turns(store, "zoe", "a")
    append_turns(store, "安娜", "b")
    append_turns(store, "ann", "c")
    assert sorted(store.users()) == sorted(["ann", "zoe", "安娜"])
