"""`thinkback-lab judge`."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any

import typer

from thinkback_lab.commands import options
from thinkback_lab.judge.figures import ASPECTS
from thinkback_lab.judge.run import judge_runs
from thinkback_lab.models import opened
from thinkback_lab.progress import progress


def judge(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN", help="Folders of finished runs.")],
    judges: Annotated[
        list[str],
        typer.Option("--judge", metavar="SPEC", help="openai:MODEL or local:NAME_OR_PATH; may be repeated."),
    ],
    limit: Annotated[
        int | None, typer.Option("--limit", metavar="N", min=1, help="At most so many questions of each run.")
    ] = None,
    seed: Annotated[int, typer.Option("--seed", metavar="S", help="Of the order, and of the sample.")] = 0,
    as_json: options.AsJson = False,
) -> None:
    """Let language models mark the answers of finished runs, blind and in shuffled order.

    Correctness and coherence are 0, 0.5 or 1, the score 0 to 10. The judges see the question, what is known
    of the true answer, and one answer; not whose it is. Each verdict is kept in the run's judgements.jsonl:
    run the same command again to go on, or to try again what failed. The means are added to results.json.

    \b
    Examples:
      thinkback-lab judge runs/none runs/raw runs/ours --judge openai:gpt-4o-mini
      thinkback-lab judge runs/ours --judge local:qwen-coder-1.5b --judge openai:gpt-4o-mini --limit 30 --json
    """
    with options.one_line_errors(), ExitStack() as stack:
        models = [stack.enter_context(opened(spec)) for spec in judges]
        with progress("answers") as report:
            told = judge_runs(runs, models, seed=seed, limit=limit, report=report)
    if as_json:
        options.show_json(told)
        return
    options.show_table(_table(told), _last(told))


def _table(told: dict[str, Any]) -> Any:
    from rich.table import Table

    grid = Table(box=None, pad_edge=False)
    for name in ("run", "data set", "scheme", "n", *ASPECTS):
        grid.add_column(name, justify="left" if name in {"run", "data set", "scheme"} else "right")
    for run in told["runs"]:
        figures = [_figure(run, f"judge_{aspect}") for aspect in ASPECTS]
        judged = str(run["counts"].get("judge_score", 0))
        grid.add_row(run["run"], run["dataset"], run["scheme"], judged, *figures)
    return grid


def _figure(run: dict[str, Any], name: str) -> str:
    if name not in run["metrics"]:
        return "-"
    low, high = run["intervals"][name]
    return f"{run['metrics'][name]:.3f} [{low:.3f}, {high:.3f}]"


def _last(told: dict[str, Any]) -> str:
    failed = sum(run["judges"]["failed"] for run in told["runs"])
    lines = [f"judged by {', '.join(told['judges'])}; without a verdict: {failed}"]
    for pair in told["agreement"]:
        if pair["n"]:
            alike = [
                f"{label} {pair[label]['exact']:.3f} alike, kappa {pair[label]['kappa']}"
                for label in ("correctness", "coherence")
            ]
            lines.append(f"{' and '.join(pair['judges'])} over {pair['n']} answers: {'; '.join(alike)}")
    return "\n".join(lines)
