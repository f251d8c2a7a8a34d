"""Recall before an answer: skipped rather than queued for, and left alone where it is broken."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from thinkback import Memory
from thinkback.server.options import Options
from thinkback.server.proxy.exchange import ChatQuery
from thinkback.server.proxy.handler import MAX_UNQUEUED_RECALLS, RecallStep
from thinkback.server.proxy.recall_client import ChatTurn, RecalledMemories
from thinkback.server.telemetry import Telemetry
from thinkback.server.thread_pool import DeadlineExceeded

ASKED = ChatQuery(text="Where do I live?")


class Slowly:
    """A clerk whose recalls end when they are let go, each having taken so long by its own account."""

    def __init__(self, seconds: float = 0.0, error: Exception | None = None) -> None:
        self.seconds = seconds
        self.error = error
        self.free = asyncio.Event()
        self.asked = 0

    async def recall(self, memory: Memory, asked: ChatQuery) -> RecalledMemories:
        self.asked += 1
        if self.error is not None:
            raise self.error
        await self.free.wait()
        return RecalledMemories(seconds=self.seconds)

    async def remember(self, memory: Memory, said: ChatTurn) -> str:
        raise AssertionError("nobody asks for that here")

    async def close(self) -> None: ...


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(tmp_path / "m.db", embedder="hashing", background=False) as memory:
        yield memory


def test_a_long_queue_is_not_joined(memory: Memory) -> None:
    async def story() -> None:
        clerk = Slowly(seconds=0.1)
        recalling = RecallStep(Options(recall_timeout_seconds=0.25), clerk, Telemetry())
        clerk.free.set()
        for _ in range(40):  # it learns what a recall takes
            await recalling.run(memory, ASKED)
        clerk.free.clear()
        first = [asyncio.ensure_future(recalling.run(memory, ASKED)) for _ in range(MAX_UNQUEUED_RECALLS)]
        await asyncio.sleep(0)
        late = await recalling.run(memory, ASKED)
        assert late.status == "skipped; reason=busy"
        clerk.free.set()
        assert [found.skipped for found in await asyncio.gather(*first)] == [""] * MAX_UNQUEUED_RECALLS
        assert (await recalling.run(memory, ASKED)).skipped == ""

    asyncio.run(story())


def test_where_recall_is_quick_many_go_at_once(memory: Memory) -> None:
    async def story() -> None:
        clerk = Slowly(seconds=0.0001)
        recalling = RecallStep(Options(recall_timeout_seconds=0.25), clerk, Telemetry())
        many = [asyncio.ensure_future(recalling.run(memory, ASKED)) for _ in range(50)]
        await asyncio.sleep(0)
        clerk.free.set()
        assert not any(found.skipped for found in await asyncio.gather(*many))

    asyncio.run(story())


@pytest.mark.parametrize(("error", "reason"), [(DeadlineExceeded(), "slow"), (ValueError("x"), "broken")])
def test_a_recall_that_fails_costs_no_chat(memory: Memory, error: Exception, reason: str) -> None:
    async def story() -> list[str]:
        recalling = RecallStep(Options(), clerk, Telemetry())
        return [(await recalling.run(memory, ASKED)).skipped for _ in range(8)]

    clerk = Slowly(error=error)
    skipped = asyncio.run(story())
    assert skipped[0] == reason
    if reason == "broken":
        assert skipped[-1] == "busy"
        assert clerk.asked < 8, "what is broken again and again is left alone"
    else:
        assert clerk.asked == 8


def test_nothing_is_looked_for_where_nothing_is_asked(memory: Memory) -> None:
    clerk = Slowly()
    recalling = RecallStep(Options(), clerk, Telemetry())
    assert asyncio.run(recalling.run(memory, ChatQuery(text="  "))) == RecalledMemories()
    assert clerk.asked == 0
