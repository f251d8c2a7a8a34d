"""The options that evaluations share, and how every one of them ends."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from thinkback import ThinkbackError
from thinkback_lab.harness import Setup, ThinkMode
from thinkback_lab.runs.folder import RunFolder

if TYPE_CHECKING:
    from rich.table import Table

FilesArgument = Annotated[
    list[Path], typer.Argument(metavar="FILE", help="JSON lines, plain or gzipped; a folder means all in it.")
]
LimitOption = Annotated[
    int | None, typer.Option("--limit", metavar="N", min=1, help="At most so many of them.")
]
SeedOption = Annotated[
    int | None,
    typer.Option("--seed", metavar="S", help="With --limit: a random sample, not the first ones."),
]
DataOption = Annotated[
    Path | None, typer.Option("--data", metavar="DIR", help="Where the files lie; else $THINKBACK_DATA.")
]
SchemeOption = Annotated[
    str,
    typer.Option(
        "--scheme", metavar="NAME", help="The memory system (`thinkback-lab schemes`), or file.py:Name."
    ),
]
RanksOption = Annotated[
    list[int] | None,
    typer.Option("--k", metavar="K...", min=1, help="Ranks to score at, as in --k 1 3 5 10 (the default)."),
]
RunFolderOption = Annotated[
    Path | None,
    typer.Option("--out", metavar="DIR", help="The run's folder; if it is unfinished, go on with it."),
]
SaveOption = Annotated[
    Path | None, typer.Option("--out", metavar="DIR", help="Also keep the result there, for `tables`.")
]
FreshOption = Annotated[
    bool, typer.Option("--fresh", help="With --out: throw away what is there, begin anew.")
]
LlmOption = Annotated[
    str, typer.Option("--llm", metavar="SPEC", help="openai:MODEL, local:NAME_OR_PATH or none.")
]
EmbedderOption = Annotated[
    str, typer.Option("--embedder", metavar="SPEC", help="minilm, wordllama, hashing or openai:MODEL.")
]
PresetOption = Annotated[
    str,
    typer.Option("--preset", help="How to search: hybrid, fading, tim, fuzzy, perltqa, bm25 or dense."),
]
ThinkOption = Annotated[ThinkMode, typer.Option("--think", help="Who thinks.")]
JsonOption = Annotated[
    bool, typer.Option("--json", help="The result as JSON on standard output, all else on standard error.")
]


def make_setup(llm: str, embedder: str, preset: str, think: ThinkMode) -> Setup:
    return Setup(llm=None if llm == "none" else llm, embedder=embedder, preset=preset, think=think)


@contextmanager
def exit_on_error() -> Iterator[None]:
    """An error of our tree is one line on standard error, and status 1."""
    try:
        yield
    except ThinkbackError as error:
        sys.stderr.write(f"error: {' '.join(str(error).split())}\n")
        raise typer.Exit(1) from None


def save_result(summary: Mapping[str, Any], out: Path | None) -> None:
    """An evaluation that is over in one go, kept as a finished run without questions."""
    if out is not None:
        head = {key: summary[key] for key in ("dataset", "scheme", "settings")}
        with RunFolder(out, head, shlex.join(["thinkback-lab", *sys.argv[1:]])) as folder:
            folder.finish(summary)


def print_json(summary: Mapping[str, Any]) -> None:
    sys.stdout.write(json.dumps(summary, ensure_ascii=False, indent=2) + "\n")


def print_table(grid: Table, last: str) -> None:
    print_grid(grid)
    sys.stdout.write(f"\n{last}\n")


def print_grid(grid: Table, *, wide: bool = False) -> None:
    """Fitted to the terminal; in a pipe, and where it is asked for, as wide as it needs."""
    from rich.console import Console

    console = Console(markup=False, emoji=False, highlight=False)
    if wide or not console.is_terminal:
        needed = console.measure(grid, options=console.options.update(width=1000)).maximum
        console.width = max(console.width, needed)
    console.print(grid)
