"""Limits of requests over several processes: here several `SharedLimits` on one store."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextlib import AsyncExitStack, closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from thinkback.errors import StoreUnavailable
from thinkback.protocols import RequestLimitStore
from thinkback.server.errors import RequestRefused
from thinkback.server.middleware import shared_limits
from thinkback.server.middleware.limits import ConcurrencyLimiter, RateLimiter
from thinkback.server.middleware.shared_limits import SharedLimits
from thinkback.server.thread_pool import ThreadPool
from thinkback.storage.sqlite import SqliteStore


class Clock:
    def __init__(self) -> None:
        self.seconds = 1000.0

    def __call__(self) -> float:
        return self.seconds

    def wall(self) -> datetime:
        return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=self.seconds)


class CountingStore:
    """A store that counts the calls, and fails while `down`."""

    def __init__(self, store: RequestLimitStore) -> None:
        self._store = store
        self.calls = 0
        self.down = False

    def take_requests(self, client: str, count: int, rate: float, burst: float, now: datetime) -> bool:
        self._called()
        return self._store.take_requests(client, count, rate, burst, now)

    def lease_slots(
        self, client: str, process: str, wanted: int, limit: int, lease_seconds: float, now: datetime
    ) -> int:
        self._called()
        return self._store.lease_slots(client, process, wanted, limit, lease_seconds, now)

    def renew_slots(
        self, process: str, wanted: Mapping[str, int], lease_seconds: float, now: datetime
    ) -> dict[str, int]:
        self._called()
        return self._store.renew_slots(process, wanted, lease_seconds, now)

    def _called(self) -> None:
        self.calls += 1
        if self.down:
            raise StoreUnavailable("down")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[CountingStore]:
    with closing(SqliteStore(str(tmp_path / "memory.db"))) as opened:
        yield CountingStore(opened)


def processes(
    store: RequestLimitStore, clock: Clock, pool: ThreadPool, *, rate: float = 0.0, limit: int = 0
) -> list[SharedLimits]:
    return [
        SharedLimits(RateLimiter(rate, clock), ConcurrencyLimiter(limit), store, pool, clock, clock.wall)
        for _ in range(2)
    ]


def run(work: Callable[[ThreadPool], Coroutine[Any, Any, None]]) -> None:
    pool = ThreadPool(2)
    try:
        asyncio.run(work(pool))
    finally:
        pool.close()


async def sent(limits: list[SharedLimits], count: int) -> int:
    """How many of `count` requests, sent to the processes in turn, are admitted."""
    admitted = 0
    for number in range(count):
        try:
            await limits[number % len(limits)].acquire("key")
            admitted += 1
        except RequestRefused:
            pass
    return admitted


def test_rate_holds_for_all_processes_together(store: CountingStore) -> None:
    async def work(pool: ThreadPool) -> None:
        clock = Clock()
        both = processes(store, clock, pool, rate=8.0)
        assert await sent(both, 30) == 8
        with pytest.raises(RequestRefused) as refused:
            await both[0].acquire("key")
        assert (refused.value.status, refused.value.code) == (429, "rate_limited")
        clock.seconds += 0.5
        assert await sent(both, 30) == 4

    run(work)


def test_one_process_has_the_whole_rate(store: CountingStore) -> None:
    async def work(pool: ThreadPool) -> None:
        first, _ = processes(store, Clock(), pool, rate=8.0)
        assert await sent([first], 30) == 8

    run(work)


def test_requests_are_taken_in_portions(store: CountingStore) -> None:
    async def work(pool: ThreadPool) -> None:
        both = processes(store, Clock(), pool, rate=320.0)
        assert await sent(both, 300) == 300
        assert store.calls <= 2 * shared_limits.PORTIONS

    run(work)


def test_simultaneous_requests_share_a_portion(store: CountingStore) -> None:
    async def work(pool: ThreadPool) -> None:
        first, second = processes(store, Clock(), pool, rate=320.0)
        admitted = await asyncio.gather(*(sent([first], 1) for _ in range(100)))
        assert sum(admitted) == 100
        assert store.calls == 5, "a portion has 20 requests"
        assert await sent([second], 300) == 220, "the first process holds no more than it has used"

    run(work)


async def occupied(stack: AsyncExitStack, limits: SharedLimits, count: int, client: str = "key") -> int:
    admitted = 0
    for _ in range(count):
        try:
            await stack.enter_async_context(limits.slot(client))
            admitted += 1
        except RequestRefused:
            pass
    return admitted


def test_concurrency_holds_for_all_processes_together(store: CountingStore) -> None:
    async def work(pool: ThreadPool) -> None:
        first, second = processes(store, Clock(), pool, limit=5)
        async with AsyncExitStack() as running:
            assert await occupied(running, first, 3) == 3
            assert await occupied(running, second, 4) == 2
            assert await occupied(running, first, 1) == 0

    run(work)


def test_simultaneous_requests_get_what_is_left(store: CountingStore) -> None:
    async def work(pool: ThreadPool) -> None:
        first, second = processes(store, Clock(), pool, limit=5)
        async with AsyncExitStack() as running:
            await occupied(running, first, 3)
            seen = await asyncio.gather(*(occupied(running, second, 1) for _ in range(6)))
            assert sum(seen) == 2

    run(work)


def test_last_slots_are_leased_though_they_are_no_whole_portion(store: CountingStore) -> None:
    async def work(pool: ThreadPool) -> None:
        first, second = processes(store, Clock(), pool, limit=167)  # portions of 10
        async with AsyncExitStack() as running:
            assert await occupied(running, first, 160) == 160
            assert await occupied(running, second, 10) == 7
            assert second.slots["key"] == 7

    run(work)


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not condition():
            await asyncio.sleep(0.01)


def test_slots_of_many_clients_are_renewed_with_one_call(
    store: CountingStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shared_limits, "RENEW_INTERVAL_SECONDS", 0.5)

    async def work(pool: ThreadPool) -> None:
        clock = Clock()
        first, second = processes(store, clock, pool, limit=5)
        async with AsyncExitStack() as running:
            for client in ("one", "two", "three"):
                assert await occupied(running, first, 5, client) == 5
            calls = store.calls
            clock.seconds += shared_limits.LEASE_SECONDS - 1
            await until(lambda: store.calls > calls)
            await asyncio.sleep(0.1)
            assert store.calls == calls + 1
            clock.seconds += 2
            for client in ("one", "two", "three"):
                assert await occupied(running, second, 1, client) == 0

    run(work)


def test_slots_that_ended_are_leased_again(store: CountingStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_limits, "RENEW_INTERVAL_SECONDS", 0.01)

    async def work(pool: ThreadPool) -> None:
        clock = Clock()
        first, second = processes(store, clock, pool, limit=5)
        async with AsyncExitStack() as running:
            assert await occupied(running, first, 3) == 3
            clock.seconds += shared_limits.LEASE_SECONDS + 1
            calls = store.calls
            await until(lambda: store.calls >= calls + 2)
            assert await occupied(running, second, 5) == 2

    run(work)


def test_slots_are_renewed_and_given_back(store: CountingStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_limits, "RENEW_INTERVAL_SECONDS", 0.01)

    async def work(pool: ThreadPool) -> None:
        clock = Clock()
        first, second = processes(store, clock, pool, limit=5)
        async with AsyncExitStack() as running:
            assert await occupied(running, first, 5) == 5
            clock.seconds += shared_limits.LEASE_SECONDS - 1
            calls = store.calls
            await until(lambda: store.calls >= calls + 2)  # renewed
            clock.seconds += shared_limits.LEASE_SECONDS - 1
            assert await occupied(running, second, 1) == 0
        await until(lambda: not first.slots)
        async with AsyncExitStack() as running:
            assert await occupied(running, second, 5) == 5

    run(work)


def test_busy_key_asks_the_database_rarely(store: CountingStore) -> None:
    async def work(pool: ThreadPool) -> None:
        first, _ = processes(store, Clock(), pool, limit=256)
        async with AsyncExitStack() as running:
            await occupied(running, first, 10)
            for _ in range(100):
                async with first.slot("key"):
                    pass
        assert store.calls == 1

    run(work)


def test_limits_of_the_process_hold_while_the_database_is_down(store: CountingStore) -> None:
    async def work(pool: ThreadPool) -> None:
        store.down = True
        clock = Clock()
        both = processes(store, clock, pool, rate=8.0, limit=5)
        assert await sent(both, 30) == 16
        async with AsyncExitStack() as running:
            assert await occupied(running, both[0], 8) == 5
        assert store.calls <= 4  # it is not asked for every request
        store.down = False
        clock.seconds += shared_limits.PAUSE_SECONDS
        assert await sent(both, 30) == 8

    run(work)
