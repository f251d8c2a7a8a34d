"""The command line of the laboratory: it translates, the modules behind it decide."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from thinkback import ThinkbackError
from thinkback_lab.errors import LabError
from thinkback_lab.progress import progress
from thinkback_lab.scenarios.format import read_scenarios
from thinkback_lab.scenarios.replay import Setup, Think
from thinkback_lab.scenarios.run import choose, run
from thinkback_lab.scenarios.summary import summarise, table

NAMES = ("scenarios",)
INTERRUPTED = 130

app = typer.Typer(
    name="thinkback-lab",
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


@app.callback()
def thinkback_lab() -> None:
    """Measure memory: replay data into a memory, ask, and count what comes back.

    \b
    To begin:
      thinkback-lab eval scenarios scenarios/                      the unit tests of memory
      thinkback-lab eval scenarios scenarios/chinese.jsonl --json  the same for a machine
    """


@app.command(name="eval", short_help="Run one evaluation.")
def evaluate(
    name: Annotated[str, typer.Argument(metavar="NAME", help="What to run: scenarios.")],
    files: Annotated[
        list[Path] | None,
        typer.Argument(metavar="FILE", help="JSON lines, plain or gzipped; a folder means all in it."),
    ] = None,
    limit: Annotated[
        int | None, typer.Option("--limit", metavar="N", min=1, help="At most so many scenarios.")
    ] = None,
    category: Annotated[
        list[str] | None, typer.Option("--category", metavar="NAME", help="Only this one; may be repeated.")
    ] = None,
    lang: Annotated[
        list[str] | None,
        typer.Option("--lang", metavar="LANG", help="Only en, zh or mixed; may be repeated."),
    ] = None,
    llm: Annotated[
        str, typer.Option("--llm", metavar="SPEC", help="openai:MODEL, local:NAME_OR_PATH or none.")
    ] = "none",
    embedder: Annotated[
        str, typer.Option("--embedder", metavar="SPEC", help="minilm, wordllama, hashing or openai:MODEL.")
    ] = "minilm",
    preset: Annotated[str, typer.Option("--preset", help="How to search: hybrid or tim.")] = "hybrid",
    think: Annotated[Think, typer.Option("--think", help="Who thinks.")] = "auto",
    seed: Annotated[
        int | None,
        typer.Option("--seed", metavar="S", help="With --limit: a random sample, not the first ones."),
    ] = None,
    as_json: Annotated[
        bool,
        typer.Option("--json", help="The result as JSON on standard output, all else on standard error."),
    ] = False,
) -> None:
    """Run one evaluation and print its figures.

    A scenario is a dialogue with questions at its end. Its turns are replayed into an empty memory at their
    own times and thought over; then each question is recalled. A probe passes when one alternative of every
    `expect` list stands in what came back, and no `reject` string in a recalled current thought.

    \b
    Examples:
      thinkback-lab eval scenarios scenarios/
      thinkback-lab eval scenarios mine.jsonl.gz --json | jq '.failures[] | {id, probe, why}'
      thinkback-lab eval scenarios scenarios/ --category update --category negation --lang zh
      thinkback-lab eval scenarios scenarios/ --llm local:qwen-coder-1.5b --think llm --limit 30 --seed 1
    """
    try:
        if name not in NAMES:
            raise LabError(f"no evaluation {name!r}: choose from {', '.join(NAMES)}")
        if not files:
            raise LabError("no file: name JSON lines or a folder, for example `eval scenarios scenarios/`")
        setup = Setup(llm=None if llm == "none" else llm, embedder=embedder, preset=preset, think=think)
        chosen = choose(
            read_scenarios(files), categories=category or (), langs=lang or (), limit=limit, seed=seed
        )
        with progress(name) as report:
            results = run(chosen, setup, report)
    except ThinkbackError as error:
        sys.stderr.write(f"error: {' '.join(str(error).split())}\n")
        raise typer.Exit(1) from None
    settings = {"llm": llm, "embedder": embedder, "preset": preset, "think": think}
    _show(summarise(results, {**settings, "limit": limit, "seed": seed}), as_json)


def _show(summary: dict[str, Any], as_json: bool) -> None:
    if as_json:
        sys.stdout.write(json.dumps(summary, ensure_ascii=False, indent=2) + "\n")
        return
    from rich.console import Console

    Console(markup=False, emoji=False, highlight=False).print(table(summary))
    f1 = summary["triples"]["f1"]
    sys.stdout.write(
        f"\ntriple F1 {'-' if f1 is None else format(f1, '.3f')}; "
        f"{summary['ms_per_turn']} ms a turn, {summary['ms_per_probe']} ms a probe; "
        f"{len(summary['failures'])} failures (--json tells each)\n"
    )


def main() -> None:
    """The entry point: 0 done, 1 an error (one line on standard error), 2 used wrongly, 130 Ctrl-C."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # what a terminal cannot show must not end the command
            stream.reconfigure(encoding=None if stream.isatty() else "utf-8", errors="backslashreplace")
    try:
        app(prog_name="thinkback-lab")
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
