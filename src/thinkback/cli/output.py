"""Terminal output: escaped text, tables, JSON, and progress bars on standard error."""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console


# C0 and C1 controls (ANSI escape sequences start with one), bidirectional controls, lone surrogates.
_CONTROL_RE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
_JSON_CONTROL_RE = re.compile("[\x7f-\x9f\u061c\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_PIPE_WIDTH_COLUMNS = 100_000  # output to a pipe is never wrapped: one row, one line
MAX_CELL_CHARS = 300  # longer table cells are cut; --json and `why` show the whole text


def printable(text: str) -> str:
    """Escape every character that could control a terminal, for example ESC as \\x1b."""
    return _CONTROL_RE.sub(lambda match: _escape_character(match[0]), text)


def one_line(text: str, limit: int = MAX_CELL_CHARS) -> str:
    """`printable` text on one line, cut to `limit` characters."""
    line = printable(" ".join(text[: limit * 4].split()))
    return line if len(line) <= limit else line[: limit - 1] + "…"


def stdout_console() -> Console:
    return _make_console(stderr=False)


def stderr_console() -> Console:
    return _make_console(stderr=True)


def print_line(text: str = "", style: str = "", *, end: str = "\n") -> None:
    """Print a line on standard output; control characters are escaped and markup is not interpreted."""
    from rich.text import Text

    stdout_console().print(Text(printable(text), style), end=end, soft_wrap=True)


def print_note(text: str, style: str = "dim") -> None:
    """Print a line that is not part of the result, on standard error."""
    from rich.text import Text

    stderr_console().print(Text(printable(text), style), soft_wrap=True)


def print_table(
    columns: Sequence[str], rows: Iterable[Sequence[object]], *, fold: Sequence[str] = ()
) -> None:
    """Print aligned columns; those in `fold` wrap on a terminal. In a pipe each row is one line."""
    from rich.table import Table
    from rich.text import Text

    grid = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        grid.add_column(column, overflow="fold", no_wrap=column not in fold)
    for row in rows:
        grid.add_row(*(Text(one_line(str(cell))) for cell in row))
    console = stdout_console()
    with console.capture() as captured:
        console.print(grid)
    sys.stdout.write("".join(f"{line.rstrip()}\n" for line in captured.get().splitlines()))


def to_json_text(value: Any, *, indent: int | None = 2) -> str:
    """JSON that keeps Unicode readable but writes terminal control characters as \\u escapes."""
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    return _JSON_CONTROL_RE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def print_json(value: Any, *, indent: int | None = 2) -> None:
    sys.stdout.write(to_json_text(value, indent=indent) + "\n")
    sys.stdout.flush()


def _make_console(*, stderr: bool) -> Console:
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else _PIPE_WIDTH_COLUMNS
    return Console(stderr=stderr, markup=False, emoji=False, highlight=False, width=width)


def _escape_character(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


ProgressCallback = Callable[[int, int | None], None]
"""Called as `report(done, total)`; `total` is None if it is unknown."""
FIRST_LINE_DELAY_SECONDS = 1.0
LINE_INTERVAL_SECONDS = 5.0


@contextmanager
def show_progress(label: str, *, in_bytes: bool = False) -> Iterator[ProgressCallback]:
    """Show progress on standard error: a bar on a terminal, otherwise a line every few seconds.

    Example:
        with show_progress("thinking") as report:
            report(done, total)
    """
    if sys.stderr.isatty():
        with _progress_bar(label, in_bytes) as report:
            yield report
    else:
        yield _ProgressLines(label)


@contextmanager
def _progress_bar(label: str, in_bytes: bool) -> Iterator[ProgressCallback]:
    from rich import progress as rich_progress

    count = rich_progress.DownloadColumn() if in_bytes else rich_progress.MofNCompleteColumn()
    columns = (
        rich_progress.TextColumn("{task.description}", markup=False),
        rich_progress.BarColumn(),
        count,
        rich_progress.TimeRemainingColumn(),
    )
    with rich_progress.Progress(*columns, console=stderr_console(), transient=True) as bar:
        task = bar.add_task(label, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


class _ProgressLines:
    """Prints nothing in the first second, then one line every few seconds."""

    def __init__(self, label: str) -> None:
        self._label = label
        self._next_line_at = time.monotonic() + FIRST_LINE_DELAY_SECONDS

    def __call__(self, done: int, total: int | None) -> None:
        if (now := time.monotonic()) >= self._next_line_at:
            self._next_line_at = now + LINE_INTERVAL_SECONDS
            print_note(f"{self._label}: {done:,}" + (f" of {total:,}" if total else ""), style="")
