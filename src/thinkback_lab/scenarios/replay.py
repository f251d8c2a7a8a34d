"""Replay: the turns into an empty space at their own times, post-think each, then recall at `now`."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from time import perf_counter
from typing import Literal

from thinkback import LLM, Embedder, Memory, Recollection, Thought
from thinkback_lab.scenarios.format import Scenario

Think = Literal["auto", "rules", "llm"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """How memory is put together for a run: the names that `Memory.open` takes."""

    llm: str | None = None
    embedder: str = "minilm"
    preset: str = "hybrid"
    think: Think = "auto"


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """What came of one scenario: a recollection for each probe, the thoughts held, and the time it took."""

    recalled: tuple[Recollection, ...]
    thoughts: tuple[Thought, ...]
    turn_ms: tuple[float, ...]
    probe_ms: tuple[float, ...]
    unthought: int  # turns that could not be thought over: a model failed


class Clock:
    """A clock that stands where it was set."""

    def __init__(self) -> None:
        self.now = datetime(1970, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


class Stage:
    """Where scenarios are played: each in a store of its own, the models loaded once for all."""

    def __init__(self, setup: Setup) -> None:
        self._setup = setup
        with _opened(setup, setup.llm, setup.embedder, Clock()) as memory:
            self._llm, self._embedder = memory.llm, memory.embedder
            if self._llm is None:  # what is loaded at first use is nobody's turn
                memory.remember("I warm up. 我在热身。")
                memory.post_think()
                memory.recall("Who warms up?")

    def play(self, scenario: Scenario) -> Played:
        clock = Clock()
        turn_ms: list[float] = []
        probe_ms: list[float] = []
        recalled: list[Recollection] = []
        with _opened(self._setup, self._llm, self._embedder, clock) as memory:
            for turn in scenario.turns:
                clock.now = turn.at
                started = perf_counter()
                memory.remember(turn.user, turn.assistant, at=turn.at)
                memory.post_think()
                turn_ms.append(_since(started))
            for probe in scenario.probes:
                clock.now = probe.now or scenario.turns[-1].at
                memory.post_think()  # what a model failed to think over is tried once more
                started = perf_counter()
                recalled.append(memory.recall(probe.question, k=probe.k))
                probe_ms.append(_since(started))
            stats = memory.stats()
            return Played(
                recalled=tuple(recalled),
                thoughts=tuple(memory.thoughts()),
                turn_ms=tuple(turn_ms),
                probe_ms=tuple(probe_ms),
                unthought=stats.pending + stats.failed,
            )


def _opened(setup: Setup, llm: LLM | str | None, embedder: Embedder | str, clock: Clock) -> Memory:
    return Memory.open(
        ":memory:",
        llm=llm,
        embedder=embedder,
        think=setup.think,
        preset=setup.preset,
        background=False,
        clock=clock,
    )


def _since(started: float) -> float:
    return (perf_counter() - started) * 1000
