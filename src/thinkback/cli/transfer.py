"""`export`, `import`: a memory as a file."""

from __future__ import annotations

import os
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from thinkback.cli.command import (
    STDIO_MARKER,
    CommandCall,
    LaterOption,
    YesOption,
    confirm,
    read_stdin,
    register_command,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from thinkback.cli.output import ProgressCallback


class ImportFormat(StrEnum):
    """Who wrote a file."""

    THINKBACK = "thinkback"
    MEM0 = "mem0"


def register(app: typer.Typer) -> None:
    register_command(app, "embedder")(export)
    register_command(app, "embedder", "preset", "llm", "think", name="import")(import_)


def export(
    call: CommandCall,
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="Where to; - is standard output.")
    ] = STDIO_MARKER,
    yes: YesOption = False,
) -> None:
    """Write one user's whole memory as JSON lines; `thinkback import` reads them back.

    A file appears whole or not at all. One that is there already is replaced only with --yes.

    \b
    Examples:
      thinkback export ann.jsonl --user ann
      thinkback export | gzip > memory.jsonl.gz
    """
    from thinkback.cli import output

    path = Path(file).expanduser()
    if file != STDIO_MARKER and path.exists():
        confirm(f"{file} exists: replace it?", yes=yes)
    with call.open_memory() as memory:
        if file == STDIO_MARKER:
            for line in memory.export():
                sys.stdout.write(line + "\n")
            return
        count = _write_file(path, memory.export())
    if call.json:
        output.print_json({"file": str(path), "lines": count})
    else:
        output.print_line(f"wrote {count} lines to {path}")


def import_(
    call: CommandCall,
    file: Annotated[str, typer.Argument(metavar="FILE", help="What to read; - is standard input.")],
    later: LaterOption = False,
    from_: Annotated[
        ImportFormat, typer.Option("--from", metavar="FORMAT", help="Whose format it is: thinkback or mem0.")
    ] = ImportFormat.THINKBACK,
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
    from thinkback.cli import output
    from thinkback.cli.output import show_progress
    from thinkback.cli.remember import run_post_think

    text = (
        read_stdin()
        if file == STDIO_MARKER
        else Path(file).expanduser().read_bytes().decode("utf-8-sig", "replace")
    )
    groups = (
        _mem0_lines_by_user(call, text)
        if from_ is ImportFormat.MEM0
        else {call.settings.user: text.split("\n")}
    )
    count = actions = pending = 0
    with call.open_memory(with_llm=not later) as memory:
        with show_progress("importing") as report:
            for user, lines in groups.items():
                count += memory.for_user(user).import_(lines, progress=_offset_progress(count, report))
        for user in groups:
            over = None if later else run_post_think(memory.for_user(user))
            actions += len(over.actions) if over else 0
            pending += memory.for_user(user).stats().pending
    if call.json:
        users = {"users": len(groups)} if from_ is ImportFormat.MEM0 else {}
        output.print_json({"turns": count, "actions": actions, "pending": pending, **users})
        return
    of_whom = f" of {len(groups)} users" if len(groups) != 1 else ""
    output.print_line(f"imported {count} turns{of_whom}; actions of thinking them over: {actions}")
    if pending:
        output.print_note(f"{pending} to be thought over: thinkback think")


def _mem0_lines_by_user(call: CommandCall, text: str) -> dict[str, list[str]]:
    """mem0's memories as lines of ours; a --user takes them all, a configured one those of nobody."""
    from thinkback import mem0

    return mem0.lines_by_user(text, call.settings.user, all_to_user=call.flags["user"] is not None)


def _offset_progress(count: int, report: ProgressCallback) -> ProgressCallback:
    """Progress that goes on where the user before ended."""
    return lambda done, total: report(count + done, None if total is None else count + total)


def _write_file(path: Path, lines: Iterable[str]) -> int:
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
