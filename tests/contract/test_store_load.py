"""Store contract: load, stats, check and close."""

from __future__ import annotations

import pytest
from tests.contract.conftest import NewStore
from tests.factories import (
    EMBEDDER,
    NOW,
    add_thought,
    append_turns,
    apply_operations,
    index_all,
    merge_operation,
    minute,
    new_turn,
    supersede_operation,
    thought_draft,
)

from thinkback.errors import Conflict, StoreError
from thinkback.protocols import Store


def lived_in(store: Store, space: str) -> None:
    """A space with every kind of action and an erasure."""
    for sentence in ("lives in Oslo", "tea", "green tea", "erased later"):
        add_thought(store, space, sentence)
    append_turns(store, space, "Rome", "teas")
    apply_operations(store, space, supersede_operation(thought_draft("lives in Rome", 5), 1))
    apply_operations(store, space, merge_operation(thought_draft("tea, green tea", 2, 3), 2, 3))
    store.retire(space, 5, "wrong", "ann", minute(1))
    store.undo(space, 7, "ann", minute(2))
    store.erase(space, turn=4, now=minute(3))
    store.append(space, [new_turn("pending", key="k")], minute(4))


def test_load_reproduces_an_exported_space(new_store: NewStore) -> None:
    source, target = new_store(), new_store()
    source.bind_embedder(EMBEDDER)
    target.bind_embedder(EMBEDDER)
    lived_in(source, "ann")
    target.load("eve", source.turns("ann"), source.journal("ann"), source.entities("ann"))
    assert target.turns("eve") == source.turns("ann")
    assert target.journal("eve") == source.journal("ann")
    assert target.entities("eve") == source.entities("ann")
    assert target.thoughts("eve", current=False) == source.thoughts("ann", current=False)
    assert target.pending("eve") == source.pending("ann") == 1


def test_loaded_space_can_be_changed(new_store: NewStore) -> None:
    source, target = new_store(), new_store()
    source.bind_embedder(EMBEDDER)
    target.bind_embedder(EMBEDDER)
    lived_in(source, "ann")
    target.load("ann", source.turns("ann"), source.journal("ann"), source.entities("ann"))
    turns, thoughts = len(source.turns("ann")), len(source.thoughts("ann", current=False))
    assert len(target.unindexed("ann", 100).items) == turns + thoughts
    index_all(target, "ann")
    assert target.unindexed("ann", 100).items == []
    apply_operations(target, "ann")
    turn, thought = add_thought(target, "ann", "figs")
    assert turn.id == source.turns("ann")[-1].id + 1
    assert thought.id == source.thoughts("ann", current=False)[-1].id + 1
    assert target.journal("ann")[-1].id == source.journal("ann")[-1].id + 1
    target.undo("ann", 8, "ann", NOW)
    assert target.thoughts("ann", ids=[5])[0].current != source.thoughts("ann", ids=[5])[0].current
    assert target.append("ann", [new_turn("pending", key="k")], NOW)[0].id == source.turns("ann")[-1].id


def test_thought_added_before_indexing_of_a_loaded_space_is_indexed(new_store: NewStore) -> None:
    source, target = new_store(), new_store()
    source.bind_embedder(EMBEDDER)
    target.bind_embedder(EMBEDDER)
    add_thought(source, "ann", "a")
    target.load("ann", source.turns("ann"), source.journal("ann"), source.entities("ann"))
    add_thought(target, "ann", "b")
    index_all(target, "ann")
    found = {(item.kind, item.id) for item in target.delta("ann", target.stamp("nobody")).entries}
    assert found == {("turn", 1), ("turn", 2), ("thought", 1), ("thought", 2)}


def test_loading_into_an_existing_space_is_rejected(store: Store) -> None:
    add_thought(store, "ann", "a")
    with pytest.raises(Conflict, match="'ann' already has memories"):
        store.load("ann", [], [], [])
    assert len(store.turns("ann")) == 1


def test_failed_load_is_rolled_back(store: Store) -> None:
    turns = append_turns(store, "ann", "a")
    with pytest.raises(StoreError):
        store.load("eve", [*turns, *turns], [], [])
    assert store.users() == ["ann"]


def test_stats_count_one_space(store: Store) -> None:
    lived_in(store, "ann")
    add_thought(store, "bob", "b")
    claimed = store.claim("ann", 1, 60, minute(9))[0]
    store.release("ann", claimed.turn.id, claimed.lease, reason="no", retry_at=None)
    append_turns(store, "ann", "x", "y")
    stats = store.stats("ann")
    assert (stats.user, stats.embedder) == ("ann", EMBEDDER)
    assert (stats.turns, stats.pending, stats.failed) == (len(store.turns("ann")), 2, 1)
    assert stats.thoughts == len(store.thoughts("ann"))
    assert stats.thoughts + stats.retired == len(store.thoughts("ann", current=False))
    assert (stats.entities, stats.actions) == (len(store.entities("ann")), len(store.journal("ann")))
    assert (stats.groups, stats.largest_group) == (1, stats.thoughts)


def test_stats_of_an_unknown_user_are_zeros(new_store: NewStore) -> None:
    stats = new_store().stats("nobody")
    assert (stats.turns, stats.thoughts, stats.groups, stats.largest_group) == (0, 0, 0, 0)
    assert stats.embedder == ""


def test_a_healthy_store_has_no_problems(store: Store) -> None:
    lived_in(store, "ann")
    assert store.check() == []


def test_closing_twice_is_harmless_and_using_a_closed_store_is_an_error(new_store: NewStore) -> None:
    store = new_store()
    store.close()
    store.close()
    with pytest.raises(StoreError):
        store.users()
    with pytest.raises(StoreError):
        append_turns(store, "ann", "a")
