"""A table of a paper as a value: its own columns, rows that say where they come from, and what is missing."""

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
ANCHOR_NOTE = f"{ANCHOR_MARK} by anchors, no judge was asked: thinkback-lab judge RUN... --judge SPEC"
NO_MODEL_NOTE = "without a model (LLM none) the first memory found stands for the answer"


@dataclass(frozen=True, slots=True)
class TableRow:
    """Cells in the order of the columns; `source` is `paper` or `ours`."""

    cells: tuple[str, ...]
    source: str


@dataclass(frozen=True, slots=True)
class PaperTable:
    """`missing` are lines that say what is not filled, and the command that would fill it."""

    name: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[TableRow, ...]
    notes: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    text_columns: int = 1  # so many columns from the left are words, the others numbers

    @property
    def filled(self) -> bool:
        """Whether a run has a figure in it."""
        return any(
            row.source == FROM_RUN and set(row.cells[self.text_columns :]) != {EMPTY_CELL}
            for row in self.rows
        )

    def to_dict(self) -> dict[str, Any]:
        """The same for a machine: cells as they are printed, `null` where there is none."""
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


def rich_table(brief: PaperTable) -> Table:
    """For people; the paper's rows say so."""
    from rich.table import Table
    from rich.text import Text

    grid = Table(box=None, pad_edge=False, header_style="bold", title=None)
    for at, name in enumerate(brief.columns):
        if at < brief.text_columns:
            grid.add_column(Text(name), no_wrap=True, vertical="bottom")
        else:  # the paper's two lines: what, and of what
            grid.add_column(Text(name.replace(" ", "\n", 1)), justify="right", no_wrap=True)
    grid.add_column("from", no_wrap=True)
    for row in brief.rows:
        grid.add_row(*(Text(printable_text(cell)) for cell in row.cells), row.source)
    return grid


def metric_cell(run: FinishedRun | Mapping[str, float] | None, *names: str, percent: bool = False) -> str:
    """The first of these figures that the run has."""
    if run is None:
        return EMPTY_CELL
    metrics = run.metrics if isinstance(run, FinishedRun) else run
    for name in names:
        if name in metrics:
            return f"{metrics[name] * 100:.2f}" if percent else f"{metrics[name]:.3f}"
    return EMPTY_CELL


def correctness_cell(run: FinishedRun | Mapping[str, float] | None) -> str:
    """A judge's label, or the same labels by anchors, with a sign that says so."""
    judged = metric_cell(run, "judge_correctness")
    if judged != EMPTY_CELL:
        return judged
    anchored = metric_cell(run, "correctness")
    return anchored if anchored == EMPTY_CELL else anchored + ANCHOR_MARK


def table_notes(rows: Sequence[TableRow], runs: Sequence[FinishedRun], *always: str) -> tuple[str, ...]:
    """The notes that the signs in these rows call for."""
    told = list(always)
    if any(cell.endswith(ANCHOR_MARK) for row in rows for cell in row.cells):
        told.append(ANCHOR_NOTE)
        if any(llm_name(run) == "none" for run in runs):
            told.append(NO_MODEL_NOTE)
    return tuple(told)


def llm_name(run: FinishedRun) -> str:
    return str(run.settings.get("llm") or "none")


def missing_judge_lines(runs: Sequence[FinishedRun]) -> tuple[str, ...]:
    """How the cells that only a judge fills are filled."""
    bare = sorted(
        {run.name for run in runs if "judge_coherence" not in run.metrics and llm_name(run) != "none"}
    )
    silent = sorted({run.scheme for run in runs if llm_name(run) == "none"})
    told = []
    if bare:
        told.append(f"coherence: thinkback-lab judge {' '.join(bare)} --judge SPEC")
    if silent:
        told.append(
            f"coherence of {', '.join(silent)}: run again with --llm SPEC, then thinkback-lab judge RUN..."
        )
    return tuple(told)
