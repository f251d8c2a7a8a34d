"""Commands on finished runs: `thinkback-lab compare`, `judge` and `tables`."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any

import typer

from thinkback_lab.commands import options
from thinkback_lab.judge.judgements import ASPECTS
from thinkback_lab.judge.run import judge_runs
from thinkback_lab.llms import open_llm
from thinkback_lab.metrics import display
from thinkback_lab.progress import progress
from thinkback_lab.runs.compare import (
    compare_runs,
    comparison_table,
    differing_question_lines,
    footer_lines,
)
from thinkback_lab.runs.finished_runs import read_finished_runs
from thinkback_lab.tables.paper_table import PaperTable, rich_table
from thinkback_lab.tables.registry import TABLES, fill_tables


def compare(
    runs: Annotated[
        list[Path], typer.Argument(metavar="RUN RUN...", help="Folders of finished runs, the baseline first.")
    ],
    metric: Annotated[
        list[str] | None,
        typer.Option(
            "--metric", metavar="NAME", help="Only this metric (hit@5, mrr, f1, ...); may be repeated."
        ),
    ] = None,
    show: Annotated[
        int,
        typer.Option(
            "--show", metavar="N", min=0, help="Also show the N questions on which they differ most."
        ),
    ] = 0,
    as_json: options.JsonOption = False,
) -> None:
    """Compare runs on the questions they share: is one better, by how much, and how certain is that?

    The first run is the baseline. Differences of means have a paired bootstrap interval and a paired test:
    McNemar's exact test for metrics that are 0 or 1 on each question, a permutation test for others. With
    more than two runs p is corrected (Holm). Runs of different data sets are rejected.

    \b
    Examples:
      thinkback-lab compare runs/gvd-bm25 runs/gvd-thinkback
      thinkback-lab compare runs/gvd-* --metric hit@5 --show 10
      thinkback-lab compare runs/a runs/b --json | jq '.metrics["hit@5"].others[0].p'
    """
    with options.exit_on_error():
        comparison = compare_runs(read_finished_runs(runs), metric or (), show)
    if as_json:
        options.print_json(comparison)
        return
    metrics_shown = metric or display.leading_metrics(comparison["metrics"])
    options.print_table(
        comparison_table(comparison, metrics_shown),
        "\n".join((*footer_lines(comparison, metrics_shown), *differing_question_lines(comparison))),
    )


def judge(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN", help="Folders of finished runs.")],
    judges: Annotated[
        list[str],
        typer.Option(
            "--judge",
            metavar="SPEC",
            help="openai:MODEL, local:NAME_OR_PATH or recorded:FOLDER; may be repeated.",
        ),
    ],
    limit: Annotated[
        int | None, typer.Option("--limit", metavar="N", min=1, help="Maximum number of questions per run.")
    ] = None,
    seed: Annotated[
        int, typer.Option("--seed", metavar="S", help="Seed of the order and of the sample.")
    ] = 0,
    as_json: options.JsonOption = False,
) -> None:
    """Let language models rate the answers of finished runs, blind and in shuffled order.

    Correctness and coherence are 0, 0.5 or 1; the score is 0 to 10. A judge sees the question, the known
    reference and one answer, but not which system gave it. Verdicts are saved in judgements.jsonl of each
    run: run the same command again to resume or to retry failures. The means are added to results.json.

    \b
    Examples:
      thinkback-lab judge runs/none runs/raw runs/ours --judge openai:gpt-4o-mini
      thinkback-lab judge runs/ours --judge local:qwen-coder-1.5b --judge openai:gpt-4o-mini --limit 30 --json
    """
    with options.exit_on_error(), ExitStack() as stack:
        models = [stack.enter_context(open_llm(spec)) for spec in judges]
        with progress("answers") as report:
            results = judge_runs(runs, models, seed=seed, limit=limit, on_progress=report)
    if as_json:
        options.print_json(results)
        return
    options.print_table(_judge_table(results), _agreement_lines(results))


def _judge_table(results: dict[str, Any]) -> Any:
    from rich.table import Table

    grid = Table(box=None, pad_edge=False)
    for name in ("run", "data set", "scheme", "n", *ASPECTS):
        grid.add_column(name, justify="left" if name in {"run", "data set", "scheme"} else "right")
    for run in results["runs"]:
        figures = [_format_score(run, f"judge_{aspect}") for aspect in ASPECTS]
        judged = str(run["counts"].get("judge_score", 0))
        grid.add_row(run["run"], run["dataset"], run["scheme"], judged, *figures)
    return grid


def _format_score(run: dict[str, Any], name: str) -> str:
    if name not in run["metrics"]:
        return "-"
    low, high = run["intervals"][name]
    return f"{run['metrics'][name]:.3f} [{low:.3f}, {high:.3f}]"


def _agreement_lines(results: dict[str, Any]) -> str:
    failed = sum(run["judges"]["failed"] for run in results["runs"])
    lines = [f"judged by {', '.join(results['judges'])}; without a verdict: {failed}"]
    for pair in results["agreement"]:
        if pair["n"]:
            figures = [
                f"{label} {pair[label]['exact']:.3f} alike, kappa {pair[label]['kappa']}"
                for label in ("correctness", "coherence")
            ]
            lines.append(f"{' and '.join(pair['judges'])} over {pair['n']} answers: {'; '.join(figures)}")
    return "\n".join(lines)


def tables(
    runs: Annotated[
        list[Path] | None,
        typer.Argument(metavar="RUN...", help="Folders of finished runs, or files of `--json` output."),
    ] = None,
    names: Annotated[
        list[str] | None,
        typer.Option("--table", metavar="NAME", help=f"{', '.join(TABLES)}; may be repeated."),
    ] = None,
    as_json: options.JsonOption = False,
) -> None:
    """Print the papers' tables, filled from finished runs, with the published figures beside ours.

    A run is placed by its data set, its scheme and its model. A dash is a cell that no run fills; missing
    runs are listed under the table with the command that produces them. Without --table, print the tables
    that these runs contribute to.

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
    with options.exit_on_error():
        filled = fill_tables(read_finished_runs(runs) if runs else [], names or ())
    if as_json:
        options.print_json({paper_table.name: paper_table.to_dict() for paper_table in filled})
        return
    for number, paper_table in enumerate(filled):
        _print_paper_table(paper_table, first=number == 0)


def _print_paper_table(paper_table: PaperTable, *, first: bool) -> None:
    """Print a table without wrapping its rows, whatever the width of the terminal."""
    sys.stdout.write(f"{'' if first else chr(10)}{paper_table.title}  [{paper_table.name}]\n\n")
    sys.stdout.flush()
    options.print_grid(rich_table(paper_table), wide=True)
    for line in paper_table.notes:
        sys.stdout.write(f"  {line}\n")
    for line in paper_table.missing:
        sys.stdout.write(f"  missing: {line}\n")
