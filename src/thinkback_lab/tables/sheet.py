"""A table of a paper as a value: its own columns, rows that say where they come from, and what is missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from thinkback_lab.runs.finished import Finished
from thinkback_lab.text import plain

if TYPE_CHECKING:
    from rich.table import Table

PAPER, OURS = "paper", "ours"
NONE = "-"
ANCHORED = "†"
ANCHOR_NOTE = f"{ANCHORED} by anchors, no judge was asked: thinkback-lab judge RUN... --judge SPEC"
NO_MODEL = "without a model (LLM none) the first memory found stands for the answer"


@dataclass(frozen=True, slots=True)
class Row:
    """Cells in the order of the columns; `source` is `paper` or `ours`."""

    cells: tuple[str, ...]
    source: str


@dataclass(frozen=True, slots=True)
class Sheet:
    """`missing` are lines that say what is not filled, and the command that would fill it."""

    name: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    words: int = 1  # so many columns from the left are words, the others numbers

    @property
    def filled(self) -> bool:
        """Whether a run has a figure in it."""
        return any(row.source == OURS and set(row.cells[self.words :]) != {NONE} for row in self.rows)

    def told(self) -> dict[str, Any]:
        """The same for a machine: cells as they are printed, `null` where there is none."""
        return {
            "title": self.title,
            "columns": list(self.columns),
            "rows": [
                {"source": row.source, "cells": [None if cell == NONE else cell for cell in row.cells]}
                for row in self.rows
            ],
            "notes": list(self.notes),
            "missing": list(self.missing),
        }


def table(sheet: Sheet) -> Table:
    """For people; the paper's rows say so."""
    from rich.table import Table
    from rich.text import Text

    grid = Table(box=None, pad_edge=False, header_style="bold", title=None)
    for at, name in enumerate(sheet.columns):
        if at < sheet.words:
            grid.add_column(Text(name), no_wrap=True, vertical="bottom")
        else:  # the paper's two lines: what, and of what
            grid.add_column(Text(name.replace(" ", "\n", 1)), justify="right", no_wrap=True)
    grid.add_column("from", no_wrap=True)
    for row in sheet.rows:
        grid.add_row(*(Text(plain(cell)) for cell in row.cells), row.source)
    return grid


def figure(run: Finished | Mapping[str, float] | None, *names: str, percent: bool = False) -> str:
    """The first of these figures that the run has."""
    if run is None:
        return NONE
    metrics = run.metrics if isinstance(run, Finished) else run
    for name in names:
        if name in metrics:
            return f"{metrics[name] * 100:.2f}" if percent else f"{metrics[name]:.3f}"
    return NONE


def correctness(run: Finished | Mapping[str, float] | None) -> str:
    """A judge's label, or the same labels by anchors, with a sign that says so."""
    judged = figure(run, "judge_correctness")
    if judged != NONE:
        return judged
    anchored = figure(run, "correctness")
    return anchored if anchored == NONE else anchored + ANCHORED


def notes_for(rows: Sequence[Row], runs: Sequence[Finished], *always: str) -> tuple[str, ...]:
    """The notes that the signs in these rows call for."""
    told = list(always)
    if any(cell.endswith(ANCHORED) for row in rows for cell in row.cells):
        told.append(ANCHOR_NOTE)
        if any(llm_of(run) == "none" for run in runs):
            told.append(NO_MODEL)
    return tuple(told)


def llm_of(run: Finished) -> str:
    return str(run.settings.get("llm") or "none")


def unjudged(runs: Sequence[Finished]) -> tuple[str, ...]:
    """How the cells that only a judge fills are filled."""
    bare = sorted(
        {run.name for run in runs if "judge_coherence" not in run.metrics and llm_of(run) != "none"}
    )
    silent = sorted({run.scheme for run in runs if llm_of(run) == "none"})
    told = []
    if bare:
        told.append(f"coherence: thinkback-lab judge {' '.join(bare)} --judge SPEC")
    if silent:
        told.append(
            f"coherence of {', '.join(silent)}: run again with --llm SPEC, then thinkback-lab judge RUN..."
        )
    return tuple(told)
