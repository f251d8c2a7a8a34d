"""`thinkback-lab train ranking`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from thinkback_lab.commands import options
from thinkback_lab.datasets.lives import load_lives
from thinkback_lab.harness import Harness, Setup
from thinkback_lab.progress import progress
from thinkback_lab.training.ranking import (
    DEFAULT_RIDGE,
    collect_examples,
    ranking_figures,
    shipped_weights,
    train_ranking,
    weights_array,
)

if TYPE_CHECKING:
    from rich.table import Table


def ranking(
    data: options.DataOption = None,
    split: Annotated[str, typer.Option("--split", help="Lives to learn from: train, or a file.")] = "train",
    dev: Annotated[str, typer.Option("--dev", help="Lives to choose by: dev, or a file.")] = "dev",
    embedder: options.EmbedderOption = "minilm+use",
    ridge: Annotated[
        float, typer.Option("--ridge", min=0.0, help="How much the weights are pulled to those in use.")
    ] = DEFAULT_RIDGE,
    limit: options.LimitOption = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Write the weights there (.json).")
    ] = None,
    as_json: options.JsonOption = False,
) -> None:
    """Learn the weights with which recall ranks thoughts and raw turns, and what each feature contributes.

    The lives are replayed with their gold facts as thoughts. The figures are those of ranking one kind of
    memory alone: with the weights in use, with the learned ones, cross-validated by life, and cross-validated
    without each feature. A better ranking of one kind need not give better answers: check weights with
    `eval lives` before they go into a preset.

    \b
    Examples:
      thinkback-lab train ranking --data DIR
      thinkback-lab train ranking --data DIR --limit 20 --out weights.json --json
    """
    with options.exit_on_error():
        harness = Harness(Setup(embedder=embedder))
        with progress("ranking") as report:
            learned = collect_examples(load_lives(data, split)[:limit], harness, report)
            tested = collect_examples(load_lives(data, dev)[:limit], harness, report)
        trained = train_ranking(learned, ridge)
        for kind, weights in trained.weights.items():
            examples = [example for example in tested if example.kind == kind]
            trained.figures[kind]["dev"] = {
                "questions": len(examples),
                "shipped": ranking_figures(examples, shipped_weights(kind)),
                "learned": ranking_figures(examples, weights_array(weights)),
            }
    if out is not None:
        out.write_text(json.dumps(trained.weights, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    summary: dict[str, Any] = {
        "settings": {"split": split, "dev": dev, "embedder": embedder, "ridge": ridge, "limit": limit},
        "weights": trained.weights,
        **trained.figures,
    }
    if as_json:
        options.print_json(summary)
    else:
        options.print_table(_table(trained.figures), "right memories among the five best of their kind")


def _table(figures: dict[str, Any]) -> Table:
    from rich.table import Table

    grid = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("kind", "weights", "recall@5", "mrr"):
        grid.add_column(title)
    for kind, found in figures.items():
        rows = {name: found[name] for name in ("shipped", "learned", "cross-validated")}
        rows |= {f"dev, {name}": found["dev"][name] for name in ("shipped", "learned")}
        rows |= {f"cross-validated without {name}": scores for name, scores in found["without"].items()}
        for name, scores in rows.items():
            grid.add_row(kind, name, *(f"{value:.3f}" for value in scores.values()))
    return grid
