"""Commands `export` and `import`: a user's memory as a file of JSON lines."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from thinkback.cli import output
from thinkback.cli.cluster import RateOption, RayOption, create_encoder, open_cluster, think_on_cluster
from thinkback.cli.command import (
    STDIO_MARKER,
    CommandCall,
    LaterOption,
    YesOption,
    confirm,
    read_stdin,
    register_command,
)
from thinkback.cli.remember import PENDING_NOTE, run_post_think

if TYPE_CHECKING:
    from collections.abc import Iterable


class ImportFormat(StrEnum):
    """File formats that `thinkback import` reads."""

    THINKBACK = "thinkback"
    MEM0 = "mem0"


def register(app: typer.Typer) -> None:
    register_command(app, "embedder")(export)
    register_command(app, "embedder", "preset", "llm", "think", name="import")(import_)


def export(
    call: CommandCall,
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="File to write; - is standard output.")
    ] = STDIO_MARKER,
    yes: YesOption = False,
) -> None:
    """Write the whole memory of one user as JSON lines, for `thinkback import`.

    The file is written atomically. An existing file is replaced only after confirmation or with --yes.

    \b
    Examples:
      thinkback export ann.jsonl --user ann
      thinkback export | gzip > memory.jsonl.gz
    """
    path = Path(file).expanduser()
    if file != STDIO_MARKER and path.exists():
        confirm(f"{file} exists. Replace it?", yes=yes)
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
    file: Annotated[str, typer.Argument(metavar="FILE", help="File to read; - is standard input.")],
    later: LaterOption = False,
    from_: Annotated[
        ImportFormat, typer.Option("--from", metavar="FORMAT", help="Format of the file: thinkback or mem0.")
    ] = ImportFormat.THINKBACK,
    ray: RayOption = None,
    rate: RateOption = None,
) -> None:
    """Import an export into an empty user, or turns from another system.

    \b
    Turns of another system are JSON lines of these forms ("at", "session" and "key" are optional):
      {"query": "...", "response": "...", "at": "2024-05-31T18:30Z", "session": "a", "key": "1"}
      {"messages": [{"role": "user", "content": "..."}, {"role": "assistant", "content": "..."}]}

    With --from mem0, FILE is an export of mem0: a JSON list of memories, or one memory per line. Each memory
    goes to its own user, or all of them to --user. Importing the same file again changes nothing.

    The whole file is validated before anything is written.

    With --ray, a cluster computes vectors and thoughts; thoughts need PostgreSQL, else use --later. Turns
    without a key get one from their position and text, so an interrupted import can be repeated.

    \b
    Examples:
      thinkback import ann.jsonl --user ann
      zcat memory.jsonl.gz | thinkback import -
      thinkback import --from mem0 memories.json
      thinkback import turns.jsonl --ray 10.0.0.1:6379
    """
    if ray is not None and not later:
        from thinkback.bulk.thinking import require_shared_database

        require_shared_database(call.settings)
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
    actions = pending = 0
    with ExitStack() as stack:
        cluster = None if ray is None else stack.enter_context(open_cluster(ray))
        memory = stack.enter_context(call.open_memory(with_llm=not later and cluster is None))
        encoder = None
        if cluster is not None:
            encoder = create_encoder(cluster, call.settings, memory.store.embedder())
        with output.show_progress("importing") as report:
            count = memory.import_users(
                groups, encoder=encoder, repeatable=cluster is not None, progress=report
            )
        users = {user: memory.for_user(user) for user in groups}
        if cluster is not None and not later:
            names = [each.user for each in users.values()]
            actions = think_on_cluster(cluster, call.settings, names, rate).actions
        elif not later:
            actions = sum(len(run_post_think(each).actions) for each in users.values())
        pending = sum(each.stats().pending for each in users.values())
    if call.json:
        user_count = {"users": len(groups)} if from_ is ImportFormat.MEM0 else {}
        output.print_json({"turns": count, "actions": actions, "pending": pending, **user_count})
        return
    owners = f" of {len(groups)} users" if len(groups) != 1 else ""
    output.print_line(f"imported {count} turns{owners}, actions: {actions}")
    if pending:
        output.print_note(PENDING_NOTE.format(pending))


def _mem0_lines_by_user(call: CommandCall, text: str) -> dict[str, list[str]]:
    """mem0's memories converted to our import lines, grouped by user.

    An explicit --user gets all of them; the configured default user gets those without a user.
    """
    from thinkback import mem0

    return mem0.lines_by_user(text, call.settings.user, all_to_user=call.flags["user"] is not None)


def _write_file(path: Path, lines: Iterable[str]) -> int:
    """Write all lines to a new file readable by its owner only, which replaces `path`. Returns the count."""
    from thinkback.storage.private_files import replacing

    count = 0
    with replacing(path) as part, part.open("w", encoding="utf-8", newline="\n") as out:
        for line in lines:
            out.write(line + "\n")
            count += 1
    return count
