"""Translation of errors of SQLite and the operating system into `StoreError`s."""

from __future__ import annotations

import errno
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from thinkback import errors
from thinkback.storage.relational.rows import DAMAGED_ADVICE


@contextmanager
def translate_errors(path: str) -> Iterator[None]:
    """Convert errors of SQLite and the operating system to `StoreError`s."""
    try:
        yield
    except sqlite3.Error as error:
        raise translate_error(path, error) from without_stored_text(error)
    except UnicodeDecodeError:  # a message of SQLite that quotes a damaged name of the schema
        raise errors.CorruptStore(f"{path} is damaged: its schema cannot be read. {DAMAGED_ADVICE}") from None
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise _disk_full(path) from error
        raise errors.StoreUnavailable(f"{path} cannot be opened for writing: {error.strerror}") from error


def _disk_full(path: str) -> errors.DiskFull:
    return errors.DiskFull(
        f"{path}: no space left on the device; the write was rolled back. Free some space and try again"
    )


def _quotes_stored_text(error: sqlite3.Error) -> bool:
    """Whether this is the error of Python's module for text that is not UTF-8, whose message quotes it."""
    return isinstance(error, sqlite3.OperationalError) and not hasattr(error, "sqlite_errorname")


def without_stored_text(error: sqlite3.Error) -> sqlite3.Error | None:
    """The error as the cause of another, unless a traceback of it would print stored text."""
    return None if _quotes_stored_text(error) else error


def translate_error(path: str, error: sqlite3.Error) -> errors.StoreError:
    """The `StoreError` for an error of SQLite."""
    code, text = getattr(error, "sqlite_errorname", ""), str(error)
    translated: errors.StoreError
    if _quotes_stored_text(error):
        translated = errors.CorruptStore(f"{path} is damaged: a stored text cannot be read. {DAMAGED_ADVICE}")
    elif code in ("SQLITE_FULL", "SQLITE_IOERR_WRITE", "SQLITE_IOERR_SHMSIZE"):
        translated = _disk_full(path)
    elif code.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB")) or text == "malformed JSON":
        translated = errors.CorruptStore(
            f"{path} is damaged or not a thinkback database ({text}). Nothing was changed. {DAMAGED_ADVICE}"
        )
    elif code.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM", "SQLITE_AUTH")):
        translated = errors.StoreUnavailable(
            f"{path} cannot be opened for writing ({text}): "
            "check the permissions of the folder, or use another file"
        )
    elif code.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        translated = errors.StoreUnavailable(f"{path} is locked by another process; try again later")
    elif code.startswith("SQLITE_CONSTRAINT"):
        translated = errors.IntegrityError(f"{path}: {text}")
    else:
        translated = errors.StoreError(f"{path}: {text}")
    return translated
