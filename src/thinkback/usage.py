"""Measure what a call costs: milliseconds per stage, and LLM calls and tokens."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from thinkback.types import Usage


class Stopwatch:
    """Milliseconds per stage: `with watch("embed"): ...`. Times of the same stage add up."""

    def __init__(self) -> None:
        self.ms: dict[str, float] = {}

    @contextmanager
    def __call__(self, stage: str) -> Iterator[None]:
        started = time.perf_counter()
        try:
            yield
        finally:
            self.ms[stage] = self.ms.get(stage, 0.0) + (time.perf_counter() - started) * 1000


class UsageCounter:
    """Counts LLM calls and tokens."""

    def __init__(self) -> None:
        self.calls = 0
        self.prompt_tokens = 0
        self.completion_tokens = 0

    def to_usage(self, ms: dict[str, float]) -> Usage:
        return Usage(self.calls, self.prompt_tokens, self.completion_tokens, ms=ms)


_active_counters: ContextVar[tuple[UsageCounter, ...]] = ContextVar("thinkback_usage", default=())


@contextmanager
def count_usage() -> Iterator[UsageCounter]:
    """Count the usage inside the block, in this thread or asyncio task only. Blocks can be nested."""
    counter = UsageCounter()
    token = _active_counters.set((*_active_counters.get(), counter))
    try:
        yield counter
    finally:
        _active_counters.reset(token)


def record_usage(calls: int, prompt_tokens: int = 0, completion_tokens: int = 0) -> None:
    """Add to all counters that are active in this thread or task."""
    for counter in _active_counters.get():
        counter.calls += calls
        counter.prompt_tokens += prompt_tokens
        counter.completion_tokens += completion_tokens
