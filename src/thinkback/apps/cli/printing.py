"""What reaches the terminal: text that cannot control it, tables, and JSON for machines."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

# C0 and C1 controls (ANSI escapes begin with one), bidi embeddings, overrides and isolates, lone surrogates.
_CONTROL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
_JSON_CONTROL = re.compile("[\x7f-\x9f\u061c\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_PIPE_WIDTH = 100_000  # no wrapping where nobody looks: a line stays a line
CELL = 300  # characters of a memory in a table; --json and `why` show all


def printable(text: str) -> str:
    """The text with every character that controls a terminal made visible: ESC becomes \\x1b."""
    return _CONTROL.sub(lambda found: _visible(found[0]), text)


def one_line(text: str, limit: int = CELL) -> str:
    """The same on one line, and not endless."""
    line = printable(" ".join(text[: limit * 4].split()))
    return line if len(line) <= limit else line[: limit - 1] + "…"


def out() -> Console:
    return _console(stderr=False)


def err() -> Console:
    return _console(stderr=True)


def say(text: str = "", style: str = "", *, end: str = "\n") -> None:
    """A line for the person on standard output; the text is made printable, never read as markup."""
    from rich.text import Text

    out().print(Text(printable(text), style), end=end, soft_wrap=True)


def note(text: str, style: str = "dim") -> None:
    """A line beside the result, on standard error."""
    from rich.text import Text

    err().print(Text(printable(text), style), soft_wrap=True)


def table(columns: Sequence[str], rows: Iterable[Sequence[object]], *, wide: Sequence[str] = ()) -> None:
    """Aligned columns; those in `wide` are folded to fit a terminal. Each row is one line when piped."""
    from rich.table import Table
    from rich.text import Text

    grid = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        grid.add_column(column, overflow="fold", no_wrap=column not in wide)
    for row in rows:
        grid.add_row(*(Text(one_line(str(cell))) for cell in row))
    console = out()
    with console.capture() as drawn:
        console.print(grid)
    sys.stdout.write("".join(f"{line.rstrip()}\n" for line in drawn.get().splitlines()))


def json_text(value: Any, *, indent: int | None = 2) -> str:
    """JSON in Unicode, with what could control a terminal as \\u escapes."""
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    return _JSON_CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def print_json(value: Any, *, indent: int | None = 2) -> None:
    sys.stdout.write(json_text(value, indent=indent) + "\n")
    sys.stdout.flush()


def _console(*, stderr: bool) -> Console:
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else _PIPE_WIDTH
    return Console(stderr=stderr, markup=False, emoji=False, highlight=False, width=width)


def _visible(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
