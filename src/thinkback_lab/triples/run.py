"""Replay dialogues turn by turn, one memory each, and match what was drawn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import count
from time import perf_counter

from thinkback_lab.datasets.kdconv import Dialogue
from thinkback_lab.progress import Report, silent
from thinkback_lab.sample import sample
from thinkback_lab.stage import Clock, Setup, Stage
from thinkback_lab.triples.match import Matched, match

START = datetime(2024, 1, 1, 9, tzinfo=UTC)
BETWEEN = timedelta(minutes=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """One dialogue, or as much of it as was played."""

    dialogue: Dialogue
    matched: Matched
    turn_ms: tuple[float, ...]
    unthought: int  # turns that could not be thought over: a model failed


def choose(dialogues: Sequence[Dialogue], limit: int | None, seed: int | None) -> list[Dialogue]:
    """Dialogues of `limit` turns in all, the last one cut short: the first, or with a seed any."""
    ordered = sample(dialogues, min(limit, len(dialogues)) if limit else None, seed)
    if limit is None:
        return ordered
    chosen: list[Dialogue] = []
    for dialogue in ordered:
        left = limit - sum(len(each.exchanges) for each in chosen)
        if left <= 0:
            break
        chosen.append(Dialogue(dialogue.id, dialogue.domain, dialogue.exchanges[:left]))
    return chosen


def run(dialogues: Sequence[Dialogue], setup: Setup, report: Report = silent) -> list[Played]:
    """Every dialogue in turn; `report` counts turns, for a model may take a minute over one."""
    stage = Stage(setup)
    total = sum(len(each.exchanges) for each in dialogues)
    done = count(1)
    return [_play(stage, each, lambda: report(next(done), total)) for each in dialogues]


def _play(stage: Stage, dialogue: Dialogue, step: Callable[[], None]) -> Played:
    clock = Clock(START)
    turn_ms: list[float] = []
    with stage.open(clock) as memory:
        for exchange in dialogue.exchanges:
            clock.now += BETWEEN
            started = perf_counter()
            memory.remember(exchange.query, exchange.response)
            memory.post_think()
            turn_ms.append((perf_counter() - started) * 1000)
            step()
        clock.now += timedelta(days=1)
        memory.post_think()  # what a model failed to think over is tried once more
        stats = memory.stats()
        return Played(
            dialogue=dialogue,
            matched=match(dialogue.exchanges, memory.thoughts(current=False)),
            turn_ms=tuple(turn_ms),
            unthought=stats.pending + stats.failed,
        )
