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


class Tally:
    """Calls of language models and their tokens."""

    def __init__(self) -> None:
        self.calls = 0
        self.prompt_tokens = 0
        self.completion_tokens = 0


_open: ContextVar[tuple[Tally, ...]] = ContextVar("thinkback_tallies", default=())


@contextmanager
def counting() -> Iterator[Tally]:
    """Counts what is spent inside the block, in this thread (or task) and in no other."""
    tally = Tally()
    token = _open.set((*_open.get(), tally))
    try:
        yield tally
    finally:
        _open.reset(token)


def spend(calls: int, prompt_tokens: int = 0, completion_tokens: int = 0) -> None:
    """Put a cost on every tally that is open here."""
    for tally in _open.get():
        tally.calls += calls
        tally.prompt_tokens += prompt_tokens
        tally.completion_tokens += completion_tokens
