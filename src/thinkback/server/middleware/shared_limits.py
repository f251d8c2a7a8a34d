"""Request rate and concurrency per client over all server processes on one database.

A process takes its share from the database in small portions: requests of the client's token bucket, and
slots for concurrent requests, which it renews while it uses them. So most requests need no answer of the
database, all processes together stay within the limit, and a client that uses only one process has the whole
limit. The limits of the process itself hold in any case; they alone hold while the database does not answer.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections import Counter, OrderedDict
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import TypeVar

from thinkback.errors import ThinkbackError
from thinkback.protocols import Clock, RequestLimitStore
from thinkback.server.middleware.limits import (
    MAX_RATE_BUCKETS,
    ConcurrencyLimiter,
    RateLimiter,
    too_many_requests,
)
from thinkback.server.thread_pool import DeadlineExceeded, ThreadPool
from thinkback.times import utc_now

PORTIONS = 16  # of a limit: what a process takes at once
REQUESTS_KEPT_SECONDS = 1.0  # requests that were taken and not used within this time are given up
LEASE_SECONDS = 8.0  # slots of a process that died are free after this time
RENEW_INTERVAL_SECONDS = 2.0
WAIT_SECONDS = 0.25  # for the database
_TAKING_LOCKS = 64
PAUSE_SECONDS = 2.0  # in which the database is not asked, after it did not answer

_log = logging.getLogger(__name__)
_Result = TypeVar("_Result")


class _StoreCalls:
    """Calls of the store in a thread, each for a limited time; None if there is no answer.

    After a call without an answer the store is left alone for a while.
    """

    def __init__(self, pool: ThreadPool, clock: Callable[[], float]) -> None:
        self._pool = pool
        self._clock = clock
        self._paused_until = float("-inf")

    async def ask(self, work: Callable[[], _Result]) -> _Result | None:
        if self._clock() < self._paused_until:
            return None
        try:
            return await self._pool.run_within(WAIT_SECONDS, work)
        except (ThinkbackError, DeadlineExceeded) as error:
            self._paused_until = self._clock() + PAUSE_SECONDS
            _log.warning("limits hold per process for now: no answer (%s)", type(error).__name__)
            return None


class SharedLimits:
    """The limits of all processes. With `store=None` those of this process alone."""

    def __init__(
        self,
        rates: RateLimiter,
        concurrency: ConcurrencyLimiter,
        store: RequestLimitStore | None,
        pool: ThreadPool,
        clock: Callable[[], float],
        wall_clock: Clock = utc_now,
    ) -> None:
        self._rates = rates
        self._concurrency = concurrency
        self._store = store
        self._calls = _StoreCalls(pool, clock)
        self._clock = clock
        self._wall_clock = wall_clock
        self._process = secrets.token_hex(8)
        self._taken: OrderedDict[str, tuple[float, int]] = OrderedDict()  # client -> when, requests left
        self._taking = [asyncio.Lock() for _ in range(_TAKING_LOCKS)]  # by hash of the client
        self._slots: Counter[str] = Counter()  # granted to this process
        self._changing: dict[str, asyncio.Lock] = {}  # by client: one change of its slots at a time
        self._renewal: asyncio.Task[None] | None = None

    @property
    def slots(self) -> Mapping[str, int]:
        """The concurrent requests that this process may run now, by client."""
        return self._slots

    async def acquire(self, client: str) -> None:
        """Count one request; raise `RequestRefused` (429) if there are too many per second."""
        self._rates.acquire(client)
        store, rate, burst = self._store, self._rates.rate, self._rates.burst
        if store is None or not rate:
            return
        async with self._taking[hash(client) % len(self._taking)]:  # else each would take a portion
            await self._take(client, store, rate, burst)

    async def _take(self, client: str, store: RequestLimitStore, rate: float, burst: float) -> None:
        """Use one of the requests that this process has taken, or take a portion of the client's bucket."""
        taken_at, left = self._taken.pop(client, (0.0, 0))
        if left and self._clock() - taken_at < REQUESTS_KEPT_SECONDS:
            if left > 1:
                self._taken[client] = taken_at, left - 1
            return
        for portion in sorted({max(1, int(burst / PORTIONS)), 1}, reverse=True):
            granted = await self._calls.ask(
                partial(store.take_requests, client, portion, rate, burst, self._wall_clock())
            )
            if granted is None:
                return
            if granted:
                self._taken[client] = self._clock(), portion - 1
                if len(self._taken) > MAX_RATE_BUCKETS:
                    self._taken.popitem(last=False)
                return
        raise too_many_requests("too many requests per second", 1 / rate)

    @asynccontextmanager
    async def slot(self, client: str) -> AsyncIterator[None]:
        """Run a request within the block; raise `RequestRefused` (429) if too many run already."""
        with self._concurrency.slot(client):
            if self._store is not None and self._concurrency.limit:
                await self._require_slots(client)
            yield

    async def _require_slots(self, client: str) -> None:
        if self._slots[client] >= self._concurrency.running(client):
            return
        if self._renewal is None:
            self._slots[client] = 0  # so that the task does not end at once
            self._renewal = asyncio.ensure_future(self._renew())
        async with self._changing.setdefault(client, asyncio.Lock()):
            running = self._concurrency.running(client)  # without those that were refused meanwhile
            if self._slots[client] < running and await self._lease(client, running) < running:
                raise too_many_requests(f"more than {self._concurrency.limit} concurrent requests", 1.0)

    async def _lease(self, client: str, running: int) -> int:
        """Lease slots for the running requests, in whole portions; returns how many may run."""
        store, limit = self._store, self._concurrency.limit
        if store is None:
            return limit
        granted = await self._calls.ask(
            partial(
                store.lease_slots,
                client,
                self._process,
                self._whole_portions(running),
                limit,
                LEASE_SECONDS,
                self._wall_clock(),
            )
        )
        if granted is None:
            return limit
        self._slots[client] = granted
        return granted

    def _whole_portions(self, running: int) -> int:
        """The slots to hold for this many requests: rounded up, but never above the limit."""
        limit = self._concurrency.limit
        portion = max(1, limit // PORTIONS)
        return min(limit, -(-running // portion) * portion)

    async def _renew(self) -> None:
        """Renew the slots in use, and give back the others, until there are none."""
        try:
            while self._slots and self._store is not None:
                await asyncio.sleep(RENEW_INTERVAL_SECONDS)
                async with AsyncExitStack() as unchanging:
                    clients = list(self._slots)
                    for client in clients:
                        await unchanging.enter_async_context(
                            self._changing.setdefault(client, asyncio.Lock())
                        )
                    await self._renew_slots(self._store, clients)
        finally:
            self._renewal = None

    async def _renew_slots(self, store: RequestLimitStore, clients: Sequence[str]) -> None:
        """Renew the slots of all clients with one call; those that were lost are leased again."""
        wanted = {client: self._whole_portions(self._concurrency.running(client)) for client in clients}
        kept = await self._calls.ask(
            partial(store.renew_slots, self._process, wanted, LEASE_SECONDS, self._wall_clock())
        )
        for client in clients:
            running = self._concurrency.running(client)
            if kept is not None:
                self._slots[client] = kept.get(client, 0)
                if running > self._slots[client]:
                    await self._lease(client, running)
            if not self._slots[client] and not running:
                del self._slots[client], self._changing[client]
