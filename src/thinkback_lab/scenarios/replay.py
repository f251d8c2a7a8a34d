"""Replay: the turns into an empty space at their own times, post-think each, then recall at `now`."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter

from thinkback import Recollection, Thought
from thinkback_lab.scenarios.format import Scenario
from thinkback_lab.stage import Clock, Stage


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """What came of one scenario: a recollection for each probe, the thoughts held, and the time it took."""

    recalled: tuple[Recollection, ...]
    thoughts: tuple[Thought, ...]
    turn_ms: tuple[float, ...]
    probe_ms: tuple[float, ...]
    unthought: int  # turns that could not be thought over: a model failed


def play(stage: Stage, scenario: Scenario) -> Played:
    clock = Clock()
    turn_ms: list[float] = []
    probe_ms: list[float] = []
    recalled: list[Recollection] = []
    with stage.open(clock) as memory:
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


def _since(started: float) -> float:
    return (perf_counter() - started) * 1000
