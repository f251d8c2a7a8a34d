"""Recall before a chat: skipped if overloaded, slow or broken."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from thinkback import Memory
from thinkback.server.proxy.exchange import ChatQuery
from thinkback.server.proxy.handler import MAX_UNQUEUED_RECALLS, RecallStep
from thinkback.server.proxy.recall_client import ChatTurn, RecalledMemories
from thinkback.server.services import Options
from thinkback.server.telemetry import Telemetry
from thinkback.server.thread_pool import DeadlineExceeded

ASKED = ChatQuery(text="Where do I live?")


class Slowly:
    """A recall client whose recalls end when released, and report `seconds` as their processor time."""

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
        return RecalledMemories(seconds=self.seconds, cpu_seconds=self.seconds)

    async def remember(self, memory: Memory, said: ChatTurn) -> str:
        raise AssertionError("nobody asks for that here")

    def on_reconnect(self, callback: Callable[[], None]) -> None: ...

    async def close(self) -> None: ...


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(tmp_path / "m.db", embedder="hashing", background=False) as memory:
        yield memory


def test_recall_is_skipped_if_queue_is_long(memory: Memory) -> None:
    async def story() -> None:
        recall_client = Slowly(seconds=0.1)
        recalling = RecallStep(Options(recall_timeout_seconds=0.25), recall_client, Telemetry())
        recall_client.free.set()
        for _ in range(40):  # to learn the average duration
            await recalling.run(memory, ASKED)
        recall_client.free.clear()
        first = [asyncio.ensure_future(recalling.run(memory, ASKED)) for _ in range(MAX_UNQUEUED_RECALLS)]
        await asyncio.sleep(0)
        late = await recalling.run(memory, ASKED)
        assert late.status == "skipped; reason=busy"
        recall_client.free.set()
        assert [found.skipped for found in await asyncio.gather(*first)] == [""] * MAX_UNQUEUED_RECALLS
        assert (await recalling.run(memory, ASKED)).skipped == ""

    asyncio.run(story())


@pytest.mark.parametrize(
    ("workers", "recallers", "skipped"), [(1, 1, "busy"), (1, 4, ""), (4, 4, "busy"), (4, 16, "")]
)
def test_recall_processes_share_the_recalls_of_all_workers(
    memory: Memory, workers: int, recallers: int, skipped: str
) -> None:
    async def story() -> str:
        recall_client = Slowly(seconds=0.1)
        options = Options(workers=workers, recall_sockets=("socket",) * recallers)
        recalling = RecallStep(options, recall_client, Telemetry())
        recall_client.free.set()
        for _ in range(40):
            await recalling.run(memory, ASKED)
        recall_client.free.clear()
        first = [asyncio.ensure_future(recalling.run(memory, ASKED)) for _ in range(MAX_UNQUEUED_RECALLS)]
        await asyncio.sleep(0)
        late = asyncio.ensure_future(recalling.run(memory, ASKED))
        await asyncio.sleep(0)
        recall_client.free.set()
        await asyncio.gather(*first)
        return (await late).skipped

    assert asyncio.run(story()) == skipped


def test_fast_recalls_run_concurrently(memory: Memory) -> None:
    async def story() -> None:
        recall_client = Slowly(seconds=0.0001)
        recalling = RecallStep(Options(recall_timeout_seconds=0.25), recall_client, Telemetry())
        many = [asyncio.ensure_future(recalling.run(memory, ASKED)) for _ in range(50)]
        await asyncio.sleep(0)
        recall_client.free.set()
        assert not any(found.skipped for found in await asyncio.gather(*many))

    asyncio.run(story())


@pytest.mark.parametrize(("error", "reason"), [(DeadlineExceeded(), "slow"), (ValueError("x"), "broken")])
def test_failed_recall_is_skipped(memory: Memory, error: Exception, reason: str) -> None:
    async def story() -> list[str]:
        recalling = RecallStep(Options(), recall_client, Telemetry())
        return [(await recalling.run(memory, ASKED)).skipped for _ in range(8)]

    recall_client = Slowly(error=error)
    skipped = asyncio.run(story())
    assert skipped[0] == reason
    if reason == "broken":
        assert skipped[-1] == "busy"
        assert recall_client.asked < 8, "the breaker must limit failing recalls"
    else:
        assert recall_client.asked == 8


def test_empty_query_is_not_recalled(memory: Memory) -> None:
    recall_client = Slowly()
    recalling = RecallStep(Options(), recall_client, Telemetry())
    assert asyncio.run(recalling.run(memory, ChatQuery(text="  "))) == RecalledMemories()
    assert recall_client.asked == 0
