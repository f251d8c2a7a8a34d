"""The outcomes in numbers: as JSON for machines and as a table for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from thinkback_lab.pairs.run import Outcome

if TYPE_CHECKING:
    from rich.table import Table


def summarise(outcomes: Sequence[Outcome], settings: Mapping[str, object]) -> dict[str, Any]:
    """Compatible pairs count what was wrongly retired, updates what was superseded; every failure is told.

    `first_read` and `both_read` say how many pairs put anything to the test at all.
    """
    return {
        "dataset": "pairs",
        "scheme": "thinkback",
        "settings": dict(settings),
        "n": len(outcomes),
        "metrics": _counted(outcomes),
        "by_category": _by(outcomes, lambda each: f"{each.pair.kind}: {each.pair.category}"),
        "by_language": _by(outcomes, lambda each: each.pair.lang),
        "failures": [told for each in outcomes if (told := _failure(each))],
    }


def table(summary: Mapping[str, Any]) -> Table:
    """Categories, then languages, then all."""
    from rich.table import Table

    columns = {
        "compatible": "compatible",
        "first_read": "read",
        "wrongly_retired": "wrongly retired",
        "updates": "updates",
        "superseded": "superseded",
        "superseded_rate": "rate",
        "contradicting": "contradicting",
        "stale": "stale",
    }
    grid = Table(box=None, pad_edge=False, header_style="bold")
    grid.add_column("pairs")
    for title in columns.values():
        grid.add_column(title, justify="right")
    groups = (*summary["by_category"].items(), *summary["by_language"].items(), ("all", summary["metrics"]))
    for name, counts in groups:
        cells = {**counts, "superseded_rate": _percent(counts["superseded_rate"])}
        grid.add_row(name, *(str(cells[each]) for each in columns))
    return grid


def _counted(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    compatible = [each for each in outcomes if each.pair.kind == "compatible"]
    updates = [each for each in outcomes if each.pair.kind == "update"]
    superseded = sum(not each.failure for each in updates)
    return {
        "compatible": len(compatible),
        "first_read": sum(bool(each.before) for each in compatible),
        "both_read": sum(bool(each.before) and each.told_then for each in compatible),
        "wrongly_retired": sum(bool(each.lost) for each in compatible),
        "updates": len(updates),
        "superseded": superseded,
        "superseded_rate": superseded / len(updates) if updates else None,
        "not_superseded": dict(sorted(Counter(each.failure for each in updates if each.failure).items())),
        "contradicting": sum(bool(each.contradicting) for each in updates),
        "stale": sum(bool(each.stale) for each in updates),
    }


def _by(outcomes: Sequence[Outcome], key: Callable[[Outcome], str]) -> dict[str, Any]:
    groups: dict[str, list[Outcome]] = {}
    for each in outcomes:
        groups.setdefault(key(each), []).append(each)
    return {name: _counted(groups[name]) for name in sorted(groups)}


def _failure(outcome: Outcome) -> dict[str, Any] | None:
    pair = outcome.pair
    if pair.kind == "compatible":
        why = f"wrongly retired: {'; '.join(outcome.lost)}" if outcome.lost else ""
    else:
        both = outcome.contradicting
        recalled = f"recalled both: {'; '.join(both)}" if both else ""
        why = "; ".join(part for part in (outcome.failure, recalled) if part)
    if not why:
        return None
    held = [("not: " if each.negated else "") + each.sentence for each in outcome.after]
    return {"id": pair.id, "first": pair.first, "then": pair.then, "why": why, "held": held}


def _percent(rate: float | None) -> str:
    return "-" if rate is None else f"{rate:.1%}"
