"""`export`, `import`: a memory as a file."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from thinkback.apps.cli.command import Call, command
from thinkback.apps.cli.options import STDIN, Later, Yes, confirm, read_stdin

if TYPE_CHECKING:
    from collections.abc import Iterable


def register(app: typer.Typer) -> None:
    command(app, "embedder")(export)
    command(app, "embedder", "preset", "llm", "think", name="import")(import_)


def export(
    call: Call,
    file: Annotated[str, typer.Argument(metavar="FILE", help="Where to; - is standard output.")] = STDIN,
    yes: Yes = False,
) -> None:
    """Write one user's whole memory as JSON lines; `thinkback import` reads them back.

    A file appears whole or not at all. One that is there already is replaced only with --yes.

    \b
    Examples:
      thinkback export ann.jsonl --user ann
      thinkback export | gzip > memory.jsonl.gz
    """
    from thinkback.apps.cli import printing

    path = Path(file).expanduser()
    if file != STDIN and path.exists():
        confirm(f"{file} exists: replace it?", yes=yes)
    with call.memory() as memory:
        if file == STDIN:
            for line in memory.export():
                sys.stdout.write(line + "\n")
            return
        count = _write(path, memory.export())
    if call.json:
        printing.print_json({"file": str(path), "lines": count})
    else:
        printing.say(f"wrote {count} lines to {path}")


def import_(
    call: Call,
    file: Annotated[str, typer.Argument(metavar="FILE", help="What to read; - is standard input.")],
    later: Later = False,
) -> None:
    """Read an export into a user without memories, or remember turns from elsewhere.

    \b
    Lines from elsewhere look like one of these ("at", "session" and "key" may be left out):
      {"query": "...", "response": "...", "at": "2024-05-31T18:30Z", "session": "a", "key": "1"}
      {"messages": [{"role": "user", "content": "..."}, {"role": "assistant", "content": "..."}]}

    Everything is checked before anything is written.

    \b
    Examples:
      thinkback import ann.jsonl --user ann
      zcat memory.jsonl.gz | thinkback import -
    """
    from thinkback.apps.cli import printing
    from thinkback.apps.cli.progress import progress
    from thinkback.apps.cli.writing import think_over

    text = (
        read_stdin() if file == STDIN else Path(file).expanduser().read_bytes().decode("utf-8-sig", "replace")
    )
    with call.memory(thinks=not later) as memory:
        with progress("importing") as report:
            count = memory.import_(text.split("\n"), progress=report)
        over = None if later else think_over(memory)
        pending = memory.stats().pending
    actions = len(over.actions) if over else 0
    if call.json:
        printing.print_json({"turns": count, "actions": actions, "pending": pending})
        return
    printing.say(f"imported {count} turns; actions of thinking them over: {actions}")
    if pending:
        printing.note(f"{pending} to be thought over: thinkback think")


def _write(path: Path, lines: Iterable[str]) -> int:
    """All lines under another name first, for the owner only; then the name is changed."""
    part = path.with_name(path.name + ".part")
    count = 0
    try:
        handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as out:
            for line in lines:
                out.write(line + "\n")
                count += 1
            out.flush()
            os.fsync(out.fileno())
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    return count
