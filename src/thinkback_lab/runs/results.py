"""The figures of a run: means over its questions with intervals, in all and by category."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean, quantiles
from typing import Any

from thinkback_lab.metrics.bootstrap import interval
from thinkback_lab.runs.record import Record


def summarise(
    records: Sequence[Record],
    *,
    dataset: str,
    scheme: str,
    settings: Mapping[str, object],
    command: str = "",
) -> dict[str, Any]:
    """`n` counts questions; `counts` how many of them had each figure (an unanswerable one has no gold)."""
    categories = sorted({each.category for each in records if each.category})
    times = sorted(each.ms for each in records)
    return {
        "dataset": dataset,
        "scheme": scheme,
        "settings": dict(settings),
        "n": len(records),
        "metrics": means(records),
        "intervals": {
            name: [round(bound, 4) for bound in interval(values)] for name, values in columns(records).items()
        },
        "counts": {name: len(values) for name, values in columns(records).items()},
        "by_category": {
            name: {"n": len(chosen), **means(chosen)}
            for name in categories
            if (chosen := [each for each in records if each.category == name])
        },
        "ms_per_query": round(fmean(times), 3) if times else None,
        "ms": percentiles(times),
        "command": command,
    }


def columns(records: Sequence[Record]) -> dict[str, list[float]]:
    """Every figure's values, in the order of the questions."""
    names = dict.fromkeys(name for each in records for name in each.scores)
    return {name: [each.scores[name] for each in records if name in each.scores] for name in names}


def means(records: Sequence[Record]) -> dict[str, float]:
    return {name: round(fmean(values), 4) for name, values in columns(records).items()}


def percentiles(times: Sequence[float]) -> dict[str, float]:
    if len(times) < 2:
        return {}
    cuts = quantiles(times, n=100, method="inclusive")
    return {f"p{cut}": round(cuts[cut - 1], 3) for cut in (50, 95, 99)}
