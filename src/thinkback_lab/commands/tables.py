"""`thinkback-lab tables`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from thinkback_lab.commands import options
from thinkback_lab.runs.finished import read_finished
from thinkback_lab.tables.registry import TABLES, sheets
from thinkback_lab.tables.sheet import Sheet, table


def tables(
    runs: Annotated[
        list[Path] | None,
        typer.Argument(metavar="RUN...", help="Folders of finished runs, or files of `--json` output."),
    ] = None,
    names: Annotated[
        list[str] | None,
        typer.Option("--table", metavar="NAME", help=f"{', '.join(TABLES)}; may be repeated."),
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """The papers' tables in their own form, filled from finished runs, the papers' figures beside ours.

    A run finds its own place: by its data set, its scheme and its model. A dash is a cell that no run fills;
    under the table stands what is missing, and the command that makes it. Without --table, the tables that
    these runs have something for.

    \b
      tim-2      retrieval accuracy, correctness, coherence on GVD, KdConv, a medical corpus
      tim-3      diagnosis and treatment in simulated consultations
      tim-4      retrieval time against pairwise similarity
      perltqa-3  with and without memory classification and retrieval
      perltqa-4  memory classification
      perltqa-5  Recall@K and time of retrieval
      perltqa-6  no, incorrect and correct retrieval
      perltqa-7  semantic or episodic memory alone

    \b
    Examples:
      thinkback-lab tables runs/*
      thinkback-lab tables runs/gvd-* runs/kdconv-* --table tim-2
      thinkback-lab tables runs/perltqa-* --table perltqa-5 --json
    """
    with options.one_line_errors():
        made = sheets(read_finished(runs) if runs else [], names or ())
    if as_json:
        options.show_json({sheet.name: sheet.told() for sheet in made})
        return
    for number, sheet in enumerate(made):
        _show(sheet, first=number == 0)


def _show(sheet: Sheet, *, first: bool) -> None:
    """A row of a paper's table is one line, whatever the terminal."""
    sys.stdout.write(f"{'' if first else chr(10)}{sheet.title}  [{sheet.name}]\n\n")
    sys.stdout.flush()
    options.show_grid(table(sheet), wide=True)
    for line in sheet.notes:
        sys.stdout.write(f"  {line}\n")
    for line in sheet.missing:
        sys.stdout.write(f"  missing: {line}\n")
