"""Store contract: session summaries and their updates."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.contract.conftest import NewStore
from tests.factories import EMBEDDER, NOW, append_turns, minute

from thinkback.errors import ConcurrentUpdate, NotFound
from thinkback.protocols import Store
from thinkback.types import ExcludedOption, Summary, SummaryEdit, SummaryUpdate

START = Summary(session="s")
FULL = Summary(
    session="s",
    version=1,
    turn=1,
    talk="medical",
    topic="头痛",
    conclusion="rest",
    needs=("sleep",),
    constraints=("no ibuprofen",),
    excluded=(ExcludedOption("ibuprofen", "allergic"), ExcludedOption("tea")),
    facts=("38.5 °C",),
    to_clarify=("since when?",),
    discussed=("the weather",),
)
EDITS = (
    SummaryEdit(field="needs", new="sleep"),
    SummaryEdit(field="excluded", old="tea", reason="raised again"),
)
UPDATE = SummaryUpdate(
    session="s", version=1, turn=1, actor="rules", at=minute(1), edits=EDITS, problem="none"
)


def test_summary_round_trip(store: Store) -> None:
    append_turns(store, "ann", "a", session="s")
    assert (store.summary("ann", "s"), store.summary_updates("ann", "s")) == (None, [])
    store.save_summary("ann", FULL, UPDATE, START)
    assert store.summary("ann", "s") == FULL
    assert store.summary_updates("ann", "s") == [UPDATE]
    assert store.summaries("ann") == [FULL]
    assert store.summary("bob", "s") is None
    assert (store.summaries("bob"), store.summaries_behind("bob")) == ([], [])


def test_save_summary_rejects_an_old_version(store: Store) -> None:
    append_turns(store, "ann", "a", "b", session="s")
    store.save_summary("ann", FULL, UPDATE, START)
    later = replace(FULL, version=2, turn=2)
    with pytest.raises(ConcurrentUpdate):
        store.save_summary("ann", later, replace(UPDATE, version=2), START)
    assert store.summary("ann", "s") == FULL
    store.save_summary("ann", later, replace(UPDATE, version=2), FULL)
    assert [update.version for update in store.summary_updates("ann", "s")] == [1, 2]


def test_a_turn_that_changes_nothing_is_counted_without_an_update(store: Store) -> None:
    append_turns(store, "ann", "a", "b", session="s")
    store.save_summary("ann", FULL, UPDATE, START)
    store.save_summary("ann", replace(FULL, turn=2), None, FULL)
    assert store.summary("ann", "s") == replace(FULL, turn=2)
    assert store.summary_updates("ann", "s") == [UPDATE]


def test_summaries_behind(store: Store) -> None:
    append_turns(store, "ann", "a", session="s")
    append_turns(store, "ann", "b", session="other")
    assert store.summaries_behind("ann") == []
    store.save_summary("ann", START, None, START)
    assert store.summaries_behind("ann") == ["s"]
    store.save_summary("ann", FULL, UPDATE, START)
    assert store.summaries_behind("ann") == []
    append_turns(store, "ann", "c", session="s")
    assert store.summaries_behind("ann") == ["s"]


def test_no_summary_of_an_unknown_user_or_of_an_erased_turn(store: Store) -> None:
    with pytest.raises(NotFound):
        store.save_summary("nobody", FULL, UPDATE, START)
    append_turns(store, "ann", "a", "b", session="s")
    store.erase("ann", turn=1, now=NOW)
    with pytest.raises(ConcurrentUpdate):
        store.save_summary("ann", FULL, UPDATE, START)


def test_summary_is_erased_with_a_turn_of_its_session(store: Store) -> None:
    for session in ("s", "t"):
        append_turns(store, "ann", "a", "b", session=session)
        turn = store.turns("ann", session=session)[0].id
        kept = replace(FULL, session=session, turn=turn)
        store.save_summary("ann", kept, replace(UPDATE, session=session), Summary(session=session))
    store.erase("ann", turn=store.turns("ann", session="s")[1].id, now=NOW)
    assert (store.summary("ann", "s"), store.summary_updates("ann", "s")) == (None, [])
    assert [summary.session for summary in store.summaries("ann")] == ["t"]
    store.erase("ann", session="t", now=NOW)
    assert (store.summaries("ann"), store.summary_updates("ann", "t")) == ([], [])


def test_summary_is_erased_with_its_user(store: Store) -> None:
    for user in ("ann", "bob"):
        append_turns(store, user, "a", session="s")
        store.save_summary(user, FULL, UPDATE, START)
    store.erase("ann", now=NOW)
    append_turns(store, "ann", "new", session="s")
    assert (store.summary("ann", "s"), store.summary_updates("ann", "s")) == (None, [])
    assert store.summary("bob", "s") == FULL


def test_summary_is_exported_and_loaded(new_store: NewStore) -> None:
    source, target = new_store(), new_store()
    for store in (source, target):
        store.bind_embedder(EMBEDDER)
    append_turns(source, "ann", "a", session="s")
    source.save_summary("ann", FULL, UPDATE, START)
    target.load(
        "eve", source.turns("ann"), [], [], source.summaries("ann"), source.summary_updates("ann", "s")
    )
    assert target.summaries("eve") == [FULL]
    assert target.summary_updates("eve", "s") == [UPDATE]


def test_turns_of_a_session_oldest_and_newest(store: Store) -> None:
    append_turns(store, "ann", "a", "b", session="s")
    append_turns(store, "ann", "c", session="t")
    append_turns(store, "ann", "d", session="s")
    assert [turn.query for turn in store.turns("ann", session="s")] == ["a", "b", "d"]
    assert [turn.query for turn in store.turns("ann", session="s", after=1, limit=1)] == ["b"]
    assert [turn.query for turn in store.turns("ann", session="s", limit=2, newest=True)] == ["b", "d"]
