"""Thread pool for blocking work of the event loop, with a bounded queue and deadlines."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import TypeVar

from thinkback.server.errors import busy

DEFAULT_THREADS = min(32, 4 * (os.cpu_count() or 1))
MAX_QUEUED = 512

_Result = TypeVar("_Result")


class DeadlineExceeded(Exception):
    """The work did not finish in time. If it has started, it continues and its result is dropped."""


class ThreadPool:
    """A few threads behind a bounded queue."""

    def __init__(self, threads: int = DEFAULT_THREADS, max_queued: int = MAX_QUEUED) -> None:
        self._executor = ThreadPoolExecutor(threads, thread_name_prefix="thinkback-pool")
        self._max_queued = max_queued
        self._pending = 0

    @property
    def pending(self) -> int:
        """The number of jobs that are running or queued."""
        return self._pending

    async def run(self, work: Callable[[], _Result]) -> _Result:
        """Run `work` and wait for it without a time limit. It is finished even if the caller is cancelled."""
        if self._pending >= self._max_queued:
            raise busy("the server has too much queued work: try again in a moment")
        return await asyncio.shield(asyncio.wrap_future(self._submit(work)))

    async def run_within(
        self, seconds: float, work: Callable[[], _Result], *, must_finish: bool = False
    ) -> _Result:
        """Run `work`, or raise `DeadlineExceeded` if the queue is full or the time is over.

        Work that has not started by then is cancelled, so that an overloaded server does no useless work.
        With `must_finish` it is still done; only the waiting ends.
        """
        if self._pending >= self._max_queued and not must_finish:
            raise DeadlineExceeded
        future = self._submit(work)
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

    def _submit(self, work: Callable[[], _Result]) -> Future[_Result]:
        self._pending += 1
        loop = asyncio.get_running_loop()
        future = self._executor.submit(work)

        def on_done(_: Future[_Result]) -> None:
            with suppress(RuntimeError):  # the event loop has already been closed
                loop.call_soon_threadsafe(self._decrement)

        future.add_done_callback(on_done)
        return future

    def _decrement(self) -> None:
        self._pending -= 1


def _retrieve_exception(future: asyncio.Future[_Result]) -> None:
    """Mark the exception as retrieved, so that asyncio does not log it as never retrieved."""
    if not future.cancelled():
        future.exception()
