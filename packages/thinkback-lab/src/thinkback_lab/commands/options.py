"""Options and output helpers that the commands share."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from thinkback import ThinkbackError
from thinkback_lab.harness import Setup, ThinkAfter, ThinkMode
from thinkback_lab.recorded.llm import check_all_replies, require_all_replies
from thinkback_lab.runs.folder import RunFolder

if TYPE_CHECKING:
    from rich.table import Table

FilesArgument = Annotated[
    list[Path], typer.Argument(metavar="FILE", help="JSON lines files, plain or gzipped, or folders of them.")
]
PatientsFolderOption = Annotated[
    Path | None,
    typer.Option(
        "--patients", metavar="DIR", help="Folder of records (YAML files). Default: the built-in ones."
    ),
]
PatientIdsOption = Annotated[
    list[str] | None,
    typer.Option("--only", metavar="ID", help="Only this patient: p01, or p01.zh; may be repeated."),
]
PatientLanguageOption = Annotated[
    Literal["en", "zh"] | None, typer.Option("--lang", help="Only records in this language.")
]
LimitOption = Annotated[int | None, typer.Option("--limit", metavar="N", min=1, help="Maximum number.")]
SeedOption = Annotated[
    int | None,
    typer.Option(
        "--seed", metavar="S", help="With --limit: seed of a random sample; default: the first ones."
    ),
]
DataOption = Annotated[
    Path | None, typer.Option("--data", metavar="DIR", help="Folder of the data. Default: $THINKBACK_DATA.")
]
SchemeOption = Annotated[
    str,
    typer.Option(
        "--scheme", metavar="NAME", help="The memory system (`thinkback-lab schemes`), or file.py:Name."
    ),
]
RanksOption = Annotated[
    list[int] | None,
    typer.Option("--k", metavar="K...", min=1, help="Ranks to score at. Default: --k 1 3 5 10."),
]
RunFolderOption = Annotated[
    Path | None,
    typer.Option("--out", metavar="DIR", help="Folder of the run; an unfinished run is resumed."),
]
SaveOption = Annotated[
    Path | None, typer.Option("--out", metavar="DIR", help="Also save the result there, for `tables`.")
]
FreshOption = Annotated[
    bool, typer.Option("--fresh", help="With --out: delete an existing run and start again.")
]
LlmOption = Annotated[
    str,
    typer.Option("--llm", metavar="SPEC", help="openai:MODEL, local:NAME_OR_PATH, recorded:FOLDER or none."),
]
EmbedderOption = Annotated[
    str,
    typer.Option(
        "--embedder",
        metavar="SPEC",
        help="minilm, minilm+use, bilingual, use, wordllama, hashing or openai:MODEL.",
    ),
]
PresetOption = Annotated[
    str,
    typer.Option(
        "--preset", help="Recall preset: hybrid, careful, fading, tim, fuzzy, perltqa, bm25 or dense."
    ),
]
ThinkOption = Annotated[
    ThinkMode,
    typer.Option("--think", help="Post-think without a model (extractive), by the model (llm), or auto."),
]
ThinkAfterOption = Annotated[
    ThinkAfter,
    typer.Option("--think-after", help="Think after every turn, or once after each session (fewer calls)."),
]
JsonOption = Annotated[
    bool,
    typer.Option(
        "--json", help="Print the result as JSON to standard output, everything else to standard error."
    ),
]


def make_setup(
    llm: str, embedder: str, preset: str, think: ThinkMode, think_after: ThinkAfter = "turn"
) -> Setup:
    return Setup(
        llm=None if llm == "none" else llm,
        embedder=embedder,
        preset=preset,
        think=think,
        think_after=think_after,
    )


@contextmanager
def exit_on_error() -> Iterator[None]:
    """Print a ThinkbackError as one line on standard error and exit with status 1.

    A reply that was missing in a recording counts as an error, too.
    """
    try:
        with require_all_replies():
            yield
    except ThinkbackError as error:
        sys.stderr.write(f"error: {' '.join(str(error).split())}\n")
        raise typer.Exit(1) from None


def save_result(summary: Mapping[str, Any], out: Path | None) -> None:
    """Save a result as a finished run without questions, if an output folder is given."""
    check_all_replies()
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
    """Print a table, fitted to the terminal; in a pipe or with `wide` as wide as needed."""
    from rich.console import Console

    console = Console(markup=False, emoji=False, highlight=False)
    if wide or not console.is_terminal:
        needed = console.measure(grid, options=console.options.update(width=1000)).maximum
        console.width = max(console.width, needed)
    console.print(grid)
