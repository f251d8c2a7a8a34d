"""Translation of errors of PostgreSQL into `StoreError`s. The messages never quote stored values."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg

from thinkback import errors

_DISK_FULL = ("53100",)
_CORRUPT = ("XX001", "XX002")
_READ_ONLY = ("25006",)
_TEMPORARY_CLASSES = ("08", "53", "57", "58")  # connection, resources, operator intervention, system error
_LOCKED = ("40001", "40P01", "55P03")
_NOT_A_STORE = ("42P01", "42703", "42P07")


@contextmanager
def translate_errors(name: str) -> Iterator[None]:
    """Convert errors of psycopg to `StoreError`s."""
    try:
        yield
    except psycopg.Error as error:
        raise translate_error(name, error) from None  # the details of the error can quote stored values


def is_connection_lost(error: psycopg.Error) -> bool:
    """Whether the statement failed because the connection was closed, for example by a restart."""
    code = error.sqlstate or ""
    return (
        isinstance(error, (psycopg.OperationalError, psycopg.InterfaceError))
        and not isinstance(error, psycopg.errors.PipelineAborted)
        and (not code or code.startswith(("08", "57P")))
    )


def translate_error(name: str, error: psycopg.Error) -> errors.StoreError:
    """The `StoreError` for an error of psycopg. `name` is the database in the message."""
    code = error.sqlstate or ""
    text = error.diag.message_primary or str(error).partition("\n")[0] or type(error).__name__
    translated: errors.StoreError
    if code in _DISK_FULL:
        translated = errors.DiskFull(
            f"{name}: no space left on the server's disk; the write was rolled back. Free some space"
        )
    elif code in _CORRUPT:
        translated = errors.CorruptStore(
            f"{name} is damaged ({text}). Restore a backup (pg_restore, or point-in-time recovery)"
        )
    elif code in _READ_ONLY:
        translated = errors.StoreUnavailable(f"{name} is read-only: use the URL of the primary server")
    elif code in _LOCKED:
        translated = errors.StoreUnavailable(f"{name}: another process locked the same rows; try again")
    elif code == "42501":
        translated = errors.StoreUnavailable(f"{name}: the database role lacks a privilege ({text})")
    elif code in _NOT_A_STORE:
        translated = errors.CorruptStore(f"{name} does not have the tables of thinkback ({text})")
    elif isinstance(error, psycopg.IntegrityError):
        translated = errors.IntegrityError(f"{name}: {text}")
    elif code.startswith(_TEMPORARY_CLASSES) or is_connection_lost(error):
        translated = errors.StoreUnavailable(f"{name} is not available: {text}")
    else:
        translated = errors.StoreError(f"{name}: {text}")
    return translated
