"""Store contract: post-think queue with leases, retries and dead letters."""

from __future__ import annotations

import time
from dataclasses import replace
from threading import Event

import pytest
from tests.factories import (
    NOW,
    add_thought,
    append_turns,
    apply_operations,
    entries_for_plan,
    insert_operation,
    minute,
    supersede_operation,
    thought_draft,
)

from thinkback.errors import Conflict, LeaseLost, NotFound
from thinkback.protocols import Store
from thinkback.types import ClaimedTurn, Operation, Plan


def claim(store: Store, space: str | None = "ann", limit: int = 10, at: float = 0) -> list[ClaimedTurn]:
    return store.claim(space, limit, 60, minute(at))


def plan_of(claimed: ClaimedTurn, *changes: Operation) -> Plan:
    return Plan(turn=claimed.turn.id, lease=claimed.lease, actor="tester", operations=changes)


def test_the_oldest_pending_turns_are_leased_in_sequence(store: Store) -> None:
    turns = append_turns(store, "ann", "a", "b", "c")
    claimed = claim(store, limit=2)
    assert [item.turn for item in claimed] == turns[:2]
    assert {item.space for item in claimed} == {"ann"}
    assert [item.attempts for item in claimed] == [1, 1]


def test_leased_space_is_not_claimed(store: Store) -> None:
    append_turns(store, "ann", "a", "b", "c")
    claim(store, limit=1)
    assert claim(store, at=0.5) == []
    assert claim(store, space=None, at=0.5) == []


def test_spaces_are_claimed_independently(store: Store) -> None:
    append_turns(store, "ann", "a")
    append_turns(store, "bob", "b")
    assert [item.space for item in claim(store, space=None)] == ["ann"]
    assert [item.space for item in claim(store, space=None)] == ["bob"]
    assert claim(store, space=None) == []
    assert claim(store, space="nobody") == []


def test_expired_lease_can_be_claimed(store: Store) -> None:
    append_turns(store, "ann", "a")
    (late,) = claim(store)
    (other,) = claim(store, at=1)
    assert other.attempts == 2
    assert other.lease != late.lease
    with pytest.raises(LeaseLost, match="turn:1"):
        store.apply("ann", plan_of(late), [], minute(2))
    store.apply("ann", plan_of(other), [], minute(2))
    assert store.pending("ann") == 0


def test_renewed_lease_is_not_claimed(store: Store) -> None:
    append_turns(store, "ann", "a", "b")
    first, second = claim(store)
    assert store.renew("ann", first.lease, 60, minute(0.9))
    assert claim(store, at=1.8) == []
    store.apply("ann", plan_of(first), [], minute(1))
    assert store.renew("ann", first.lease, 60, minute(1.8))  # the second turn is not done yet
    assert claim(store, at=2.7) == []
    assert [item.turn for item in claim(store, at=2.8)] == [second.turn]


def test_lost_lease_is_not_renewed(store: Store) -> None:
    append_turns(store, "ann", "a")
    (late,) = claim(store)
    (other,) = claim(store, at=1)
    assert not store.renew("ann", late.lease, 60, minute(1))
    store.apply("ann", plan_of(other), [], minute(1))
    assert not store.renew("ann", other.lease, 60, minute(1))
    assert not store.renew("nobody", other.lease, 60, minute(1))


def test_waiting_for_turns_ends_when_stopped(store: Store) -> None:
    stop = Event()
    stop.set()
    started = time.monotonic()
    store.wait_for_turns(60, stop)
    assert time.monotonic() - started < 30


def test_expired_lease_is_valid_until_claimed(store: Store) -> None:
    append_turns(store, "ann", "a")
    (late,) = claim(store)
    store.apply("ann", plan_of(late), [], minute(99))
    assert store.pending(None) == 0


def test_apply_writes_everything_in_one_transaction(store: Store) -> None:
    append_turns(store, "ann", "I like tea. I like figs.")
    (claimed,) = claim(store)
    plan = plan_of(
        claimed, insert_operation(thought_draft("tea", 1)), insert_operation(thought_draft("figs", 1))
    )
    actions = store.apply("ann", plan, entries_for_plan(plan), minute(1))
    assert [action.id for action in actions] == [1, 2]
    assert store.journal("ann") == actions
    assert store.thoughts("ann") == [action.after[0] for action in actions]
    assert [thought.recorded_at for thought in store.thoughts("ann")] == [minute(1), minute(1)]
    assert {(e.kind, e.id) for e in store.delta("ann", store.stamp("nobody")).entries} == {
        ("thought", 1),
        ("thought", 2),
    }
    assert store.turns("ann")[0].thought_at == minute(1)
    assert store.pending("ann") == 0


def test_a_plan_is_applied_only_once(store: Store) -> None:
    append_turns(store, "ann", "a")
    (claimed,) = claim(store)
    plan = plan_of(claimed, insert_operation(thought_draft("a", 1)))
    store.apply("ann", plan, entries_for_plan(plan), NOW)
    with pytest.raises(LeaseLost):
        store.apply("ann", plan, entries_for_plan(plan), NOW)
    assert len(store.thoughts("ann")) == 1


def test_plan_for_an_erased_turn_is_rejected(store: Store) -> None:
    append_turns(store, "ann", "a", "b")
    claimed, _ = claim(store)
    store.erase("ann", turn=1, now=NOW)
    plan = plan_of(claimed, insert_operation(thought_draft("a", 1)))
    with pytest.raises(LeaseLost, match="erased"):
        store.apply("ann", plan, entries_for_plan(plan), NOW)
    assert store.thoughts("ann") == []
    store.erase("ann", now=NOW)
    with pytest.raises(NotFound, match="'ann'"):
        store.apply("ann", plan, entries_for_plan(plan), NOW)


@pytest.mark.parametrize("stale", [99, 1])
def test_plan_that_retires_an_unknown_thought_is_rolled_back(store: Store, stale: int) -> None:
    add_thought(store, "ann", "lives in Oslo")
    store.retire("ann", 1, "moved", "tester", NOW)
    append_turns(store, "ann", "I live in Rome")
    before = (store.thoughts("ann", current=False), store.journal("ann"), store.stamp("ann"))
    (claimed,) = claim(store)
    plan = plan_of(
        claimed,
        insert_operation(thought_draft("tea", 2)),
        supersede_operation(thought_draft("lives in Rome", 2), stale),
    )
    with pytest.raises(NotFound if stale == 99 else Conflict, match=f"thought:{stale}"):
        store.apply("ann", plan, entries_for_plan(plan), NOW)
    assert (store.thoughts("ann", current=False), store.journal("ann"), store.stamp("ann")) == before
    assert store.pending("ann") == 1
    good = plan_of(claimed, insert_operation(thought_draft("lives in Rome", 2)))
    (action,) = store.apply("ann", good, entries_for_plan(good), NOW)
    assert action.after[0].id == 2


def test_two_operations_cannot_retire_the_same_thought(store: Store) -> None:
    add_thought(store, "ann", "lives in Oslo")
    append_turns(store, "ann", "both")
    with pytest.raises(Conflict, match="thought:1 is already retired"):
        apply_operations(
            store,
            "ann",
            supersede_operation(thought_draft("Rome", 2), 1),
            supersede_operation(thought_draft("Bonn", 2), 1),
        )
    assert [thought.sentence for thought in store.thoughts("ann")] == ["lives in Oslo"]


def test_plan_needs_one_entry_per_draft(store: Store) -> None:
    append_turns(store, "ann", "a")
    (claimed,) = claim(store)
    with pytest.raises(ValueError, match="1 drafts"):
        store.apply("ann", plan_of(claimed, insert_operation(thought_draft("a", 1))), [], NOW)


def test_released_turn_blocks_its_space_until_retry(store: Store) -> None:
    append_turns(store, "ann", "a", "b")
    claimed, second = claim(store)
    store.release("ann", 1, claimed.lease, reason="busy", retry_at=minute(5))
    store.release("ann", 2, second.lease, reason="busy", retry_at=minute(0))
    assert claim(store, at=4) == []
    assert store.pending("ann") == 2
    again = claim(store, at=5)
    assert [item.turn.id for item in again] == [1, 2]
    assert again[0].attempts == 2


def test_release_with_a_lost_lease_changes_nothing(store: Store) -> None:
    append_turns(store, "ann", "a")
    (late,) = claim(store)
    (other,) = claim(store, at=2)
    store.release("ann", 1, late.lease, reason="gave up", retry_at=None)
    assert store.failures("ann") == []
    store.apply("ann", plan_of(other), [], minute(2))


def test_dead_letter_does_not_block_its_space(store: Store) -> None:
    append_turns(store, "ann", "a", "b")
    claimed = claim(store, limit=1)[0]
    store.release("ann", 1, claimed.lease, reason="the model refused", retry_at=None)
    (failure,) = store.failures("ann")
    assert (failure.turn, failure.attempts, failure.reason) == (1, 1, "the model refused")
    assert store.pending("ann") == 1
    assert [item.turn.id for item in claim(store)] == [2]


def test_retry_failures(store: Store) -> None:
    append_turns(store, "ann", "a", "b")
    for item in claim(store):
        store.release("ann", item.turn.id, item.lease, reason="no", retry_at=None)
    assert (store.pending("ann"), store.retry_failures("ann"), store.pending("ann")) == (0, 2, 2)
    assert store.failures("ann") == []
    assert [(item.turn.id, item.attempts) for item in claim(store)] == [(1, 1), (2, 1)]


def test_retry_failures_respects_a_valid_lease(store: Store) -> None:
    append_turns(store, "ann", "a", "b")
    first = claim(store, limit=1)[0]
    store.release("ann", 1, first.lease, reason="no", retry_at=None)
    (working,) = claim(store)
    store.retry_failures("ann")
    assert claim(store, at=0.5) == []
    store.apply("ann", plan_of(working), [], minute(0.5))
    assert [item.turn.id for item in claim(store, at=0.5)] == [1]


def test_unknown_users_have_no_work(store: Store) -> None:
    assert store.pending("nobody") == 0
    assert store.failures("nobody") == []
    with pytest.raises(NotFound):
        store.retry_failures("nobody")
    with pytest.raises(NotFound):
        store.release("nobody", 1, "lease", reason="", retry_at=None)


def test_pending_counts_one_space_or_all(store: Store) -> None:
    append_turns(store, "ann", "a", "b")
    append_turns(store, "bob", "c")
    apply_operations(store, "ann")
    assert (store.pending("ann"), store.pending("bob"), store.pending(None)) == (1, 1, 2)


def test_release_without_counting_the_attempt(store: Store) -> None:
    append_turns(store, "ann", "a")
    for _ in range(3):
        (claimed,) = claim(store)
        assert claimed.attempts == 1
        store.release("ann", 1, claimed.lease, reason="the model is down", retry_at=NOW, count_attempt=False)
    (claimed,) = claim(store)
    store.release("ann", 1, claimed.lease, reason="the model refused", retry_at=NOW)
    assert [item.attempts for item in claim(store)] == [2]


def test_backlog_counts_all_spaces(store: Store) -> None:
    append_turns(store, "ann", "a", "b")
    append_turns(store, "ben", "c")
    assert store.backlog() == 3
    apply_operations(store, "ann")
    (claimed,) = claim(store, limit=1)
    store.release(claimed.space, claimed.turn.id, claimed.lease, reason="no", retry_at=None)
    assert store.backlog() == 1


def test_findings_of_a_turn_are_stored_when_it_is_done(store: Store) -> None:
    append_turns(store, "ann", "a", "b", "c")
    before = store.stamp("ann")
    for claimed, findings in zip(claim(store), ("", "{}", None), strict=True):
        store.apply("ann", replace(plan_of(claimed), findings=findings), [], minute(1))
    assert [turn.findings for turn in store.turns("ann")] == ["", "{}", None]
    # readers must read only the second turn again: nothing was found in the others
    assert [(each.kind, each.id) for each in store.delta("ann", before).periods] == [("turn", 2)]
