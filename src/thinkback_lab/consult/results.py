"""The figures of a consultation run, by scheme: table 3's accuracies, what was repeated, forgotten and
contradicted, and the consistency score by turn and by length of dialogue (figures 3 and 4).

Intervals resample patients, not visits: visits of one patient are not independent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import fmean
from typing import TYPE_CHECKING, Any

from thinkback_lab.consult.ledger import Entry
from thinkback_lab.metrics.bootstrap import interval

if TYPE_CHECKING:
    from rich.table import Table

MEANS = ("diagnosis", "treatment", "coverage", "order", "consistency", "rounds", "context_tokens")
TOTALS = ("repeated", "forgotten", "contradicted", "rejected", "questions", "told")
SHORT = 12  # turns: a dialogue of more is a long one
STEP = 5  # turns that share a point of the curve


def summarise(entries: Sequence[Entry], settings: Mapping[str, object], command: str) -> dict[str, Any]:
    """`n` counts visits of one scheme."""
    names = list(dict.fromkeys(entry.scheme for entry in entries))
    told = {name: _scheme([entry for entry in entries if entry.scheme == name]) for name in names}
    patients = len({entry.patient for entry in entries})
    return {
        "dataset": "consult",
        "settings": dict(settings),
        "patients": patients,
        "n": len({(entry.patient, entry.played.number) for entry in entries}),
        "schemes": told,
        "command": command,
    }


def _scheme(entries: Sequence[Entry]) -> dict[str, Any]:
    return {
        "n": len(entries),
        **_figures(entries),
        "intervals": {name: _interval(entries, name) for name in (*MEANS, *TOTALS) if _values(entries, name)},
        "by_visit": _grouped(entries, lambda entry: str(entry.played.number + 1)),
        "by_language": _grouped(entries, lambda entry: entry.lang),
        "by_turn": _consistency(entries, lambda entry: str(-(-entry.turn // STEP) * STEP)),
        "by_length": _consistency(entries, lambda entry: "short" if entry.turn <= SHORT else "long"),
    }


def _figures(entries: Sequence[Entry]) -> dict[str, Any]:
    metrics = {name: round(fmean(values), 4) for name in MEANS if (values := _values(entries, name))}
    totals = {name: int(sum(_values(entries, name))) for name in TOTALS}
    shares = {
        "repeated_share": _share(totals["repeated"], totals["questions"]),
        "forgotten_share": _share(totals["forgotten"], totals["told"]),
        "contradicted_share": _share(totals["contradicted"], totals["told"]),
    }
    return {"metrics": {**metrics, **shares}, "totals": totals}


def _values(entries: Iterable[Entry], name: str) -> list[float]:
    return [entry.scores[name] for entry in entries if name in entry.scores]


def _share(part: int, whole: int) -> float:
    return round(part / whole, 4) if whole else 0.0


def _interval(entries: Sequence[Entry], name: str) -> list[float]:
    """Of the mean of a visit, over patients."""
    patients = dict.fromkeys(entry.patient for entry in entries)
    means = [
        fmean(values)
        for patient in patients
        if (values := _values([entry for entry in entries if entry.patient == patient], name))
    ]
    return [round(bound, 4) for bound in interval(means)]


def _grouped(entries: Sequence[Entry], key: Callable[[Entry], str]) -> dict[str, Any]:
    names = sorted({key(entry) for entry in entries})
    groups = {name: [entry for entry in entries if key(entry) == name] for name in names}
    return {name: {"n": len(group), **_figures(group)} for name, group in groups.items()}


def _consistency(entries: Sequence[Entry], key: Callable[[Entry], str]) -> dict[str, Any]:
    """The consistency score of every group, findings counted alike whatever visit they were looked for at."""
    groups: dict[str, list[Entry]] = {}
    looked = [entry for entry in entries if "consistency" in entry.scores]
    for entry in sorted(looked, key=lambda each: each.turn):
        groups.setdefault(key(entry), []).append(entry)
    return {
        name: {"n": len(group), "consistency": round(fmean(_values(group, "consistency")), 4)}
        for name, group in groups.items()
    }


def table(results: Mapping[str, Any]) -> Table:
    """A line a scheme."""
    from rich.table import Table

    grid = Table(box=None, pad_edge=False, header_style="bold")
    grid.add_column("scheme", no_wrap=True)
    heads = ("diagnosis", "treatment", "coverage", "order", "repeated", "forgotten", "contradicted")
    for head in (*heads, "consistency", "rounds", "tokens"):
        grid.add_column(head, justify="right", no_wrap=True)
    for name, told in results["schemes"].items():
        means, totals = told["metrics"], told["totals"]
        grid.add_row(
            name,
            *(_written(means, key) for key in ("diagnosis", "treatment", "coverage", "order")),
            *(str(totals[key]) for key in ("repeated", "forgotten", "contradicted")),
            _written(means, "consistency"),
            f"{means['rounds']:.1f}",
            f"{means['context_tokens']:.1f}",
        )
    return grid


def _written(means: Mapping[str, float], name: str) -> str:
    return f"{means[name]:.3f}" if name in means else "-"
