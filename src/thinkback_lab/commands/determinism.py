"""`thinkback-lab replay` and `thinkback-lab eval determinism`."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Annotated

import typer

from thinkback_lab.commands import options
from thinkback_lab.determinism import HASH_SEEDS, compare, replay_apart, written
from thinkback_lab.determinism import replay as replay_into
from thinkback_lab.progress import progress
from thinkback_lab.scenarios.format import read_scenarios


def replay(
    files: options.Files,
    into: Annotated[Path, typer.Option("--into", metavar="DB", help="A database that is not there yet.")],
    llm: options.Llm = "none",
    embedder: options.Embedder = "minilm",
    preset: options.Preset = "hybrid",
    think: options.ThinkBy = "auto",
) -> None:
    """Tell scenarios to a database, each to a user named by its id, at their own times.

    \b
    Examples:
      thinkback-lab replay scenarios/ --into told.db && thinkback thoughts --db told.db --user en-update-01
    """
    with options.one_line_errors(), progress("scenarios") as report:
        setup = options.setup_of(llm, embedder, preset, think)
        replay_into(read_scenarios(files), into, setup, report)


def determinism(
    files: options.Files,
    embedder: options.Embedder = "minilm",
    preset: options.Preset = "hybrid",
    as_json: options.AsJson = False,
) -> None:
    """The same turns give the same bytes, in two processes with different hash seeds.

    Each process replays the scenarios, without a model, into a database of its own; then the exports of all
    spaces and the rows of all tables are compared. Status 1 if they differ.

    \b
    Examples:
      thinkback-lab eval determinism scenarios/ --json
    """
    with options.one_line_errors(), tempfile.TemporaryDirectory() as folder, progress("processes") as report:
        setup = options.setup_of("none", embedder, preset, "rules")
        users = [scenario.id for scenario in read_scenarios(files)]
        places = {seed: Path(folder, f"{seed}.db") for seed in HASH_SEEDS}
        for number, (seed, place) in enumerate(places.items(), start=1):
            replay_apart(files, place, setup, seed)
            report(number, len(places))
        told = compare(*(written(place, users, setup) for place in places.values()))
    same = all(each["identical"] for each in told.values())
    if as_json:
        head = {"dataset": "determinism", "scheme": "thinkback", "settings": setup.told, "n": len(users)}
        options.show_json({**head, "metrics": {"identical": same, **told}, "by_category": {}})
    else:
        for name, each in told.items():
            typer.echo(f"{name}: {'identical' if each['identical'] else 'DIFFERENT'}, {each['lines']} lines")
    if not same:
        raise typer.Exit(1)
