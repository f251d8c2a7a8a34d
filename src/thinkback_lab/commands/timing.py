"""`thinkback-lab eval timing`."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from thinkback import Memory
from thinkback_lab import timing as measuring
from thinkback_lab.commands import options
from thinkback_lab.progress import progress
from thinkback_lab.runs.folder import RunFolder
from thinkback_lab.stage import IN_MEMORY


def timing(
    sizes: Annotated[
        list[int] | None,
        typer.Option(
            "--n", metavar="N", min=measuring.K, help="How many memories; may be repeated [140, 1000]."
        ),
    ] = None,
    queries: Annotated[
        int, typer.Option("--queries", metavar="N", min=1, max=1000, help="How many are asked.")
    ] = measuring.QUERIES,
    embedder: options.Embedder = "minilm",
    seed: Annotated[int, typer.Option("--seed", metavar="S", help="Of the sentences and questions.")] = 0,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Also keep the result there, for `tables`.")
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """How long one retrieval takes, against pairwise similarity over the whole memory (TiM, table 4).

    Made-up sentences are told, questions asked, each way of retrieval in turn; the table shows the median
    milliseconds of one retrieval, embedding not counted, and in brackets what share of the five most similar
    memories came back. Compare within one run only: machines differ.

    \b
      python    a loop in Python: the naive baseline, up to 2000 memories
      pairwise  one numpy product over the whole memory
      group     TiM's hash and its one group, bare, in numpy
      tim       thinkback with the preset tim
      hybrid    thinkback as it is by default

    \b
    Examples:
      thinkback-lab eval timing
      thinkback-lab eval timing --n 140 --n 1000 --n 10000 --embedder hashing --out runs/timing
      thinkback-lab tables runs/timing --table tim-4
    """
    chosen = tuple(sizes or measuring.SIZES)
    with options.one_line_errors(), progress("sizes") as report:
        with Memory.open(IN_MEMORY, embedder=embedder, background=False) as memory:
            told = measuring.measure(memory.embedder, chosen, queries=queries, seed=seed, report=report)
        told["settings"]["embedder"] = embedder
        words = ["--embedder", embedder, "--queries", str(queries), "--seed", str(seed)]
        told["command"] = shlex.join(
            [
                "thinkback-lab",
                "eval",
                "timing",
                *(word for size in chosen for word in ("--n", str(size))),
                *words,
            ]
        )
        if out is not None:
            head = {key: told[key] for key in ("dataset", "scheme", "settings")}
            with RunFolder(out, head, told["command"]) as folder:
                folder.finish(told)
    if as_json:
        options.show_json(told)
        return
    options.show_table(measuring.table(told), measuring.LEGEND)
