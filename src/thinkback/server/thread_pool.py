"""Where blocking work is done for the event loop: in a few threads, within its time or not at all."""

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
    """The work was not done within its time: if it was begun it goes on, and nobody waits for it."""


class ThreadPool:
    """A bounded queue before a few threads."""

    def __init__(self, threads: int = DEFAULT_THREADS, max_queued: int = MAX_QUEUED) -> None:
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="thinkback-desk")
        self._waiting = max_queued
        self._in_hand = 0

    @property
    def pending(self) -> int:
        """How much is being done or waits for it."""
        return self._in_hand

    async def run(self, work: Callable[[], _Result]) -> _Result:
        """Its result, however long it takes. If the caller is cancelled the work goes on to its end."""
        if self._in_hand >= self._waiting:
            raise busy("too much is waiting to be done here: try again in a moment")
        return await asyncio.shield(asyncio.wrap_future(self._submit(work)))

    async def run_within(
        self, seconds: float, work: Callable[[], _Result], *, must_finish: bool = False
    ) -> _Result:
        """Its result, or TooSlow when the time is over or the queue is full: then nobody waits.

        What was not begun by then never is, so that under load no thread works for nobody; unless it must
        `surely` be done: then it is, and only the waiting ends.
        """
        if self._in_hand >= self._waiting and not must_finish:
            raise DeadlineExceeded
        future = self._submit(work)
        asked = asyncio.wrap_future(future)
        asked.add_done_callback(_retrieve_exception)  # whoever waits may be cancelled too
        done, _ = await asyncio.wait((asked,), timeout=seconds)
        if not done:
            if not must_finish:
                future.cancel()
            raise DeadlineExceeded
        return asked.result()

    def close(self) -> None:
        """After the work in hand."""
        self._pool.shutdown(wait=True)

    def _submit(self, work: Callable[[], _Result]) -> Future[_Result]:
        self._in_hand += 1
        loop = asyncio.get_running_loop()
        future = self._pool.submit(work)

        def done(_: Future[_Result]) -> None:
            with suppress(RuntimeError):  # the server has ended before its work: nobody counts any more
                loop.call_soon_threadsafe(self._done)

        future.add_done_callback(done)
        return future

    def _done(self) -> None:
        self._in_hand -= 1


def _retrieve_exception(asked: asyncio.Future[_Result]) -> None:
    """Take the error of work that nobody waits for, so that it is not reported as forgotten."""
    if not asked.cancelled():
        asked.exception()
