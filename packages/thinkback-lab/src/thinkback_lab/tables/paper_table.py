"""A table of a paper: its columns, rows from the paper and from our runs, and what is missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from thinkback_lab.runs.finished_runs import FinishedRun
from thinkback_lab.text import printable_text

if TYPE_CHECKING:
    from rich.table import Table

FROM_PAPER, FROM_RUN = "paper", "ours"
EMPTY_CELL = "-"
ANCHOR_MARK = "†"
ANCHOR_NOTE = f"{ANCHOR_MARK} by anchors, without a judge: thinkback-lab judge RUN... --judge SPEC"
NO_MODEL_NOTE = "without a model (LLM none) the first recalled memory counts as the answer"


@dataclass(frozen=True, slots=True)
class TableRow:
    """Cells in the order of the columns; `source` is `paper` or `ours`."""

    cells: tuple[str, ...]
    source: str


@dataclass(frozen=True, slots=True)
class PaperTable:
    """A filled table; `missing` are lines with the commands that would fill empty cells."""

    name: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[TableRow, ...]
    notes: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    text_columns: int = 1  # leading columns with text; the others are numbers

    @property
    def filled(self) -> bool:
        """Whether a run contributes a figure."""
        return any(
            row.source == FROM_RUN and set(row.cells[self.text_columns :]) != {EMPTY_CELL}
            for row in self.rows
        )

    def to_dict(self) -> dict[str, Any]:
        """The table for JSON output; empty cells are null."""
        return {
            "title": self.title,
            "columns": list(self.columns),
            "rows": [
                {"source": row.source, "cells": [None if cell == EMPTY_CELL else cell for cell in row.cells]}
                for row in self.rows
            ],
            "notes": list(self.notes),
            "missing": list(self.missing),
        }


def rich_table(paper_table: PaperTable) -> Table:
    """The table for the terminal, with a column that names the source of each row."""
    from rich.table import Table
    from rich.text import Text

    grid = Table(box=None, pad_edge=False, header_style="bold", title=None)
    for at, name in enumerate(paper_table.columns):
        if at < paper_table.text_columns:
            grid.add_column(Text(name), no_wrap=True, vertical="bottom")
        else:  # two header lines, as in the paper
            grid.add_column(Text(name.replace(" ", "\n", 1)), justify="right", no_wrap=True)
    grid.add_column("from", no_wrap=True)
    for row in paper_table.rows:
        grid.add_row(*(Text(printable_text(cell)) for cell in row.cells), row.source)
    return grid


def metric_cell(run: FinishedRun | Mapping[str, float] | None, *names: str, percent: bool = False) -> str:
    """The first of these metrics that the run has."""
    if run is None:
        return EMPTY_CELL
    metrics = run.metrics if isinstance(run, FinishedRun) else run
    for name in names:
        if name in metrics:
            return f"{metrics[name] * 100:.2f}" if percent else f"{metrics[name]:.3f}"
    return EMPTY_CELL


def correctness_cell(run: FinishedRun | Mapping[str, float] | None) -> str:
    """The judge's correctness, or the one by anchors with a mark."""
    judged = metric_cell(run, "judge_correctness")
    if judged != EMPTY_CELL:
        return judged
    anchored = metric_cell(run, "correctness")
    return anchored if anchored == EMPTY_CELL else anchored + ANCHOR_MARK


def table_notes(rows: Sequence[TableRow], runs: Sequence[FinishedRun], *fixed: str) -> tuple[str, ...]:
    """The notes that the marks in these rows require."""
    notes = list(fixed)
    if any(cell.endswith(ANCHOR_MARK) for row in rows for cell in row.cells):
        notes.append(ANCHOR_NOTE)
        if any(llm_name(run) == "none" for run in runs):
            notes.append(NO_MODEL_NOTE)
    return tuple(notes)


def llm_name(run: FinishedRun) -> str:
    return str(run.settings.get("llm") or "none")


def missing_judge_lines(runs: Sequence[FinishedRun]) -> tuple[str, ...]:
    """Commands that fill the cells which need a judge."""
    unjudged = sorted(
        {run.name for run in runs if "judge_coherence" not in run.metrics and llm_name(run) != "none"}
    )
    without_model = sorted({run.scheme for run in runs if llm_name(run) == "none"})
    lines = []
    if unjudged:
        lines.append(f"coherence: thinkback-lab judge {' '.join(unjudged)} --judge SPEC")
    if without_model:
        lines.append(
            f"coherence of {', '.join(without_model)}: run again with --llm SPEC, "
            "then thinkback-lab judge RUN..."
        )
    return tuple(lines)
