"""Options that several commands share, and how their words are read."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from typing import Annotated

import typer

STDIN = "-"


def moment(text: str) -> datetime:
    """ISO 8601 -> UTC; without a zone it is the local time of this machine."""
    try:
        return datetime.fromisoformat(text.strip()).astimezone(UTC)
    except (ValueError, OverflowError, OSError):
        raise typer.BadParameter(f"{text!r} is no time: write 2024-05-31 or 2024-05-31T18:30+02:00") from None


AsOf = Annotated[
    datetime | None,
    typer.Option(
        "--as-of",
        parser=moment,
        metavar="TIME",
        help="What held at that time (ISO 8601; without a zone: local time).",
    ),
]
KnownAt = Annotated[
    datetime | None,
    typer.Option(
        "--known-at",
        parser=moment,
        metavar="TIME",
        help="What this memory knew at that time, whatever it learned since.",
    ),
]
At = Annotated[
    datetime | None,
    typer.Option(
        "--at",
        parser=moment,
        metavar="TIME",
        help="When it was said (ISO 8601; without a zone: local time). A time to come is taken as it is.",
    ),
]
Limit = Annotated[int, typer.Option("--limit", metavar="N", min=1, help="The newest so many.")]
Later = Annotated[bool, typer.Option("--later", help="Do not think it over now; `thinkback think` will.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]


def read_stdin() -> str:
    """All of standard input as UTF-8; bytes that are no UTF-8 become U+FFFD."""
    return sys.stdin.buffer.read().decode("utf-8-sig", "replace")


def confirm(question: str, *, yes: bool) -> None:
    """Ask a person; a script has to say --yes. Ends the command where the answer is no."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise typer.BadParameter(f"{question} There is nobody to ask: say --yes", param_hint="--yes")
    sys.stderr.write(f"{question} [y/N] ")
    sys.stderr.flush()
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        sys.stderr.write("Nothing was done.\n")
        raise typer.Exit(1)
