"""Databases. `connect` opens one by its URL; `restore` and `salvage` work on closed files."""

from __future__ import annotations

from urllib.parse import urlsplit

from thinkback.errors import InvalidInput
from thinkback.protocols import Store
from thinkback.types import SalvageResult


def connect(url: str) -> Store:
    """Open a store: `memory.db`, `sqlite:///path/to/memory.db`, `:memory:` or `postgresql://HOST/NAME`."""
    if is_postgres(url):
        from thinkback.storage.postgres import PostgresStore

        return PostgresStore(url)
    from thinkback.storage.sqlite import SqliteStore

    return SqliteStore(_path(url))


def display_name(url: str) -> str:
    """A URL or file name without user, password and options, to be shown."""
    if not is_postgres(url):
        return url
    parts = urlsplit(url)
    return f"postgresql://{parts.netloc.rpartition('@')[2] or 'localhost'}{parts.path}"


def is_postgres(url: str) -> bool:
    """Whether this is the URL of a PostgreSQL database."""
    return url.partition("://")[0] in ("postgresql", "postgres")


def restore(backup: str, url: str) -> str | None:
    """Put a verified copy of a backup in the place of a database that no process has open.

    Returns:
        The file to which the former database was moved, or None if there was none.

    Raises:
        StoreUnavailable: a process has the database open.
        CorruptStore: the backup is damaged; nothing was changed.
    """
    from thinkback.storage.sqlite.backup import restore_backup

    return restore_backup(backup, _path(url))


def salvage(broken: str, out: str) -> SalvageResult:
    """Write every readable turn and thought of a damaged database file to a new one.

    Raises:
        Conflict: `out` exists.
        CorruptStore: nothing is readable.
    """
    from thinkback.storage.sqlite.salvage import salvage

    return salvage(broken, out)


def _path(url: str) -> str:
    """The file of a URL, or `:memory:`."""
    scheme, separator, rest = url.partition("://")
    if is_postgres(url):
        raise InvalidInput("this command works on SQLite files; for PostgreSQL use pg_dump and pg_restore")
    if not separator:
        path = url
    elif scheme == "sqlite":
        path = rest.removeprefix("/") if rest != "/:memory:" else ":memory:"
    else:
        raise InvalidInput(
            f"{url!r} is not supported: use sqlite:///FILE, a file name or postgresql://HOST/NAME"
        )
    if not path:
        raise InvalidInput(f"{url!r} contains no file name")
    return path
