"""Commands `backup`, `restore` and `salvage`: whole databases, with all tenants and users."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer

from thinkback.cli import output
from thinkback.cli.command import CommandCall, YesOption, confirm, register_command
from thinkback.errors import NotFound


def register(app: typer.Typer) -> None:
    for function in (backup, restore, salvage):
        register_command(app, per_user=False)(function)


def backup(
    call: CommandCall,
    file: Annotated[str, typer.Argument(metavar="FILE", help="The backup to write; it must not exist.")],
) -> None:
    """Write a verified copy of the whole database, also while it is in use.

    The copy is one consistent state of all tenants and users, without deleted rows, readable by its owner
    only. It is verified before it gets its name. Copying the files of a database in use (cp, rsync) does not
    give a consistent state. What is erased later remains in older backups: delete those too.

    \b
    Examples:
      thinkback backup memory-2024-05-31.db
      thinkback backup --db /var/lib/thinkback/memory.db /backups/thinkback.db
    """
    from thinkback.config import open_store

    path = Path(file).expanduser()
    if not Path(call.settings.db).exists() and "://" not in call.settings.db:
        raise NotFound(f"{call.settings.db} does not exist: there is nothing to back up")
    with closing(open_store(call.settings)) as store:
        store.backup(str(path))
    size = path.stat().st_size
    if call.json:
        output.print_json({"file": str(path), "bytes": size, "verified": True})
    else:
        output.print_line(f"wrote {path} ({size:,} bytes), verified")


def restore(
    call: CommandCall,
    file: Annotated[str, typer.Argument(metavar="FILE", help="A backup by `thinkback backup`.")],
    yes: YesOption = False,
) -> None:
    """Put a backup in the place of the database.

    The backup is verified first. No process may have the database open: stop the server. The former database
    is kept under a new name, which is printed; delete it when it is not needed any more.

    \b
    Examples:
      thinkback restore memory-2024-05-31.db
      thinkback restore --db /var/lib/thinkback/memory.db /backups/thinkback.db --yes
    """
    from thinkback.config import restore_database

    database = call.settings.db
    if "://" in database or Path(database).exists():
        confirm(f"Replace the database {database} by {file}?", yes=yes)
    former = restore_database(call.settings, str(Path(file).expanduser()))
    if call.json:
        output.print_json({"database": database, "former": former})
        return
    output.print_line(f"restored {database}, verified")
    if former:
        output.print_line(f"the former database is now {former}")


def salvage(
    call: CommandCall,
    broken: Annotated[str, typer.Argument(metavar="BROKEN", help="The damaged database; it is only read.")],
    out: Annotated[str, typer.Argument(metavar="OUT", help="The database to write; it must not exist.")],
) -> None:
    """Write every readable turn and thought of a damaged database to a new one.

    Use it if there is no backup. The file is read page by page, so one damaged page costs only its own rows.
    The search index is built again by the first recall; API keys must be created again. What was hidden or
    forgotten stays so. Where the journal is incomplete, thoughts are kept without their history.

    \b
    Examples:
      thinkback salvage memory.db salvaged.db
    """
    from thinkback import storage
    from thinkback.schemas import to_json

    result = storage.salvage(str(Path(broken).expanduser()), str(Path(out).expanduser()))
    if call.json:
        output.print_json(to_json(result))
        return
    rows = [
        (
            space.tenant or "-",
            space.user,
            str(space.turns),
            str(space.missing_turns),
            str(space.thoughts),
            str(space.missing_thoughts),
            "kept" if space.keeps_journal else "lost",
        )
        for space in result.spaces
    ]
    columns = ("tenant", "user", "turns", "missing", "thoughts", "missing", "journal")
    output.print_table(columns, rows, fold=("user",))
    output.print_line(
        f"{result.unreadable_rows} rows could not be read. Missing ones are lost, or were erased earlier"
    )
