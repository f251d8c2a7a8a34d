"""`thinkback-lab compare`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from thinkback_lab.commands import options
from thinkback_lab.compare.runs import compare as compare_runs
from thinkback_lab.compare.shown import differing, last_lines, table
from thinkback_lab.metrics import figures
from thinkback_lab.runs.finished import read_finished


def compare(
    runs: Annotated[
        list[Path], typer.Argument(metavar="RUN RUN...", help="Folders of finished runs, the baseline first.")
    ],
    metric: Annotated[
        list[str] | None,
        typer.Option(
            "--metric", metavar="NAME", help="Only this figure (hit@5, mrr, f1, ...); may be repeated."
        ),
    ] = None,
    show: Annotated[
        int,
        typer.Option("--show", metavar="N", min=0, help="Also the N questions on which they differ most."),
    ] = 0,
    as_json: options.AsJson = False,
) -> None:
    """Runs side by side, on the questions they share: is one better, by how much, and how sure is that?

    The first run is the baseline. Differences of means come with a paired bootstrap interval and a paired
    test: McNemar's, exact, for figures that are 0 or 1 on each question, a permutation test for others. With
    more than two runs p is corrected (Holm). Runs of different data sets are refused.

    \b
    Examples:
      thinkback-lab compare runs/gvd-bm25 runs/gvd-thinkback
      thinkback-lab compare runs/gvd-* --metric hit@5 --show 10
      thinkback-lab compare runs/a runs/b --json | jq '.metrics["hit@5"].others[0].p'
    """
    with options.one_line_errors():
        told = compare_runs(read_finished(runs), metric or (), show)
    if as_json:
        options.show_json(told)
        return
    chosen = metric or figures.leading(told["metrics"])
    options.show_table(table(told, chosen), "\n".join((*last_lines(told, chosen), *differing(told))))
