"""What tests of the whole memory share: a clock that stands still, and memories that need no model."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from thinkback.memory import Memory

settings.register_profile("busy", deadline=None)  # a law holds on a busy machine too
settings.load_profile("busy")

OpenMemory = Callable[..., Memory]


class FakeClock:
    """Stands still until it is told to go on."""

    def __init__(self) -> None:
        self.now = datetime(2024, 5, 1, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def advance(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def open_memory(tmp_path: Path, clock: FakeClock) -> Iterator[OpenMemory]:
    """Opens memories on one file, without a model and without a background thread unless asked for."""
    opened: list[Memory] = []

    def open_one(path: str | Path = tmp_path / "memory.db", **options: Any) -> Memory:
        chosen = {"embedder": "hashing", "background": False, "clock": clock, **options}
        opened.append(Memory.open(path, **chosen))
        return opened[-1]

    yield open_one
    for memory in opened:
        memory.close()


@pytest.fixture
def memory(open_memory: OpenMemory) -> Memory:
    return open_memory(":memory:")
