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
    """A dialogue, or the part of it that was played."""

    dialogue: Dialogue
    matched: DialogueMatch
    turn_ms: tuple[float, ...]
    unprocessed_turns: int  # post-think failed for these turns


def choose_dialogues(dialogues: Sequence[Dialogue], limit: int | None, seed: int | None) -> list[Dialogue]:
    """Choose dialogues with `limit` turns in total, the last one truncated; with a seed at random."""
    ordered = take_sample(dialogues, min(limit, len(dialogues)) if limit else None, seed)
    if limit is None:
        return ordered
    selected: list[Dialogue] = []
    for dialogue in ordered:
        left = limit - sum(len(each.exchanges) for each in selected)
        if left <= 0:
            break
        selected.append(Dialogue(dialogue.id, dialogue.domain, dialogue.exchanges[:left]))
    return selected


def run_triples(
    dialogues: Sequence[Dialogue], setup: Setup, on_progress: ProgressCallback = no_progress
) -> list[PlayedDialogue]:
    """Run all dialogues; progress counts turns, because a model may need a minute for one."""
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
        memory.post_think()  # retry turns whose post-think failed
        stats = memory.stats()
        return PlayedDialogue(
            dialogue=dialogue,
            matched=match_dialogue(dialogue.exchanges, memory.thoughts(current=False)),
            turn_ms=tuple(turn_ms),
            unprocessed_turns=stats.pending + stats.failed,
        )


def summarise_triples(played: Sequence[PlayedDialogue], settings: Mapping[str, object]) -> dict[str, Any]:
    """Results in the common form; `n` counts turns, and figures are over all dialogues together."""
    domains = sorted({each.dialogue.domain for each in played})
    return {
        "dataset": "triples",
        "scheme": "thinkback",
        "settings": dict(settings),
        "n": _count_turns(played),
        "metrics": _match_figures(played),
        "by_category": {
            domain: {"n": _count_turns(group), **_match_figures(group)}
            for domain in domains
            if (group := [each for each in played if each.dialogue.domain == domain])
        },
        "wrong": [
            {"id": each.dialogue.id, "s": wrong.subject, "r": wrong.relation, "o": wrong.object}
            for each in played
            for wrong in each.matched.wrong
        ],
    }


def triples_table(summary: Mapping[str, Any]) -> Table:
    """Rows by domain, then all."""
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
    total = sum((each.matched for each in played), DialogueMatch())
    return {
        "triple": total.triple.figures,
        "pair": total.pair.figures,
        "about_user": total.about_user,
        "misattributed": total.misattributed,
        "from_prose": total.from_prose,
        "unthought": sum(each.unprocessed_turns for each in played),
        "dialogues": len(played),
        "ms_per_turn": round(fmean([ms for each in played for ms in each.turn_ms]), 3),
    }
