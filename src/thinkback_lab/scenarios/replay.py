"""Replay: the turns into an empty memory at their own times, post-think each, then recall at `now`.

Another memory system than thinkback is told the same turns; all that it recalls counts as raw fragments.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter

from thinkback import Thought
from thinkback_lab.cases import Item
from thinkback_lab.scenarios.format import Scenario
from thinkback_lab.scenarios.judge import Recalled, came_back
from thinkback_lab.schemes.scheme import Remembers
from thinkback_lab.stage import Clock, Stage


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """What came of one scenario: what each probe brought back, the thoughts held, and the time it took."""

    recalled: tuple[tuple[Recalled, ...], ...]
    thoughts: tuple[Thought, ...] | None  # None: a memory system that has none
    turn_ms: tuple[float, ...]
    probe_ms: tuple[float, ...]
    unthought: int  # turns that could not be thought over: a model failed


def play(stage: Stage, scenario: Scenario) -> Played:
    clock = Clock()
    turn_ms: list[float] = []
    probe_ms: list[float] = []
    recalled: list[tuple[Recalled, ...]] = []
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
            recollection = memory.recall(probe.question, k=probe.k)
            probe_ms.append(_since(started))
            recalled.append(came_back(recollection))
        stats = memory.stats()
        return Played(
            recalled=tuple(recalled),
            thoughts=tuple(memory.thoughts()),
            turn_ms=tuple(turn_ms),
            probe_ms=tuple(probe_ms),
            unthought=stats.pending + stats.failed,
        )


def play_elsewhere(memory: Remembers, scenario: Scenario) -> Played:
    """The same with another memory system."""
    turn_ms: list[float] = []
    probe_ms: list[float] = []
    recalled: list[tuple[Recalled, ...]] = []
    for number, turn in enumerate(scenario.turns, start=1):
        started = perf_counter()
        memory.tell([Item(id=f"turn:{number}", query=turn.user, response=turn.assistant, at=turn.at)])
        turn_ms.append(_since(started))
    for probe in scenario.probes:
        started = perf_counter()
        found = memory.recall(probe.question, probe.k, probe.now or scenario.turns[-1].at)
        probe_ms.append(_since(started))
        recalled.append(tuple(Recalled(", ".join(each.sources), each.text, False) for each in found))
    return Played(
        recalled=tuple(recalled),
        thoughts=None,
        turn_ms=tuple(turn_ms),
        probe_ms=tuple(probe_ms),
        unthought=0,
    )


def _since(started: float) -> float:
    return (perf_counter() - started) * 1000
