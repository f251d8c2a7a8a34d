"""`LeaseKeeper`: a slow worker keeps its turns, a dead one loses them within ten seconds."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from tests.factories import append_turns

from thinkback.errors import StoreUnavailable
from thinkback.protocols import Store
from thinkback.storage import connect
from thinkback.think.leases import LEASE_SECONDS, RENEW_INTERVAL_SECONDS, LeaseKeeper
from thinkback.times import utc_now
from thinkback.types import ClaimedTurn


@pytest.fixture
def store() -> Iterator[Store]:
    opened = connect(":memory:")
    append_turns(opened, "ann", "hello", "again")
    yield opened
    opened.close()


def claim(store: Store, seconds: float) -> list[ClaimedTurn]:
    return store.claim("ann", 1, seconds, utc_now())


def wait_until(condition: object, seconds: float = 20.0) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():  # type: ignore[operator]
            return True
        time.sleep(0.02)
    return False


def test_turns_of_a_dead_worker_are_free_within_ten_seconds() -> None:
    assert LEASE_SECONDS < 10
    assert LEASE_SECONDS >= 3 * RENEW_INTERVAL_SECONDS  # two renewals may fail


def test_a_lease_is_renewed_while_it_is_kept(store: Store) -> None:
    keeper = LeaseKeeper(store, utc_now, interval_seconds=0.05)
    claimed = claim(store, 0.5)
    with keeper.keep(claimed):
        assert keeper.claims() == claimed
        time.sleep(1.0)  # longer than the lease
        assert claim(store, 60) == []
    assert keeper.claims() == []
    store.release("ann", 1, claimed[0].lease, reason="", retry_at=utc_now(), count_attempt=False)
    assert claim(store, 60)


def test_the_thread_ends_without_claims_and_starts_again(store: Store) -> None:
    keeper = LeaseKeeper(store, utc_now, interval_seconds=0.02)
    claimed = claim(store, 60)
    for _ in range(2):
        with keeper.keep(claimed):
            assert keeper._thread is not None
        assert wait_until(lambda: keeper._thread is None)


def test_a_failing_database_does_not_end_the_renewals(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []

    def renew(space: str, lease: str, *_: object) -> bool:
        calls.append(lease)
        if len(calls) == 1:
            raise StoreUnavailable("restarting")
        return True

    monkeypatch.setattr(store, "renew", renew)
    claimed = claim(store, 60)
    with LeaseKeeper(store, utc_now, interval_seconds=0.02).keep(claimed):
        assert wait_until(lambda: len(calls) >= 3)
