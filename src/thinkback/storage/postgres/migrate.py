"""Brings the schema of a PostgreSQL database up to date, one process at a time."""

from __future__ import annotations

import re
from typing import Any

from thinkback import errors
from thinkback.storage import sql_files
from thinkback.storage.postgres.error_translation import translate_errors
from thinkback.storage.postgres.pool import Pool, PooledConnection

MIGRATIONS = tuple(sql_files.load_migrations(f"{__package__}.migrations"))
_LOCK = 0x74686E6B  # "thnk": the advisory lock under which migrations run
_COMPATIBLE = re.compile(r"^-- compatible from: (\d+)$", re.MULTILINE)


def compatible_from(script: str) -> int:
    """The oldest schema version whose processes may go on working on the migrated database."""
    found = _COMPATIBLE.search(script)
    if found is None:
        raise ValueError("a migration has a line '-- compatible from: VERSION'")
    return int(found[1])


def migrate(pool: Pool, name: str) -> None:
    """Run the missing migrations in one transaction, under an advisory lock.

    A database that was migrated by a newer version is accepted if its migrations say that this version may
    work on it: old and new processes can run side by side during an upgrade.

    Raises:
        NewerSchema: the database was migrated by a version with which this one cannot work.
    """
    with translate_errors(name), pool.connection() as connection:
        version, oldest = _version(connection)
        if version == len(MIGRATIONS):
            return
        if version > len(MIGRATIONS):
            _require_compatible(name, version, oldest)
            return
        with connection.transaction():
            connection.execute(
                "SELECT pg_advisory_xact_lock(%s::integer, hashtext(current_schema()))", (_LOCK,)
            )
            connection.execute(
                "CREATE TABLE IF NOT EXISTS schema_version"
                " (version integer NOT NULL, compatible_from integer NOT NULL)"
            )
            version, _ = _version(connection)  # another process may have been faster
            for migration in MIGRATIONS[version:]:
                script: Any = migration.script
                connection.execute(script)
                connection.execute("DELETE FROM schema_version")
                connection.execute(
                    "INSERT INTO schema_version VALUES (%s, %s)",
                    (migration.version, compatible_from(migration.script)),
                )


def _version(connection: PooledConnection) -> tuple[int, int]:
    """The version of the schema (0 if there is none), and the oldest version that may work on it."""
    if connection.execute("SELECT to_regclass('schema_version')").fetchone() == (None,):
        return 0, 0
    row: Any = connection.execute("SELECT version, compatible_from FROM schema_version").fetchone()
    return row or (0, 0)


def _require_compatible(name: str, version: int, oldest: int) -> None:
    if oldest > len(MIGRATIONS):
        raise errors.NewerSchema(
            f"{name} has schema {version}, this thinkback supports up to {len(MIGRATIONS)}: "
            "upgrade with pip install -U thinkback (nothing was changed)"
        )


def require_server(pool: Pool, name: str) -> None:
    """Raises:
    StoreUnavailable: the server is too old.
    """
    with translate_errors(name), pool.connection() as connection:
        version = connection.info.server_version
    if version < 140000:
        raise errors.StoreUnavailable(f"{name} is PostgreSQL {version // 10000}: use version 14 or newer")
