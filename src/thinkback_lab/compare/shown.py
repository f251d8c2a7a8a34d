"""A comparison as tables for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from thinkback_lab.text import plain

if TYPE_CHECKING:
    from rich.table import Table

CERTAIN = 0.05


def table(told: Mapping[str, Any], metrics: Sequence[str]) -> Table:
    """For each figure the baseline's mean, and under it the other runs against it.

    Where not all questions have the figure, `n` tells how many.
    """
    from rich.table import Table
    from rich.text import Text

    several = len(told["runs"]) > 2
    grid = Table(box=None, pad_edge=False, header_style="bold")
    grid.add_column("figure")
    grid.add_column("run")
    for name in ("mean", "difference", "95% interval", "won", "lost", "p (Holm)" if several else "p"):
        grid.add_column(name, justify="right", no_wrap=True)
    for metric in metrics:
        each = told["metrics"][metric]
        counted = f"n={each['n']}" if each["n"] != told["n"] else ""
        grid.add_row(Text(metric), Text(told["baseline"]), number(each["baseline"]), counted)
        for other in each["others"]:
            grid.add_row("", Text(other["name"]), *_row(other, "p_holm" if several else "p"))
    return grid


def _row(other: Mapping[str, Any], p: str) -> Iterator[str]:
    low, high = other["interval"]
    yield number(other["mean"])
    yield f"{other['difference']:+.3f}"
    yield f"{low:+.3f} {high:+.3f}"
    yield str(other["wins"])
    yield str(other["losses"])
    yield f"{other[p]:.2g}{' *' if other[p] < CERTAIN else '  '}"


def number(value: float) -> str:
    return f"{value:.3f}" if abs(value) < 100 else f"{value:,.1f}"


def last_lines(told: Mapping[str, Any], metrics: Sequence[str]) -> Iterator[str]:
    """What the table counts, how its p is got, and what it leaves out."""
    tests = sorted({other["test"] for metric in metrics for other in told["metrics"][metric]["others"]})
    others = len(told["runs"]) - 1
    corrected = f"; p corrected (Holm) for {others} comparisons" if others > 1 else ""
    yield f"{told['dataset']}: {told['n']} questions asked in all runs; differences are to {told['baseline']}"
    yield f"* p < {CERTAIN}, two-sided, paired ({' or '.join(tests)}){corrected}"
    if rest := [name for name in told["metrics"] if name not in metrics]:
        yield f"--metric also takes {', '.join(rest)}"


def differing(told: Mapping[str, Any]) -> Iterator[str]:
    """The questions on which the runs differ most, in lines."""
    for each in told["differing"]:
        yield ""
        yield plain(f"{' '.join(each['question'].split())}  ({each['case']}, {each['id']})")
        if each["expected"]:
            yield plain(f"  expected: {' '.join(each['expected'].split())}")
        for run in each["runs"]:
            said = run["answer"] if run["answer"] is not None else run["first"]
            text = " ".join(said.split()) if said is not None else "(nothing)"
            yield plain(f"  {run['name']}: {each['metric']} {number(run['score'])}: {text}")
