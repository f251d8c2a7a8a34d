"""Backup of a database in use, and restoring it.

A backup is one file with mode 0600: a consistent state without deleted rows, verified before it gets its
name.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from thinkback import errors
from thinkback.storage.private_files import make_private, replacing
from thinkback.storage.relational.verify import verify
from thinkback.storage.sqlite.connection import FILE_SUFFIXES, Connection, file_lock
from thinkback.storage.sqlite.error_translation import translate_errors

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

# Every SQLite connection to a file in WAL mode holds a shared lock on these bytes while it is open.
_SQLITE_SHARED_FIRST, _SQLITE_SHARED_SIZE = 0x40000002, 510


def write_backup(db: Connection, path: Path) -> None:
    """Write and verify a copy of the database.

    Raises:
        Conflict: the file exists.
        CorruptStore: the copy has problems, so there is no backup.
    """
    if path.exists():
        raise errors.Conflict(f"{path} exists: name a new file")
    with translate_errors(str(path)), replacing(path) as part:
        db.copy_to(str(part))
        _require_verified(part, db.path)


def restore_backup(backup: str, path: str) -> str | None:
    """Put a verified copy of a backup in the place of a database. The former one is kept under a new name.

    Returns:
        The file to which the former database was moved, or None if there was none.
    """
    source, target = Path(backup), Path(path)
    if not source.is_file():
        raise errors.NotFound(f"{backup} does not exist")
    if target.exists() and source.samefile(target):
        raise errors.InvalidInput(f"{backup} is the database itself: name a backup")
    with translate_errors(path), file_lock(path), replacing(target) as part:
        if target.exists():
            with _not_in_use(target):  # before the long work; nobody can open it under the lock file
                pass
        shutil.copyfile(source, part)
        _require_verified(part, backup)
        return _move_away(target)  # on leaving, the copy takes its place


def _require_verified(copy: Path, origin: str) -> None:
    """Open a copy and verify it, so that it is one file with all its contents at the end."""
    try:
        db = Connection(str(copy))
        try:
            problems = verify(db)
        finally:
            db.close()
    finally:
        for suffix in FILE_SUFFIXES[1:]:
            Path(f"{copy}{suffix}").unlink(missing_ok=True)
    if problems:
        raise errors.CorruptStore(
            f"{origin} is damaged, so nothing was written: {problems[0]} "
            f"({len(problems)} problems; thinkback salvage reads what is still readable)"
        )


def _move_away(path: Path) -> str | None:
    """Rename a database and its WAL, if no process has it open. Call it under the lock file."""
    if not path.exists():
        for suffix in ("-wal", "-shm"):  # left behind without a database: they would be taken for the new one
            Path(f"{path}{suffix}").unlink(missing_ok=True)
        return None
    with _not_in_use(path):
        moved = f"{path}.{datetime.now(UTC):%Y%m%dT%H%M%S%fZ}.old"
        for suffix in ("-wal", ""):
            if os.path.exists(f"{path}{suffix}"):
                os.replace(f"{path}{suffix}", f"{moved}{suffix}")
                make_private(f"{moved}{suffix}")
        Path(f"{path}-shm").unlink(missing_ok=True)
    return moved


@contextmanager
def _not_in_use(path: Path) -> Iterator[None]:
    """Make sure that no other process has the database open, whether it is damaged or not."""
    if fcntl is None:  # Windows does not rename files that are open
        yield
        return
    with path.open("rb+") as file:
        try:
            fcntl.lockf(
                file, fcntl.LOCK_EX | fcntl.LOCK_NB, _SQLITE_SHARED_SIZE, _SQLITE_SHARED_FIRST, os.SEEK_SET
            )
        except OSError:
            raise errors.StoreUnavailable(
                f"{path} is open in another process: stop it first (nothing was changed)"
            ) from None
        yield
