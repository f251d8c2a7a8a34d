"""`export`, `import`: a memory as a file."""

from __future__ import annotations

import os
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from thinkback.apps.cli.command import Call, command
from thinkback.apps.cli.options import STDIN, Later, Yes, confirm, read_stdin

if TYPE_CHECKING:
    from collections.abc import Iterable

    from thinkback.apps.cli.progress import Report


class Origin(StrEnum):
    """Who wrote a file."""

    THINKBACK = "thinkback"
    MEM0 = "mem0"


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
    from_: Annotated[
        Origin, typer.Option("--from", metavar="FORMAT", help="Whose format it is: thinkback or mem0.")
    ] = Origin.THINKBACK,
) -> None:
    """Read an export into a user without memories, or remember turns from elsewhere.

    \b
    Lines from elsewhere look like one of these ("at", "session" and "key" may be left out):
      {"query": "...", "response": "...", "at": "2024-05-31T18:30Z", "session": "a", "key": "1"}
      {"messages": [{"role": "user", "content": "..."}, {"role": "assistant", "content": "..."}]}

    With --from mem0, FILE is what mem0 exports: a list of memories as JSON, or one a line. Each goes to the
    user it belongs to there, or all of them to --user; to import it again changes nothing.

    Everything is checked before anything is written.

    \b
    Examples:
      thinkback import ann.jsonl --user ann
      zcat memory.jsonl.gz | thinkback import -
      thinkback import --from mem0 memories.json
    """
    from thinkback.apps.cli import printing
    from thinkback.apps.cli.progress import progress
    from thinkback.apps.cli.writing import think_over

    text = (
        read_stdin() if file == STDIN else Path(file).expanduser().read_bytes().decode("utf-8-sig", "replace")
    )
    groups = _by_user(call, text) if from_ is Origin.MEM0 else {call.settings.user: text.split("\n")}
    count = actions = pending = 0
    with call.memory(thinks=not later) as memory:
        with progress("importing") as report:
            for user, lines in groups.items():
                count += memory.for_user(user).import_(lines, progress=_after(count, report))
        for user in groups:
            over = None if later else think_over(memory.for_user(user))
            actions += len(over.actions) if over else 0
            pending += memory.for_user(user).stats().pending
    if call.json:
        users = {"users": len(groups)} if from_ is Origin.MEM0 else {}
        printing.print_json({"turns": count, "actions": actions, "pending": pending, **users})
        return
    of_whom = f" of {len(groups)} users" if len(groups) != 1 else ""
    printing.say(f"imported {count} turns{of_whom}; actions of thinking them over: {actions}")
    if pending:
        printing.note(f"{pending} to be thought over: thinkback think")


def _by_user(call: Call, text: str) -> dict[str, list[str]]:
    """mem0's memories as lines of ours; a --user takes them all, a configured one those of nobody."""
    from thinkback import mem0

    return mem0.by_user(text, call.settings.user, only=call.flags["user"] is not None)


def _after(count: int, report: Report) -> Report:
    """Progress that goes on where the user before ended."""
    return lambda done, total: report(count + done, None if total is None else count + total)


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
