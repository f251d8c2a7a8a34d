"""The desk: blocking work off the event loop, within its time, and never for nobody."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator

import pytest

from thinkback.apps.server.desk import Desk, TooSlow
from thinkback.apps.server.faults import Refused


@pytest.fixture
def desk() -> Iterator[Desk]:
    desk = Desk(threads=1, waiting=3)
    yield desk
    desk.close()


def test_work_is_done_in_another_thread(desk: Desk) -> None:
    assert asyncio.run(desk.do(threading.get_ident)) != threading.get_ident()


def test_an_error_reaches_who_asked(desk: Desk) -> None:
    with pytest.raises(ZeroDivisionError):
        asyncio.run(desk.do(lambda: 1 // 0))
    with pytest.raises(ZeroDivisionError):
        asyncio.run(desk.within(5, lambda: 1 // 0))


def test_slow_work_is_not_waited_for_and_what_was_not_begun_never_is(desk: Desk) -> None:
    free, begun = threading.Event(), threading.Event()
    done: list[str] = []

    def slow() -> None:
        begun.set()
        free.wait(10)
        done.append("begun")

    async def ask() -> None:
        first = asyncio.ensure_future(desk.within(0.05, slow))
        await asyncio.to_thread(begun.wait, 10)
        with pytest.raises(TooSlow):
            await desk.within(0.01, lambda: done.append("never begun"))
        with pytest.raises(TooSlow):
            await first
        free.set()
        assert await desk.do(lambda: "next") == "next"

    asyncio.run(ask())
    assert done == ["begun"]


def test_a_full_desk_refuses_at_once(desk: Desk) -> None:
    free = threading.Event()

    async def ask() -> None:
        waiting = [asyncio.ensure_future(desk.do(lambda: free.wait(10))) for _ in range(3)]
        await asyncio.sleep(0)
        assert desk.in_hand == 3
        with pytest.raises(Refused, match="try again"):
            await desk.do(lambda: None)
        with pytest.raises(TooSlow):
            await desk.within(10, lambda: None)
        free.set()
        assert await asyncio.gather(*waiting) == [True] * 3
        await asyncio.sleep(0.01)
        assert desk.in_hand == 0

    asyncio.run(ask())


def test_who_goes_away_does_not_stop_the_work(desk: Desk) -> None:
    free = threading.Event()
    done: list[str] = []

    def work() -> None:
        free.wait(10)
        done.append("done")

    async def ask() -> None:
        asked = asyncio.ensure_future(desk.do(work))
        await asyncio.sleep(0.01)
        asked.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asked
        free.set()
        await desk.do(lambda: None)

    asyncio.run(ask())
    assert done == ["done"]


def test_a_late_error_nobody_waits_for_is_no_noise(desk: Desk, caplog: pytest.LogCaptureFixture) -> None:
    free = threading.Event()

    def fail() -> None:
        free.wait(10)
        raise ValueError("late")

    async def ask() -> None:
        with pytest.raises(TooSlow):
            await desk.within(0.01, fail)
        free.set()
        await desk.do(lambda: None)
        await asyncio.sleep(0.01)

    asyncio.run(ask())
    assert "late" not in caplog.text
