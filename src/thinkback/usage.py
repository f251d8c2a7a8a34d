"""Measuring what a call costs: milliseconds a stage, and the calls and tokens of language models."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar


class Stopwatch:
    """Milliseconds a stage: `with watch("embed"): ...`; a stage entered again adds up."""

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
    """Calls of language models and their tokens."""

    def __init__(self) -> None:
        self.calls = 0
        self.prompt_tokens = 0
        self.completion_tokens = 0


_active_counters: ContextVar[tuple[UsageCounter, ...]] = ContextVar("thinkback_tallies", default=())


@contextmanager
def count_usage() -> Iterator[UsageCounter]:
    """Counts what is spent inside the block, in this thread (or task) and in no other."""
    tally = UsageCounter()
    token = _active_counters.set((*_active_counters.get(), tally))
    try:
        yield tally
    finally:
        _active_counters.reset(token)


def record_usage(calls: int, prompt_tokens: int = 0, completion_tokens: int = 0) -> None:
    """Put a cost on every tally that is open here."""
    for tally in _active_counters.get():
        tally.calls += calls
        tally.prompt_tokens += prompt_tokens
        tally.completion_tokens += completion_tokens
