"""`thinkback-lab eval embedders`."""

from __future__ import annotations

from typing import Annotated

import typer

from thinkback.embedders.registry import create_embedder
from thinkback_lab.commands import options
from thinkback_lab.errors import DatasetNotFound
from thinkback_lab.evaluations.embedders import (
    OPEN_SETS,
    compare_embedders,
    embedders_table,
    load_evidence_cases,
)
from thinkback_lab.progress import progress

DEFAULT_SPECS = ("minilm", "minilm+use", "use")
DEFAULT_LIMIT = 100


def embedders(
    data: options.DataOption = None,
    embedder: Annotated[
        list[str] | None,
        typer.Option(
            "--embedder",
            metavar="SPEC",
            help=f"An embedder; may be repeated. Default: {', '.join(DEFAULT_SPECS)}.",
        ),
    ] = None,
    dataset: Annotated[
        list[str] | None,
        typer.Option(
            "--dataset",
            metavar="NAME",
            help=f"A data set; may be repeated. Default: lives, {', '.join(OPEN_SETS)}.",
        ),
    ] = None,
    split: Annotated[str, typer.Option("--split", help="Which lives: dev, train, or a file.")] = "dev",
    limit: Annotated[
        int, typer.Option("--limit", min=1, metavar="N", help="At most N questions of an open data set.")
    ] = DEFAULT_LIMIT,
    as_json: options.JsonOption = False,
) -> None:
    """Compare embedders by dense retrieval alone: evidence turns among the five nearest to a question.

    \b
    Examples:
      thinkback-lab eval embedders --data DIR
      thinkback-lab eval embedders --data DIR --embedder minilm --embedder bilingual --dataset lives
    """
    with options.exit_on_error():
        cases = load_evidence_cases(data, split, dataset or ["lives", *OPEN_SETS], limit)
        if not cases:
            raise DatasetNotFound("no data set was found: give --data, or set THINKBACK_DATA")
        models = {spec: create_embedder(spec) for spec in embedder or DEFAULT_SPECS}
        with progress("embedders") as report:
            result = compare_embedders(cases, models, report)
    if as_json:
        options.print_json(result)
    else:
        options.print_table(
            embedders_table(result), "the five nearest raw turns, no words and no thoughts involved"
        )
