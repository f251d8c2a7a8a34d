"""Thread pool for blocking work of the event loop, with a bounded queue, deadlines and equal shares.

Work is queued by tenant. The tenants take turns, and one tenant never has all threads: while it sends many
slow requests, those of the others are still answered.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections import Counter, OrderedDict, deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import TypeVar

from thinkback.server.errors import busy

DEFAULT_THREADS = min(32, 4 * (os.cpu_count() or 1))
MAX_QUEUED = 512
MAX_QUEUED_SHARE = 0.75  # of the queue for one tenant

_Result = TypeVar("_Result")


class DeadlineExceeded(Exception):
    """The work did not finish in time. If it has started, it continues and its result is dropped."""


class FairQueue:
    """Work by tenant. `take` serves the tenants in turn, and no tenant beyond `max_running` at once."""

    def __init__(self, max_running: int) -> None:
        self._max_running = max_running
        self._waiting: OrderedDict[str, deque[Callable[[], None]]] = OrderedDict()  # next tenant first
        self._running: Counter[str] = Counter()
        self._lock = threading.Lock()

    def put(self, tenant: str, work: Callable[[], None]) -> None:
        with self._lock:
            self._waiting.setdefault(tenant, deque()).append(work)

    def take(self) -> tuple[str, Callable[[], None]] | None:
        """The next work, or None if all waiting tenants are at their limit; call `done` after it."""
        with self._lock:
            tenant = next((name for name in self._waiting if self._running[name] < self._max_running), None)
            if tenant is None:
                return None
            queue = self._waiting.pop(tenant)
            work = queue.popleft()
            if queue:
                self._waiting[tenant] = queue  # behind all others
            self._running[tenant] += 1
            return tenant, work

    def done(self, tenant: str) -> None:
        with self._lock:
            self._running[tenant] -= 1
            if not self._running[tenant]:
                del self._running[tenant]


class ThreadPool:
    """A few threads behind a bounded queue that all tenants share."""

    def __init__(self, threads: int = DEFAULT_THREADS, max_queued: int = MAX_QUEUED) -> None:
        self._executor = ThreadPoolExecutor(threads, thread_name_prefix="thinkback-pool")
        self._max_queued = max_queued
        self._max_queued_by_tenant = max(1, int(max_queued * MAX_QUEUED_SHARE)) if threads > 1 else max_queued
        self._queue = FairQueue(max(1, threads - max(1, threads // 4)))
        self._pending = 0
        self._pending_by_tenant: Counter[str] = Counter()

    @property
    def pending(self) -> int:
        """The number of jobs that are running or queued."""
        return self._pending

    async def run(self, work: Callable[[], _Result], *, tenant: str = "") -> _Result:
        """Run `work` and wait for it without a time limit. It is finished even if the caller is cancelled."""
        if self._is_full(tenant):
            raise busy("the server has too much queued work: try again in a moment")
        return await asyncio.shield(asyncio.wrap_future(self._submit(work, tenant)))

    async def run_within(
        self, seconds: float, work: Callable[[], _Result], *, must_finish: bool = False, tenant: str = ""
    ) -> _Result:
        """Run `work`, or raise `DeadlineExceeded` if the queue is full or the time is over.

        Work that has not started by then is cancelled, so that an overloaded server does no useless work.
        With `must_finish` it is still done; only the waiting ends.
        """
        if self._is_full(tenant) and not must_finish:
            raise DeadlineExceeded
        future = self._submit(work, tenant)
        result = asyncio.wrap_future(future)
        result.add_done_callback(_retrieve_exception)  # the waiting task may be cancelled
        done, _ = await asyncio.wait((result,), timeout=seconds)
        if not done:
            if not must_finish:
                future.cancel()
            raise DeadlineExceeded
        return result.result()

    def close(self) -> None:
        """Wait for running and queued work, then stop the threads."""
        self._executor.shutdown(wait=True)

    def _is_full(self, tenant: str) -> bool:
        return (
            self._pending >= self._max_queued or self._pending_by_tenant[tenant] >= self._max_queued_by_tenant
        )

    def _submit(self, work: Callable[[], _Result], tenant: str) -> Future[_Result]:
        self._pending += 1
        self._pending_by_tenant[tenant] += 1
        loop = asyncio.get_running_loop()
        future: Future[_Result] = Future()

        def on_done(_: Future[_Result]) -> None:
            with suppress(RuntimeError):  # the event loop has already been closed
                loop.call_soon_threadsafe(self._decrement, tenant)

        future.add_done_callback(on_done)
        self._queue.put(tenant, partial(_run, work, future))
        self._executor.submit(self._serve)
        return future

    def _serve(self) -> None:
        """Do queued work until there is none, or until all waiting tenants are at their limit.

        A tenant at its limit has running work, and the thread of that goes on with what is waiting.
        """
        while (taken := self._queue.take()) is not None:
            tenant, work = taken
            try:
                work()
            finally:
                self._queue.done(tenant)

    def _decrement(self, tenant: str) -> None:
        self._pending -= 1
        self._pending_by_tenant[tenant] -= 1
        if not self._pending_by_tenant[tenant]:
            del self._pending_by_tenant[tenant]


def _run(work: Callable[[], _Result], future: Future[_Result]) -> None:
    """Do the work for its future, unless that was cancelled."""
    if not future.set_running_or_notify_cancel():
        return
    try:
        result = work()
    except BaseException as error:
        future.set_exception(error)
    else:
        future.set_result(result)


def _retrieve_exception(future: asyncio.Future[_Result]) -> None:
    """Mark the exception as retrieved, so that asyncio does not log it as never retrieved."""
    if not future.cancelled():
        future.exception()
