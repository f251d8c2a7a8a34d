"""The matches in numbers: as JSON for machines and as a table for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import TYPE_CHECKING, Any

from thinkback_lab.triples.match import Matched
from thinkback_lab.triples.run import Played

if TYPE_CHECKING:
    from rich.table import Table


def summarise(played: Sequence[Played], settings: Mapping[str, object]) -> dict[str, Any]:
    """`n` counts turns; figures are over all dialogues together, not means of theirs."""
    domains = sorted({each.dialogue.domain for each in played})
    return {
        "dataset": "triples",
        "scheme": "thinkback",
        "settings": dict(settings),
        "n": _turns(played),
        "metrics": _figures(played),
        "by_category": {
            domain: {"n": _turns(chosen), **_figures(chosen)}
            for domain in domains
            if (chosen := [each for each in played if each.dialogue.domain == domain])
        },
        "wrong": [
            {"id": each.dialogue.id, "s": wrong.subject, "r": wrong.relation, "o": wrong.object}
            for each in played
            for wrong in each.matched.wrong
        ],
    }


def table(summary: Mapping[str, Any]) -> Table:
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


def _turns(played: Sequence[Played]) -> int:
    return sum(len(each.turn_ms) for each in played)


def _figures(played: Sequence[Played]) -> dict[str, Any]:
    whole = sum((each.matched for each in played), Matched())
    return {
        "triple": whole.triple.figures,
        "pair": whole.pair.figures,
        "about_user": whole.about_user,
        "misattributed": whole.misattributed,
        "from_prose": whole.from_prose,
        "unthought": sum(each.unthought for each in played),
        "dialogues": len(played),
        "ms_per_turn": round(fmean([ms for each in played for ms in each.turn_ms]), 3),
    }
