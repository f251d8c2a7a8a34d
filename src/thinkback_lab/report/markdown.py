"""Many runs as Markdown: a table a figure, the best of a row bold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from thinkback_lab.report.grid import TIME, Grid, best, grid_of, is_best
from thinkback_lab.runs.finished import Finished

SHOWN = {
    "hit@1": "hit@1",
    "hit@5": "hit@5",
    "recall@5": "recall@5",
    "mrr": "mrr",
    "anchor_recall": "anchor_recall",
    TIME: "milliseconds a question, embedding not counted",
}


def matrix(runs: Sequence[Finished]) -> str:
    """`n` counts the questions that have the figure: one without gold has no hit@1."""
    grid = grid_of(runs)
    tables = [(title, list(_rows(name, grid))) for name, title in SHOWN.items()]
    head = f"| data set | n | {' | '.join(grid.schemes)} |\n|---|---{'|---' * len(grid.schemes)}|"
    return "\n".join("\n".join([f"### {title}\n", head, *rows, ""]) for title, rows in tables if rows)


def _rows(name: str, grid: Grid) -> Iterator[str]:
    for dataset in grid.datasets:
        values = grid.values(dataset, name)
        if any(each is not None for each in values):
            top = best(name, values)
            cells = [_cell(name, each, bold=is_best(each, top)) for each in values]
            n = max(_counted(run, name) for run in grid.row(dataset) if run is not None)
            yield f"| {dataset} | {n} | {' | '.join(cells)} |"


def _counted(run: Finished, name: str) -> int:
    return int(run.results["n"] if name == TIME else run.results.get("counts", {}).get(name, 0))


def _cell(name: str, each: float | None, *, bold: bool) -> str:
    if each is None:
        return "-"
    said = f"{each:.2f}" if name == TIME else f"{each:.3f}".removeprefix("0")
    return f"**{said}**" if bold else said
