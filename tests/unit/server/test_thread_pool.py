"""The desk: blocking work off the event loop, within its time, and never for nobody."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator

import pytest

from thinkback.server.errors import RequestRefused
from thinkback.server.thread_pool import DeadlineExceeded, ThreadPool


@pytest.fixture
def desk() -> Iterator[ThreadPool]:
    desk = ThreadPool(threads=1, max_queued=3)
    yield desk
    desk.close()


def test_work_is_done_in_another_thread(desk: ThreadPool) -> None:
    assert asyncio.run(desk.run(threading.get_ident)) != threading.get_ident()


def test_an_error_reaches_who_asked(desk: ThreadPool) -> None:
    with pytest.raises(ZeroDivisionError):
        asyncio.run(desk.run(lambda: 1 // 0))
    with pytest.raises(ZeroDivisionError):
        asyncio.run(desk.run_within(5, lambda: 1 // 0))


def test_slow_work_is_not_waited_for_and_what_was_not_begun_never_is(desk: ThreadPool) -> None:
    free, begun = threading.Event(), threading.Event()
    done: list[str] = []

    def slow() -> None:
        begun.set()
        free.wait(10)
        done.append("begun")

    async def ask() -> None:
        first = asyncio.ensure_future(desk.run_within(0.05, slow))
        await asyncio.to_thread(begun.wait, 10)
        with pytest.raises(DeadlineExceeded):
            await desk.run_within(0.01, lambda: done.append("never begun"))
        with pytest.raises(DeadlineExceeded):
            await first
        free.set()
        assert await desk.run(lambda: "next") == "next"

    asyncio.run(ask())
    assert done == ["begun"]


def test_a_full_desk_refuses_at_once(desk: ThreadPool) -> None:
    free = threading.Event()

    async def ask() -> None:
        waiting = [asyncio.ensure_future(desk.run(lambda: free.wait(10))) for _ in range(3)]
        await asyncio.sleep(0)
        assert desk.pending == 3
        with pytest.raises(RequestRefused, match="try again"):
            await desk.run(lambda: None)
        with pytest.raises(DeadlineExceeded):
            await desk.run_within(10, lambda: None)
        free.set()
        assert await asyncio.gather(*waiting) == [True] * 3
        await asyncio.sleep(0.01)
        assert desk.pending == 0

    asyncio.run(ask())


def test_who_goes_away_does_not_stop_the_work(desk: ThreadPool) -> None:
    free = threading.Event()
    done: list[str] = []

    def work() -> None:
        free.wait(10)
        done.append("done")

    async def ask() -> None:
        asked = asyncio.ensure_future(desk.run(work))
        await asyncio.sleep(0.01)
        asked.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asked
        free.set()
        await desk.run(lambda: None)

    asyncio.run(ask())
    assert done == ["done"]


def test_a_late_error_nobody_waits_for_is_no_noise(
    desk: ThreadPool, caplog: pytest.LogCaptureFixture
) -> None:
    free = threading.Event()

    def fail() -> None:
        free.wait(10)
        raise ValueError("late")

    async def ask() -> None:
        with pytest.raises(DeadlineExceeded):
            await desk.run_within(0.01, fail)
        free.set()
        await desk.run(lambda: None)
        await asyncio.sleep(0.01)

    asyncio.run(ask())
    assert "late" not in caplog.text
