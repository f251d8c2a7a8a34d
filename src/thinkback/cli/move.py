"""Command `move`: all memories of one database to another, SQLite or PostgreSQL."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from thinkback.cli import output
from thinkback.cli.command import CommandCall, register_command


def register(app: typer.Typer) -> None:
    register_command(app, per_user=False)(move)


def move(
    call: CommandCall,
    source: Annotated[str, typer.Argument(metavar="FROM", help="The database to read: a file or URL.")],
    target: Annotated[str, typer.Argument(metavar="TO", help="The database to write to: a file or URL.")],
) -> None:
    """Copy all tenants, users and keys to another database, for example from SQLite to PostgreSQL.

    Everything is kept: turns, thoughts, journal, summaries, index, ids. Each user is written in one
    transaction, read back and compared by checksum. If it is interrupted, run it again: users that are
    already there are compared and skipped. Stop all servers and workers first; a change during the move is
    reported as an error. The source is not changed: delete it when you do not need it any more.

    \b
    Examples:
      thinkback move memory.db postgresql://thinkback@db.example/thinkback
      thinkback move postgresql:///thinkback copy.db
    """
    from thinkback.storage import display_name
    from thinkback.storage.move import move as move_database

    with output.show_progress("moving users") as report:
        result = move_database(source, target, report)
    if call.json:
        output.print_json(asdict(result))
        return
    output.print_line(
        f"{result.spaces} users ({result.already_there} were already there), {result.turns:,} turns, "
        f"{result.thoughts:,} thoughts, {result.keys} keys: {result.rows:,} rows verified in "
        f"{display_name(target)}"
    )
