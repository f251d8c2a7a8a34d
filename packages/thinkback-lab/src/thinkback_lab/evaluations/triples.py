"""Triples extracted from KdConv dialogues, scored against the annotated knowledge."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import count
from statistics import fmean
from time import perf_counter
from typing import TYPE_CHECKING, Any

from thinkback_lab.cases import take_sample
from thinkback_lab.datasets.kdconv import Dialogue
from thinkback_lab.evaluations.triple_matching import DialogueMatch, match_dialogue
from thinkback_lab.harness import Harness, ManualClock, Setup
from thinkback_lab.progress import ProgressCallback, no_progress

if TYPE_CHECKING:
    from rich.table import Table


START_AT = datetime(2024, 1, 1, 9, tzinfo=UTC)
TURN_INTERVAL = timedelta(minutes=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayedDialogue:
    """One dialogue, or as much of it as was played."""

    dialogue: Dialogue
    matched: DialogueMatch
    turn_ms: tuple[float, ...]
    unprocessed_turns: int  # turns that could not be thought over: a model failed


def choose_dialogues(dialogues: Sequence[Dialogue], limit: int | None, seed: int | None) -> list[Dialogue]:
    """Dialogues of `limit` turns in all, the last one cut short: the first, or with a seed any."""
    ordered = take_sample(dialogues, min(limit, len(dialogues)) if limit else None, seed)
    if limit is None:
        return ordered
    chosen: list[Dialogue] = []
    for dialogue in ordered:
        left = limit - sum(len(each.exchanges) for each in chosen)
        if left <= 0:
            break
        chosen.append(Dialogue(dialogue.id, dialogue.domain, dialogue.exchanges[:left]))
    return chosen


def run_triples(
    dialogues: Sequence[Dialogue], setup: Setup, on_progress: ProgressCallback = no_progress
) -> list[PlayedDialogue]:
    """Every dialogue in turn; `report` counts turns, for a model may take a minute over one."""
    stage = Harness(setup)
    total = sum(len(each.exchanges) for each in dialogues)
    done = count(1)
    return [_play_dialogue(stage, each, lambda: on_progress(next(done), total)) for each in dialogues]


def _play_dialogue(stage: Harness, dialogue: Dialogue, step: Callable[[], None]) -> PlayedDialogue:
    clock = ManualClock(START_AT)
    turn_ms: list[float] = []
    with stage.open(clock) as memory:
        for exchange in dialogue.exchanges:
            clock.now += TURN_INTERVAL
            started = perf_counter()
            memory.remember(exchange.query, exchange.response)
            memory.post_think()
            turn_ms.append((perf_counter() - started) * 1000)
            step()
        clock.now += timedelta(days=1)
        memory.post_think()  # what a model failed to think over is tried once more
        stats = memory.stats()
        return PlayedDialogue(
            dialogue=dialogue,
            matched=match_dialogue(dialogue.exchanges, memory.thoughts(current=False)),
            turn_ms=tuple(turn_ms),
            unprocessed_turns=stats.pending + stats.failed,
        )


def summarise_triples(played: Sequence[PlayedDialogue], settings: Mapping[str, object]) -> dict[str, Any]:
    """`n` counts turns; figures are over all dialogues together, not means of theirs."""
    domains = sorted({each.dialogue.domain for each in played})
    return {
        "dataset": "triples",
        "scheme": "thinkback",
        "settings": dict(settings),
        "n": _count_turns(played),
        "metrics": _match_figures(played),
        "by_category": {
            domain: {"n": _count_turns(chosen), **_match_figures(chosen)}
            for domain in domains
            if (chosen := [each for each in played if each.dialogue.domain == domain])
        },
        "wrong": [
            {"id": each.dialogue.id, "s": wrong.subject, "r": wrong.relation, "o": wrong.object}
            for each in played
            for wrong in each.matched.wrong
        ],
    }


def triples_table(summary: Mapping[str, Any]) -> Table:
    """Domains, then all."""
    from rich.table import Table

    grid = Table(box=None, pad_edge=False, header_style="bold")
    grid.add_column("triples")
    for title in ("turns", "precision", "recall", "F1", "recall of said", "pair F1", "ms a turn"):
        grid.add_column(title, justify="right")
    groups = (*summary["by_category"].items(), ("all", {"n": summary["n"], **summary["metrics"]}))
    for name, figures in groups:
        triple = figures["triple"]
        shares = (
            triple["precision"],
            triple["recall"],
            triple["f1"],
            triple["recall_said"],
            figures["pair"]["f1"],
        )
        cells = ("-" if share is None else f"{share:.3f}" for share in shares)
        grid.add_row(name, str(figures["n"]), *cells, f"{figures['ms_per_turn']:.1f}")
    return grid


def _count_turns(played: Sequence[PlayedDialogue]) -> int:
    return sum(len(each.turn_ms) for each in played)


def _match_figures(played: Sequence[PlayedDialogue]) -> dict[str, Any]:
    whole = sum((each.matched for each in played), DialogueMatch())
    return {
        "triple": whole.triple.figures,
        "pair": whole.pair.figures,
        "about_user": whole.about_user,
        "misattributed": whole.misattributed,
        "from_prose": whole.from_prose,
        "unthought": sum(each.unprocessed_turns for each in played),
        "dialogues": len(played),
        "ms_per_turn": round(fmean([ms for each in played for ms in each.turn_ms]), 3),
    }
