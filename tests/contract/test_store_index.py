"""Store contract: index entries, version stamps, groups, re-embedding."""

from __future__ import annotations

import numpy as np
import pytest
from tests.contract.conftest import NewStore
from tests.factories import (
    DIM,
    EMBEDDER,
    NOW,
    add_thought,
    append_turns,
    apply_operations,
    index_all,
    index_entry,
    insert_operation,
    minute,
    new_turn,
    text_vector,
    thought_draft,
)

from thinkback.errors import ConcurrentUpdate, Conflict, EmbedderMismatch, NotFound, StoreError
from thinkback.protocols import Store
from thinkback.types import Hashing, IndexDelta, IndexEntry, VersionStamp

ALL = VersionStamp()


def numbers(delta: IndexDelta) -> list[tuple[str, int]]:
    return sorted((item.kind, item.id) for item in delta.entries)


def hashing(seed: int = 1, columns: int = 2, *, learned: bool = False) -> Hashing:
    matrix = np.random.default_rng(seed).standard_normal((DIM, columns)).astype(np.float32)
    return Hashing(matrix, seed, learned, 1, 10)


def test_new_turns_are_unindexed_in_sequence_until_their_entries_are_written(store: Store) -> None:
    store.append("ann", [new_turn("a", "b"), new_turn("c")], NOW)
    first, second = store.unindexed("ann", 10).items
    assert (first.kind, first.id, first.text, first.turn) == ("turn", 1, "a\nb", 1)
    assert second.text == "c"
    assert [item.id for item in store.unindexed("ann", 1).items] == [1]
    store.index("ann", [index_entry("turn", 1, first.text)])
    assert [item.id for item in store.unindexed("ann", 10).items] == [2]
    index_all(store, "ann")
    assert store.unindexed("ann", 10).items == []
    assert store.unindexed("nobody", 10).items == []


def test_entries_round_trip(store: Store) -> None:
    append_turns(store, "ann", "green tea")
    written = index_entry("turn", 1, "green tea", group=3)
    store.index("ann", [written])
    (read,) = store.delta("ann", ALL).entries
    assert (read.kind, read.id, read.group) == ("turn", 1, 3)
    np.testing.assert_array_equal(read.vector, written.vector)
    np.testing.assert_array_equal(read.terms, written.terms)


def test_an_entry_written_again_replaces_the_first(store: Store) -> None:
    append_turns(store, "ann", "a")
    store.index("ann", [index_entry("turn", 1, "a")])
    store.index("ann", [index_entry("turn", 1, "other", group=5)])
    (read,) = store.delta("ann", ALL).entries
    assert read.group == 5
    np.testing.assert_array_equal(read.vector, text_vector("other"))


def test_delta_contains_only_changes(store: Store) -> None:
    add_thought(store, "ann", "a")
    index_all(store, "ann")
    seen = store.delta("ann", ALL)
    assert numbers(seen) == [("thought", 1), ("turn", 1)]
    assert store.delta("ann", seen.stamp) == IndexDelta(seen.stamp)
    add_thought(store, "ann", "b")
    assert numbers(store.delta("ann", seen.stamp)) == [("thought", 2)]
    later = store.delta("ann", seen.stamp)
    store.retire("ann", 1, "wrong", "ann", minute(4))
    change = store.delta("ann", later.stamp)
    assert change.entries == ()
    (period,) = change.periods
    assert (period.id, period.kind, period.retired_at) == (1, "thought", minute(4))


def test_delta_contains_validity_periods(store: Store) -> None:
    add_thought(store, "ann", "a")
    index_all(store, "ann")
    thought, turn = sorted(store.delta("ann", ALL).periods, key=lambda period: period.kind)
    assert (turn.kind, turn.id, turn.turn, turn.valid_from, turn.valid_to) == ("turn", 1, 1, NOW, None)
    assert (thought.id, thought.turn, thought.valid_from, thought.retired_at) == (1, 1, NOW, None)


def test_unknown_spaces_have_an_empty_index(store: Store) -> None:
    assert store.stamp("nobody") == ALL
    assert store.delta("nobody", ALL) == IndexDelta(ALL)
    assert store.hashing("nobody") is None
    with pytest.raises(NotFound):
        store.index("nobody", [])
    with pytest.raises(NotFound):
        store.regroup("nobody", hashing(), {}, ALL)


def test_entry_of_an_erased_item_is_not_written(store: Store) -> None:
    append_turns(store, "ann", "secret", "b")
    found = store.unindexed("ann", 10).items
    store.erase("ann", turn=1, now=NOW)
    store.index("ann", [index_entry(item.kind, item.id, item.text) for item in found])
    assert numbers(store.delta("ann", ALL)) == [("turn", 2)]
    assert store.unindexed("ann", 10).items == []


def test_erasing_a_space_changes_the_epoch(store: Store) -> None:
    add_thought(store, "ann", "a")
    seen = store.stamp("ann")
    store.erase("ann", now=NOW)
    assert store.delta("ann", seen) == IndexDelta(ALL)
    add_thought(store, "ann", "b")
    assert store.stamp("ann").epoch != seen.epoch
    assert numbers(store.delta("ann", seen)) == [("thought", 1)]


def test_regroup_replaces_matrix_and_groups_together(store: Store) -> None:
    add_thought(store, "ann", "a")
    index_all(store, "ann")
    assert store.hashing("ann") is None
    seen = store.stamp("ann")
    new = hashing(seed=7, columns=3, learned=True)
    assert store.regroup("ann", new, {("turn", 1): 4, ("thought", 1): 5}, seen)
    kept = store.hashing("ann")
    assert kept is not None
    np.testing.assert_array_equal(kept.matrix, new.matrix)
    assert (kept.seed, kept.learned, kept.probes, kept.size, kept.groups) == (7, True, 1, 10, 6)
    delta = store.delta("ann", seen)
    assert delta.stamp.epoch != seen.epoch
    assert {(item.kind, item.group) for item in delta.entries} == {("turn", 4), ("thought", 5)}


def test_regroup_fails_if_the_space_has_changed(store: Store) -> None:
    add_thought(store, "ann", "a")
    seen = store.stamp("ann")
    add_thought(store, "ann", "b")
    assert not store.regroup("ann", hashing(), {("thought", 1): 3}, seen)
    assert store.hashing("ann") is None
    assert {item.group for item in store.delta("ann", ALL).entries} == {0}


def test_bind_embedder(new_store: NewStore) -> None:
    store = new_store()
    assert store.embedder() is None
    store.bind_embedder("first")
    store.bind_embedder("second")
    assert store.embedder() == "second"
    append_turns(store, "ann", "a")
    index_all(store, "ann")
    store.bind_embedder("second")
    with pytest.raises(EmbedderMismatch, match="'second', not 'third'"):
        store.bind_embedder("third")
    assert store.embedder() == "second"


def convert(store: Store, target: str, limit: int) -> int:
    found = store.reembed_next(target, limit)
    written = [(space, index_entry(item.kind, item.id, f"{target} {item.text}")) for space, item in found]
    store.reembed_write(target, written)
    return len(found)


def test_reembedding_converts_every_entry_and_can_be_stopped(store: Store) -> None:
    for space in ("ann", "bob"):
        add_thought(store, space, f"{space} likes tea")
        index_all(store, space)
    store.regroup("ann", hashing(), {("turn", 1): 3}, store.stamp("ann"))
    seen = store.stamp("ann")
    assert store.reembed_begin("new") == 4
    convert(store, "new", 3)
    with pytest.raises(EmbedderMismatch, match="being converted to the embedder 'new'"):
        store.bind_embedder(EMBEDDER)
    with pytest.raises(Conflict, match="1 entries are not converted"):
        store.reembed_finish("new")
    assert store.reembed_begin("new") == 1
    assert convert(store, "new", 3) == 1
    assert store.reembed_next("new", 3) == []
    store.reembed_finish("new")
    assert store.embedder() == "new"
    store.bind_embedder("new")
    assert store.hashing("ann") is None
    assert store.stamp("ann").epoch != seen.epoch
    for space in ("ann", "bob"):
        for item in store.delta(space, ALL).entries:
            np.testing.assert_array_equal(item.vector, text_vector(f"new {space} likes tea"))
            assert item.group == 0


def test_reembedding_returns_the_turn_of_a_thought(store: Store) -> None:
    append_turns(store, "ann", "one", "two")
    apply_operations(store, "ann")
    apply_operations(store, "ann", insert_operation(thought_draft("two", 2), thought_draft("from nowhere")))
    store.reembed_begin("new")
    found = [item for _, item in store.reembed_next("new", 10)]
    assert [(item.kind, item.id, item.text, item.turn) for item in found] == [
        ("thought", 1, "two", 2),
        ("thought", 2, "from nowhere", 0),
    ]


def test_entries_of_a_running_worker_are_converted_too(store: Store) -> None:
    add_thought(store, "ann", "a")
    store.reembed_begin("new")
    convert(store, "new", 10)
    add_thought(store, "ann", "b")
    with pytest.raises(Conflict):
        store.reembed_finish("new")
    convert(store, "new", 10)
    store.reembed_finish("new")
    assert len(store.delta("ann", ALL).entries) == 2


def test_a_turn_without_thoughts_needs_no_embedder(new_store: NewStore) -> None:
    store = new_store()
    append_turns(store, "ann", "a", "b")
    apply_operations(store, "ann")
    with pytest.raises(StoreError, match="embedder"):
        apply_operations(store, "ann", insert_operation(thought_draft("b", 2)))
    assert (store.pending("ann"), store.thoughts("ann")) == (1, [])


def test_vectors_are_stored_as_float32(store: Store) -> None:
    append_turns(store, "ann", "a")
    wide = np.linspace(0, 1, DIM, dtype=np.float64)
    store.index("ann", [IndexEntry("turn", 1, wide.astype(np.float32)[::-1], np.array([], dtype=np.uint32))])
    (read,) = store.delta("ann", ALL).entries
    np.testing.assert_array_equal(read.vector, wide.astype(np.float32)[::-1])
    assert read.terms.size == 0


def test_one_entry_of_a_known_epoch(new_store: NewStore) -> None:
    store = new_store()
    store.bind_embedder(EMBEDDER)
    append_turns(store, "ann", "tea", "coffee")
    (tea, coffee), seen = store.unindexed("ann", 10)
    written = store.index("ann", [index_entry("turn", tea.id, "tea")], seen.epoch)
    assert written.follows(seen)
    assert written.has_unindexed
    assert [item.id for item in store.unindexed("ann", 10).items] == [coffee.id]
    assert store.delta("ann", ALL).stamp == written == store.stamp("ann")
    assert [item.id for item in store.delta("ann", ALL).entries] == [tea.id]
    assert not store.index("ann", [index_entry("turn", coffee.id, "coffee")], seen.epoch).has_unindexed


def test_an_entry_of_an_old_epoch_is_refused(new_store: NewStore) -> None:
    store = new_store()
    store.bind_embedder(EMBEDDER)
    append_turns(store, "ann", "tea")
    seen = store.stamp("ann")
    assert store.regroup("ann", hashing(), {}, seen)
    with pytest.raises(ConcurrentUpdate):
        store.index("ann", [index_entry("turn", 1, "tea")], seen.epoch)
    assert [item.id for item in store.unindexed("ann", 10).items] == [1]


def test_an_entry_of_an_erased_turn_is_left_out(new_store: NewStore) -> None:
    store = new_store()
    store.bind_embedder(EMBEDDER)
    append_turns(store, "ann", "tea", "coffee")
    store.erase("ann", turn=2, now=NOW)
    stamp = store.stamp("ann")
    assert store.index("ann", [index_entry("turn", 2, "coffee")], stamp.epoch).follows(stamp)
    assert not store.delta("ann", ALL).entries
