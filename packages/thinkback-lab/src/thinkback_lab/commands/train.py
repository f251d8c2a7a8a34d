"""`thinkback-lab train kinds`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from thinkback import Memory
from thinkback_lab.commands import options
from thinkback_lab.errors import LabError
from thinkback_lab.harness import IN_MEMORY
from thinkback_lab.progress import progress
from thinkback_lab.training.kind_classifier import train_kind_model

if TYPE_CHECKING:
    from rich.table import Table


def kinds(
    characters: Annotated[
        int, typer.Option("--characters", metavar="N", min=1, help="Number of characters per language.")
    ] = 40,
    seed: Annotated[
        int, typer.Option("--seed", metavar="S", help="Seed of the worlds and of the split.")
    ] = 0,
    embedder: options.EmbedderOption = "minilm",
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Write the model there (.npz).")
    ] = None,
    as_json: options.JsonOption = False,
) -> None:
    """Train the kind classifier that thinkback ships: which kind of memory does a question ask for?

    It is trained on questions of generated worlds and on handwritten ones, in English and Chinese, and tested
    on worlds of another seed and on a held-out fifth of the handwritten questions.

    \b
    Examples:
      thinkback-lab train kinds --json
      thinkback-lab train kinds --out src/thinkback/recall/kinds.npz
    """
    with options.exit_on_error():
        if out is not None and out.suffix != ".npz":
            raise LabError(f"{out}: the file name must end in .npz")
        with (
            Memory.open(IN_MEMORY, embedder=embedder, background=False) as memory,
            progress("vectors") as report,
        ):
            trained = train_kind_model(memory.embedder, characters, seed, report)
        if out is not None:
            try:
                trained.model.save(out)
            except OSError as error:
                raise LabError(f"{out}: {error.strerror or error}") from error
    settings = {"characters": characters, "seed": seed, "embedder": trained.model.embedder}
    summary = {"settings": settings, "out": None if out is None else str(out), **trained.figures}
    if as_json:
        options.print_json(summary)
    else:
        options.print_table(_training_table(trained.figures), f"{summary['learned']} training questions")


def _training_table(figures: Mapping[str, Any]) -> Table:
    from rich.table import Table

    grid = Table(box=None, pad_edge=False)
    grid.add_column("")
    for title in ("n", "F1", "kind acc.", "F1 of each kind"):
        grid.add_column(title, justify="right")
    for name, row in figures.items():
        if isinstance(row, Mapping):
            each = "  ".join(f"{kind} {f1:.2f}" for kind, f1 in row["kinds"].items())
            grid.add_row(name, str(row["n"]), f"{row['f1']:.3f}", f"{row['kind_accuracy']:.3f}", each)
    return grid
