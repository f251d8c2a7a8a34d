"""Played tasks in numbers: as JSON for machines and as a table for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import TYPE_CHECKING, Any

from thinkback_lab.sharded.run import Played

if TYPE_CHECKING:
    from rich.table import Table


def summarise(played: Sequence[Played], settings: Mapping[str, object]) -> dict[str, Any]:
    languages = sorted({each.task.lang for each in played})
    return {
        "dataset": "sharded",
        "scheme": "thinkback",
        "settings": dict(settings),
        "n": len(played),
        "metrics": _counted(played),
        "by_language": {lang: _counted([e for e in played if e.task.lang == lang]) for lang in languages},
        "tokens_by_turn": _by_turn(played),
        "failures": [{"id": each.task.id, "lost": list(each.lost)} for each in played if each.lost],
    }


def table(summary: Mapping[str, Any]) -> Table:
    """Languages, then all."""
    from rich.table import Table

    grid = Table(box=None, pad_edge=False, header_style="bold")
    grid.add_column("tasks")
    for title in ("n", "shards", "kept", "tokens at the last turn", "multi-turn", "one-shot", "drop"):
        grid.add_column(title, justify="right")
    for name, figures in (*summary["by_language"].items(), ("all", summary["metrics"])):
        rates = (figures[each] for each in ("multi_turn", "one_shot", "drop"))
        cells = ("-" if rate is None else f"{rate:.1%}" for rate in rates)
        kept = f"{figures['shards_kept']:.1%}"
        grid.add_row(
            name, str(figures["n"]), str(figures["shards"]), kept, str(figures["tokens_last"]), *cells
        )
    return grid


def _counted(played: Sequence[Played]) -> dict[str, Any]:
    counted = sum(each.counted for each in played)
    multi, once = _rate([each.multi_turn for each in played]), _rate([each.one_shot for each in played])
    return {
        "n": len(played),
        "shards": counted,
        "shards_kept": 1 - sum(len(each.lost) for each in played) / counted,
        "tokens_last": round(fmean(each.tokens[-1] for each in played), 1),
        "multi_turn": multi,
        "one_shot": once,
        "drop": None if multi is None or not once else 1 - multi / once,
    }


def _rate(outcomes: Sequence[bool | None]) -> float | None:
    known = [outcome for outcome in outcomes if outcome is not None]
    return fmean(known) if known else None


def _by_turn(played: Sequence[Played]) -> list[float]:
    """The mean cost of a context at each turn, over the tasks that get so far."""
    turns = max(len(each.tokens) for each in played)
    return [
        round(fmean(each.tokens[turn] for each in played if len(each.tokens) > turn), 1)
        for turn in range(turns)
    ]
