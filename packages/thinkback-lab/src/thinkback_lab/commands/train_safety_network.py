"""`thinkback-lab train safety-network`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from thinkback.network.cross_encoder import get_cross_encoder
from thinkback_lab.commands import options
from thinkback_lab.commands.train import (
    DevelopmentOption,
    ModelOption,
    SafetyFilesArgument,
    TalkOption,
    check_model_path,
    read_safety_files,
    save_model,
)
from thinkback_lab.progress import progress
from thinkback_lab.training.safety_detector import harmless_texts
from thinkback_lab.training.safety_network import EPOCHS, train_safety_network
from thinkback_lab.training.sentence_classifier import read_lives

if TYPE_CHECKING:
    from rich.table import Table

TALK_SHARE = 3  # of so many texts of ordinary talk, one is learned


def safety_network(
    files: SafetyFilesArgument,
    talk: TalkOption = None,
    values: Annotated[
        list[Path] | None,
        typer.Option("--values", metavar="FOLDER", help="Texts with secret and harmless values."),
    ] = None,
    epochs: Annotated[int, typer.Option(min=1, help="How often each text is read.")] = EPOCHS,
    seed: Annotated[int, typer.Option(help="Of the first weights and the order of the texts.")] = 0,
    dev: DevelopmentOption = "dev",
    data: options.DataOption = None,
    out: ModelOption = None,
    as_json: options.JsonOption = False,
) -> None:
    """Train the layer with which the network of thinkback-reranker finds orders and secrets.

    Prints which share is found and which share of harmless texts is taken for one, each on files left out,
    together with the linear detector (`train safety`). Needs torch.

    \b
    Examples:
      thinkback-lab train safety-network scenarios/safety/*.jsonl --values scenarios/safety/values \\
          --talk train --talk scenarios/lives/train.jsonl --talk scenarios/lives/train2.jsonl \\
          --out src/thinkback/language/models/safety_network.npz
    """
    with options.exit_on_error():
        check_model_path(out)
        cases, value_cases = read_safety_files(files, values)
        lives = read_lives(["train"] if talk is None else talk, data)
        messages = list(dict.fromkeys(harmless_texts(lives)))[::TALK_SHARE]
        development = [turn.user for life in read_lives([dev], data) for turn in life.turns if turn.user]
        with progress("texts") as report:
            trained = train_safety_network(
                cases,
                value_cases,
                messages,
                development,
                get_cross_encoder(),
                epochs=epochs,
                seed=seed,
                on_progress=report,
            )
        save_model(trained.model, out)
    settings = {
        "files": sorted(cases),
        "values": sorted(value_cases),
        "talk": talk or ["train"],
        "dev": dev,
        "epochs": epochs,
        "seed": seed,
    }
    if as_json:
        options.print_json(
            {"settings": settings, "out": None if out is None else str(out), **trained.figures}
        )
    else:
        options.print_table(_table(trained.figures), f"{trained.figures['texts']} labelled texts")


def _table(figures: Mapping[str, Any]) -> Table:
    from rich.table import Table

    grid = Table(box=None, pad_edge=False)
    for title in ("texts", "kind", "n", "quoted", "redacted"):
        grid.add_column(title, justify="left" if title in ("texts", "kind") else "right")
    for name, label in (("left_out", "files left out"), ("ordinary_talk", "ordinary talk")):
        for kind, row in figures[name].items():
            if row["n"]:
                cells = (f"{row[each]:.4f}" for each in ("quoted", "redacted"))
                grid.add_row(label, kind, str(row["n"]), *cells)
    return grid
