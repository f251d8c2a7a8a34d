"""The thread pool: deadlines, a bounded queue, and no useless work."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from functools import partial

import pytest

from thinkback.server.errors import RequestRefused
from thinkback.server.thread_pool import DeadlineExceeded, FairQueue, ThreadPool


@pytest.fixture
def pool() -> Iterator[ThreadPool]:
    pool = ThreadPool(threads=1, max_queued=3)
    yield pool
    pool.close()


def test_work_runs_in_another_thread(pool: ThreadPool) -> None:
    assert asyncio.run(pool.run(threading.get_ident)) != threading.get_ident()


def test_error_reaches_the_caller(pool: ThreadPool) -> None:
    with pytest.raises(ZeroDivisionError):
        asyncio.run(pool.run(lambda: 1 // 0))
    with pytest.raises(ZeroDivisionError):
        asyncio.run(pool.run_within(5, lambda: 1 // 0))


def test_deadline_cancels_work_that_has_not_started(pool: ThreadPool) -> None:
    free, begun = threading.Event(), threading.Event()
    done: list[str] = []

    def slow() -> None:
        begun.set()
        free.wait(10)
        done.append("begun")

    async def ask() -> None:
        first = asyncio.ensure_future(pool.run_within(0.05, slow))
        await asyncio.to_thread(begun.wait, 10)
        with pytest.raises(DeadlineExceeded):
            await pool.run_within(0.01, lambda: done.append("never begun"))
        with pytest.raises(DeadlineExceeded):
            await first
        free.set()
        assert await pool.run(lambda: "next") == "next"

    asyncio.run(ask())
    assert done == ["begun"]


def test_full_queue_refuses_at_once(pool: ThreadPool) -> None:
    free = threading.Event()

    async def ask() -> None:
        waiting = [asyncio.ensure_future(pool.run(lambda: free.wait(10))) for _ in range(3)]
        await asyncio.sleep(0)
        assert pool.pending == 3
        with pytest.raises(RequestRefused, match="try again"):
            await pool.run(lambda: None)
        with pytest.raises(DeadlineExceeded):
            await pool.run_within(10, lambda: None)
        free.set()
        assert await asyncio.gather(*waiting) == [True] * 3
        await asyncio.sleep(0.01)
        assert pool.pending == 0

    asyncio.run(ask())


def test_cancelled_caller_does_not_stop_work(pool: ThreadPool) -> None:
    free = threading.Event()
    done: list[str] = []

    def work() -> None:
        free.wait(10)
        done.append("done")

    async def ask() -> None:
        asked = asyncio.ensure_future(pool.run(work))
        await asyncio.sleep(0.01)
        asked.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asked
        free.set()
        await pool.run(lambda: None)

    asyncio.run(ask())
    assert done == ["done"]


def test_stop_iteration_reaches_the_caller_and_the_next_job_is_reported(pool: ThreadPool) -> None:
    async def ask() -> tuple[object, object]:
        empty: Iterator[str] = iter(())
        return await asyncio.gather(
            pool.run(lambda: next(empty)), pool.run(lambda: "next"), return_exceptions=True
        )

    error, result = asyncio.run(ask())
    assert isinstance(error, RuntimeError)
    assert result == "next"


def test_each_event_loop_gets_its_results(pool: ThreadPool) -> None:
    for number in range(3):
        assert asyncio.run(pool.run_within(5, lambda number=number: number)) == number  # type: ignore[misc]
    assert pool.pending == 0


def test_all_results_arrive() -> None:
    pool = ThreadPool(threads=8, max_queued=2000)

    async def ask() -> list[int]:
        jobs = (
            pool.run_within(30, partial(pow, number, 2), tenant=str(number % 7)) for number in range(1000)
        )
        return await asyncio.gather(*jobs)

    assert asyncio.run(ask()) == [number**2 for number in range(1000)]
    assert pool.pending == 0
    pool.close()


def test_cancelled_work_leaves_the_queue_at_once(pool: ThreadPool) -> None:
    free = threading.Event()

    async def ask() -> None:
        slow = asyncio.ensure_future(pool.run(lambda: free.wait(10)))
        await asyncio.sleep(0)
        with pytest.raises(DeadlineExceeded):
            await pool.run_within(0.01, lambda: None)
        assert pool.pending == 1
        free.set()
        assert await slow
        assert pool.pending == 0

    asyncio.run(ask())


def test_late_error_is_not_logged(pool: ThreadPool, caplog: pytest.LogCaptureFixture) -> None:
    free = threading.Event()

    def fail() -> None:
        free.wait(10)
        raise ValueError("late")

    async def ask() -> None:
        with pytest.raises(DeadlineExceeded):
            await pool.run_within(0.01, fail)
        free.set()
        await pool.run(lambda: None)
        await asyncio.sleep(0.01)

    asyncio.run(ask())
    assert "late" not in caplog.text


def test_tenants_take_turns() -> None:
    queue = FairQueue(max_running=1)
    served: list[str] = []
    for number in range(3):
        queue.put("big", partial(served.append, f"big {number}"))
    queue.put("small", partial(served.append, "small"))
    while (taken := queue.take()) is not None:
        tenant, work = taken
        work()
        queue.done(tenant)
    assert served == ["big 0", "small", "big 1", "big 2"]


def test_one_tenant_never_has_all_threads() -> None:
    pool, free = ThreadPool(threads=4, max_queued=40), threading.Event()

    async def ask() -> str:
        slow = [asyncio.ensure_future(pool.run(lambda: free.wait(10), tenant="big")) for _ in range(20)]
        await asyncio.sleep(0.05)
        answer = await pool.run_within(5, lambda: "answered", tenant="small")
        free.set()
        assert await asyncio.gather(*slow) == [True] * 20
        return answer

    assert asyncio.run(ask()) == "answered"
    pool.close()


def test_one_tenant_never_fills_the_queue() -> None:
    pool, free = ThreadPool(threads=2, max_queued=8), threading.Event()

    async def ask() -> None:
        slow = [asyncio.ensure_future(pool.run(lambda: free.wait(10), tenant="big")) for _ in range(6)]
        await asyncio.sleep(0)
        with pytest.raises(RequestRefused):
            await pool.run(lambda: None, tenant="big")
        assert await pool.run(lambda: "next", tenant="small") == "next"
        free.set()
        await asyncio.gather(*slow)

    asyncio.run(ask())
    pool.close()
