"""The consistency of one scheme: by turn number (Figure 4), in short and long dialogues (Figure 3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import TYPE_CHECKING, Any

from thinkback_lab.consistency.run import Asked, Plan
from thinkback_lab.metrics.bootstrap import interval

if TYPE_CHECKING:
    from rich.table import Table

_SHOWN = ("kept", "hit@1", "hit@5", "anchor_map")  # beside the score itself
ON_ANSWERS = "answers: mean of lexical F1 and of anchors said alike"
ON_RECALLS = "recalled items: mean of the Jaccard overlap of the first 1 and of the first 5"


def summarise(
    asked: Sequence[Asked], plan: Plan, *, dataset: str, scheme: str, settings: Mapping[str, object]
) -> dict[str, Any]:
    """The common shape of results; `n` counts questions at checkpoints."""
    groups = {
        f"turn {turn}": [each for each in asked if each.turn == turn] for turn in sorted(set(plan.turns))
    }
    groups["short dialogue"] = [each for each in asked if each.length <= plan.short]
    groups["long dialogue"] = [each for each in asked if each.length > plan.short]
    answered = any("same_words" in each.scores for each in asked)
    return {
        "dataset": f"consistency:{dataset}",
        "scheme": scheme,
        "settings": {**settings, **plan.told, "measured": ON_ANSWERS if answered else ON_RECALLS},
        "n": len(asked),
        "metrics": _means(asked),
        "intervals": {name: _interval(values) for name, values in _columns(asked).items()},
        "counts": {name: len(values) for name, values in _columns(asked).items()},
        "by_category": {
            name: {
                "n": len(chosen),
                **_means(chosen),
                "interval": _interval(_columns(chosen)["consistency"]),
            }
            for name, chosen in groups.items()
            if chosen
        },
        "ms_per_query": round(fmean(each.ms for each in asked), 3),
    }


def table(summary: Mapping[str, Any]) -> Table:
    """A line a turn number and length of dialogue; a figure that a line does not have is left empty."""
    from rich.table import Table

    names = [name for name in _SHOWN if name in summary["metrics"]]
    grid = Table(box=None, pad_edge=False)
    grid.add_column("", no_wrap=True)
    for name in ("n", "consistency", "95%", *names):
        grid.add_column(name, justify="right", no_wrap=True)
    whole = {"n": summary["n"], **summary["metrics"], "interval": summary["intervals"]["consistency"]}
    for label, row in {**summary["by_category"], "all": whole}.items():
        low, high = row["interval"]
        figures = [f"{row[name]:.3f}" if name in row else "" for name in names]
        grid.add_row(label, str(row["n"]), f"{row['consistency']:.3f}", f"{low:.3f} to {high:.3f}", *figures)
    return grid


def _columns(asked: Sequence[Asked]) -> dict[str, list[float]]:
    names = dict.fromkeys(name for each in asked for name in each.scores)
    return {name: [each.scores[name] for each in asked if name in each.scores] for name in names}


def _means(asked: Sequence[Asked]) -> dict[str, float]:
    return {name: round(fmean(values), 4) for name, values in _columns(asked).items()}


def _interval(values: Sequence[float]) -> list[float]:
    return [round(bound, 4) for bound in interval(values)]
