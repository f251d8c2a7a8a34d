"""`RequestLimitStore`: token buckets and slots that all processes on a database share."""

from __future__ import annotations

from datetime import timedelta

import pytest
from tests.factories import NOW

from thinkback.protocols import Store


def test_bucket_is_shared_and_refilled(store: Store) -> None:
    taken = [store.take_requests("key", 1, 2.0, 4.0, NOW) for _ in range(5)]
    assert taken == [True] * 4 + [False]
    later = NOW + timedelta(seconds=1)
    assert store.take_requests("key", 2, 2.0, 4.0, later)
    assert not store.take_requests("key", 1, 2.0, 4.0, later)
    assert store.take_requests("other", 4, 2.0, 4.0, later)


def test_bucket_holds_no_more_than_a_burst(store: Store) -> None:
    assert store.take_requests("key", 4, 2.0, 4.0, NOW)
    much_later = NOW + timedelta(days=1)
    assert not store.take_requests("key", 5, 2.0, 4.0, much_later)
    assert store.take_requests("key", 4, 2.0, 4.0, much_later)
    assert not store.take_requests("key", 1, 2.0, 4.0, much_later)


def test_clock_that_is_behind_refills_nothing(store: Store) -> None:
    assert store.take_requests("key", 4, 2.0, 4.0, NOW)
    assert not store.take_requests("key", 1, 2.0, 4.0, NOW - timedelta(seconds=30))
    assert not store.take_requests("key", 1, 2.0, 4.0, NOW)


def lease(store: Store, process: str, wanted: int, seconds: float = 0.0) -> int:
    return store.lease_slots("key", process, wanted, 10, 8.0, NOW + timedelta(seconds=seconds))


def test_slots_of_all_processes_stay_within_the_limit(store: Store) -> None:
    assert lease(store, "a", 6) == 6
    assert lease(store, "b", 6) == 4
    assert lease(store, "c", 1) == 0
    assert lease(store, "a", 2) == 2
    assert lease(store, "c", 6) == 4
    assert store.lease_slots("other", "c", 10, 10, 8.0, NOW) == 10


@pytest.mark.parametrize(("seconds", "granted"), [(7.9, 4), (8.1, 10)])
def test_slots_of_a_dead_process_are_free_after_its_lease(store: Store, seconds: float, granted: int) -> None:
    assert lease(store, "dead", 6) == 6
    assert lease(store, "alive", 10, seconds) == granted


def test_slots_that_were_given_back_are_free(store: Store) -> None:
    assert lease(store, "a", 10) == 10
    assert lease(store, "a", 0) == 0
    assert lease(store, "b", 10) == 10


def test_slots_of_all_clients_are_renewed_at_once(store: Store) -> None:
    for client in ("one", "two", "three"):
        assert store.lease_slots(client, "a", 6, 10, 8.0, NOW) == 6
    later = NOW + timedelta(seconds=5)
    kept = store.renew_slots("a", {"one": 6, "two": 2, "three": 0, "unknown": 4}, 8.0, later)
    assert kept == {"one": 6, "two": 2}
    at = later + timedelta(seconds=7)  # after the end of the first lease
    assert [store.lease_slots(client, "b", 10, 10, 8.0, at) for client in ("one", "two", "three")] == [
        4,
        8,
        10,
    ]


def test_renewal_grants_nothing_new(store: Store) -> None:
    assert lease(store, "a", 4) == 4
    assert lease(store, "b", 6) == 6
    assert store.renew_slots("a", {"key": 10}, 8.0, NOW) == {"key": 4}
    assert store.renew_slots("a", {"key": 4}, 8.0, NOW + timedelta(seconds=8.1)) == {}, "it has ended"
