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
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any, TypeVar

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


class _Job:
    """Work, and the future that its caller waits for. Only the event loop uses the future."""

    def __init__(self, work: Callable[[], Any], tenant: str, reporter: _Reporter) -> None:
        self.tenant = tenant
        self.future: asyncio.Future[Any] = reporter.loop.create_future()
        self.is_counted = True  # among the pending jobs
        self.is_started = False
        self.is_cancelled = False
        self.result: Any = None
        self.error: BaseException | None = None
        self._work = work
        self._reporter = reporter

    def run(self) -> None:
        """Do the work, unless it was cancelled before, and report to the event loop."""
        self.is_started = True
        if self.is_cancelled:
            return
        try:
            self.result = self._work()
        except StopIteration as error:  # a future cannot have it
            self.error = RuntimeError(f"work raised {error!r}")
            self.error.__cause__ = error
        except BaseException as error:
            self.error = error
        self._reporter.add(self)

    def finish(self) -> None:
        """Give the result to the caller, unless the caller has stopped waiting."""
        if self.future.done():
            return
        if self.error is None:
            self.future.set_result(self.result)
        else:
            self.future.set_exception(self.error)

    def expire(self) -> None:
        """Raise `DeadlineExceeded` in the caller, if it still waits."""
        if not self.future.done():
            self.future.set_exception(DeadlineExceeded())


class _Reporter:
    """Reports finished jobs to an event loop: one call of the loop for all that finish at the same time."""

    def __init__(self, loop: asyncio.AbstractEventLoop, on_finished: Callable[[_Job], None]) -> None:
        self.loop = loop
        self._on_finished = on_finished
        self._finished: deque[_Job] = deque()
        self._is_scheduled = False

    def add(self, job: _Job) -> None:
        """Report a job. Called by its thread."""
        self._finished.append(job)
        if self._is_scheduled:
            return
        self._is_scheduled = True
        with suppress(RuntimeError):  # the event loop has already been closed
            self.loop.call_soon_threadsafe(self._report)

    def _report(self) -> None:
        self._is_scheduled = False  # before the queue is emptied: a job that comes later is scheduled again
        while self._finished:
            job = self._finished.popleft()
            self._on_finished(job)
            job.finish()


class ThreadPool:
    """A few threads behind a bounded queue that all tenants share."""

    def __init__(self, threads: int = DEFAULT_THREADS, max_queued: int = MAX_QUEUED) -> None:
        self._executor = ThreadPoolExecutor(threads, thread_name_prefix="thinkback-pool")
        self._max_queued = max_queued
        self._max_queued_by_tenant = max(1, int(max_queued * MAX_QUEUED_SHARE)) if threads > 1 else max_queued
        self._queue = FairQueue(max(1, threads - max(1, threads // 4)))
        self._pending = 0
        self._pending_by_tenant: Counter[str] = Counter()
        self._reporter: _Reporter | None = None  # of the event loop that used the pool last

    @property
    def pending(self) -> int:
        """The number of jobs that are running or queued."""
        return self._pending

    async def run(self, work: Callable[[], _Result], *, tenant: str = "") -> _Result:
        """Run `work` and wait for it without a time limit. It is finished even if the caller is cancelled."""
        if self._is_full(tenant):
            raise busy("the server has too much queued work: try again in a moment")
        result: _Result = await self._submit(work, tenant).future
        return result

    async def run_within(
        self, seconds: float, work: Callable[[], _Result], *, must_finish: bool = False, tenant: str = ""
    ) -> _Result:
        """Run `work`, or raise `DeadlineExceeded` if the queue is full or the time is over.

        Work that has not started by then is cancelled, so that an overloaded server does no useless work.
        With `must_finish` it is still done; only the waiting ends.
        """
        if self._is_full(tenant) and not must_finish:
            raise DeadlineExceeded
        job = self._submit(work, tenant)
        timer = job.future.get_loop().call_later(seconds, self._expire, job, must_finish)
        try:
            result: _Result = await job.future
        finally:
            timer.cancel()
        return result

    def close(self) -> None:
        """Wait for running and queued work, then stop the threads."""
        self._executor.shutdown(wait=True)

    def _is_full(self, tenant: str) -> bool:
        return (
            self._pending >= self._max_queued or self._pending_by_tenant[tenant] >= self._max_queued_by_tenant
        )

    def _submit(self, work: Callable[[], _Result], tenant: str) -> _Job:
        self._pending += 1
        self._pending_by_tenant[tenant] += 1
        loop = asyncio.get_running_loop()
        if self._reporter is None or self._reporter.loop is not loop:
            self._reporter = _Reporter(loop, self._decrement)
        job = _Job(work, tenant, self._reporter)
        self._queue.put(tenant, job.run)
        self._executor.submit(self._serve)
        return job

    def _expire(self, job: _Job, must_finish: bool) -> None:
        if not must_finish and not job.is_started:
            job.is_cancelled = True
            self._decrement(job)
        job.expire()

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

    def _decrement(self, job: _Job) -> None:
        if not job.is_counted:
            return
        job.is_counted = False
        self._pending -= 1
        self._pending_by_tenant[job.tenant] -= 1
        if not self._pending_by_tenant[job.tenant]:
            del self._pending_by_tenant[job.tenant]
