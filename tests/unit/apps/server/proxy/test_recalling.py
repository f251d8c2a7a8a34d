"""Recall before an answer: skipped rather than queued for, and left alone where it is broken."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from thinkback import Memory
from thinkback.apps.server.desk import TooSlow
from thinkback.apps.server.options import Options
from thinkback.apps.server.proxy.asked import Asked
from thinkback.apps.server.proxy.clerks.clerk import Exchanged, Found
from thinkback.apps.server.proxy.recalling import AT_ONCE, Recalling
from thinkback.apps.server.telemetry import Telemetry

ASKED = Asked(text="Where do I live?")


class Slowly:
    """A clerk whose recalls end when they are let go, each having taken so long by its own account."""

    def __init__(self, seconds: float = 0.0, error: Exception | None = None) -> None:
        self.seconds = seconds
        self.error = error
        self.free = asyncio.Event()
        self.asked = 0

    async def recall(self, memory: Memory, asked: Asked) -> Found:
        self.asked += 1
        if self.error is not None:
            raise self.error
        await self.free.wait()
        return Found(seconds=self.seconds)

    async def remember(self, memory: Memory, said: Exchanged) -> str:
        raise AssertionError("nobody asks for that here")

    async def close(self) -> None: ...


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(tmp_path / "m.db", embedder="hashing", background=False) as memory:
        yield memory


def test_a_long_queue_is_not_joined(memory: Memory) -> None:
    async def story() -> None:
        clerk = Slowly(seconds=0.1)
        recalling = Recalling(Options(recall_s=0.25), clerk, Telemetry())
        clerk.free.set()
        for _ in range(40):  # it learns what a recall takes
            await recalling.before(memory, ASKED)
        clerk.free.clear()
        first = [asyncio.ensure_future(recalling.before(memory, ASKED)) for _ in range(AT_ONCE)]
        await asyncio.sleep(0)
        late = await recalling.before(memory, ASKED)
        assert late.told == "skipped; reason=busy"
        clerk.free.set()
        assert [found.skipped for found in await asyncio.gather(*first)] == [""] * AT_ONCE
        assert (await recalling.before(memory, ASKED)).skipped == ""

    asyncio.run(story())


def test_where_recall_is_quick_many_go_at_once(memory: Memory) -> None:
    async def story() -> None:
        clerk = Slowly(seconds=0.0001)
        recalling = Recalling(Options(recall_s=0.25), clerk, Telemetry())
        many = [asyncio.ensure_future(recalling.before(memory, ASKED)) for _ in range(50)]
        await asyncio.sleep(0)
        clerk.free.set()
        assert not any(found.skipped for found in await asyncio.gather(*many))

    asyncio.run(story())


@pytest.mark.parametrize(("error", "reason"), [(TooSlow(), "slow"), (ValueError("x"), "broken")])
def test_a_recall_that_fails_costs_no_chat(memory: Memory, error: Exception, reason: str) -> None:
    async def story() -> list[str]:
        recalling = Recalling(Options(), clerk, Telemetry())
        return [(await recalling.before(memory, ASKED)).skipped for _ in range(8)]

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
    recalling = Recalling(Options(), clerk, Telemetry())
    assert asyncio.run(recalling.before(memory, Asked(text="  "))) == Found()
    assert clerk.asked == 0
