"""Connection to one SQLite file: pragmas, migrations, locking between processes, error translation.

Writers of all processes take turns by a lock file next to the database. SQLite could do this by itself, but
before 3.51.3 a commit and a checkpoint of two connections at the same instant can damage the WAL (the
"WAL-reset" bug), and its busy handler polls with growing delays. Therefore automatic checkpoints are off, and
commits and checkpoints happen only under the lock (docs/decisions/0003).
"""

from __future__ import annotations

import os
import secrets
import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from thinkback import errors
from thinkback.storage import sql_files
from thinkback.storage.private_files import PRIVATE_MODE, create_private_file, make_private
from thinkback.storage.relational.database import Row
from thinkback.storage.sqlite.error_translation import translate_error, translate_errors, without_stored_text

try:
    import fcntl
except ImportError:  # Windows: rely on the locks of SQLite
    fcntl = None  # type: ignore[assignment]

APPLICATION_ID = 0x74686E6B  # "thnk"
LOCK_TIMEOUT_SECONDS = 30.0
MAX_LOCK_POLL_SECONDS = 0.001  # short, because processes that poll less often would starve
CHECKPOINT_WAL_BYTES = 4 << 20
CHECKPOINT_INTERVAL_COMMITS = 256  # how often the size of the WAL is checked
SCRUB_WAIT_SECONDS = 2.0  # how long an erasure waits for readers of other processes
SCRUB_PENDING = "scrub"  # entry in table meta, from the commit of an erasure until the files are scrubbed
FILE_SUFFIXES = ("", "-wal", "-shm", "-lock")  # the database and the files next to it

QUERIES = {
    **sql_files.load_queries(__package__, "queries.sql"),
    **sql_files.load_queries(__package__, "verify.sql"),
}
MIGRATIONS = tuple(sql_files.load_migrations(f"{__package__}.migrations"))


class Connection:
    """A writing and a reading connection to one file (the same one for `:memory:`). Thread-safe."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.in_memory = path == ":memory:"
        self.bound_embedder: str | None = None
        self._write_lock = threading.RLock()
        self._read_lock = self._write_lock if self.in_memory else threading.RLock()
        self._commits = 0
        self._lock_file = -1
        with ExitStack() as opened, translate_errors(path):
            if not self.in_memory:
                self._lock_file = _open_lock_file(path)
                opened.callback(self._close_lock_file)
            with self.exclusive_lock():  # also while opening: `restore` replaces the file under this lock
                if not self.in_memory:
                    create_private_file(path)  # SQLite would create it readable by others
                self._writer = opened.enter_context(closing(self._connect()))
                self._migrate()
                self._reader = self._writer
                if not self.in_memory:
                    self._reader = opened.enter_context(closing(self._connect()))
                    self._reader.execute("SELECT 1 FROM meta").fetchone()
                    make_private(*(path + suffix for suffix in FILE_SUFFIXES))
            if self.needs_scrub():
                with suppress(errors.StoreError):  # blocked by a reader or a full disk: done later
                    self.scrub(wait_seconds=0)
            opened.pop_all()  # success: keep everything open until close()

    def for_tenant(self, tenant: str) -> Connection:
        """The same connection: SQLite has no row-level security, so the statements alone name the tenant."""
        return self

    def for_recall(self) -> Connection:
        """The same connection: there are no replicas."""
        return self

    def run(self, name: str, parameters: Sequence[Any] = ()) -> sqlite3.Cursor:
        """Run a named statement on the writer. Only inside `write()`."""
        return self._writer.execute(QUERIES[name], parameters)

    def run_many(self, name: str, rows: Sequence[Sequence[Any]]) -> None:
        """Run a named statement for each row. Only inside `write()`."""
        self._writer.executemany(QUERIES[name], rows)

    def read(self, name: str, parameters: Sequence[Any] = ()) -> list[Row]:
        """The rows of a named query, from the last committed state."""
        with self._read_lock:
            try:
                return self._reader.execute(QUERIES[name], parameters).fetchall()
            except sqlite3.Error as error:
                raise translate_error(self.path, error) from without_stored_text(error)

    def read_together(self, *queries: tuple[str, Sequence[Any]]) -> list[list[Row]]:
        with self.snapshot():
            return [self.read(name, parameters) for name, parameters in queries]

    def read_table(
        self, table: str, columns: Sequence[str], space_id: int, order: Sequence[str]
    ) -> list[Row]:
        statement = f"SELECT {', '.join(columns)} FROM {table} WHERE space = ?"  # noqa: S608  # constants
        if order:
            statement += f" ORDER BY {', '.join(order)}"
        with self._read_lock, translate_errors(self.path):
            return self._reader.execute(statement, (space_id,)).fetchall()

    def write_table(
        self, table: str, columns: Sequence[str], space_id: int, rows: Sequence[Sequence[Any]]
    ) -> None:
        places = ", ".join("?" * (len(columns) + 1))
        statement = f"INSERT INTO {table} (space, {', '.join(columns)}) VALUES ({places})"  # noqa: S608
        self._writer.executemany(statement, [(space_id, *row) for row in rows])

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Several reads from the same committed state."""
        with self._read_lock, translate_errors(self.path):
            if self._reader.in_transaction:
                yield
                return
            self._reader.execute("BEGIN")
            try:
                yield
            finally:
                self._reader.execute("COMMIT")

    @contextmanager
    def write(self, *, derived: bool = False, pipelined: bool = False) -> Iterator[None]:
        """One transaction, durable at the end or rolled back.

        With `derived=True` the commit does not wait for the disk: derived data that is lost in a power
        failure (as a whole) is computed again. `pipelined` makes no difference here.
        """
        with self._write_lock, translate_errors(self.path), self.exclusive_lock(), self._synchronous(derived):
            self._writer.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._writer.execute("COMMIT")
            except BaseException:
                if self._writer.in_transaction:
                    self._writer.execute("ROLLBACK")
                raise
            self._commits += 1
            if self._commits % CHECKPOINT_INTERVAL_COMMITS == 0 and self._wal_size() > CHECKPOINT_WAL_BYTES:
                with suppress(sqlite3.Error):  # the commit succeeded; a later one tries again
                    self._writer.execute("PRAGMA wal_checkpoint(PASSIVE)")

    @contextmanager
    def _synchronous(self, derived: bool) -> Iterator[None]:
        """Skip syncing the WAL for derived data, unless this is part of another transaction."""
        if not derived or self._writer.in_transaction:
            yield
            return
        self._writer.execute("PRAGMA synchronous=NORMAL")
        try:
            yield
        finally:
            self._writer.execute("PRAGMA synchronous=FULL")

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is open. On some errors SQLite rolls back by itself."""
        return bool(self._writer.in_transaction)

    def mark_for_scrub(self) -> None:
        """Record, in the transaction of an erasure, that the files must be scrubbed."""
        self.run("meta.set", (SCRUB_PENDING, secrets.token_hex(8)))

    def scrub(self, wait_seconds: float | None = None) -> None:
        """Remove all bytes of deleted rows from the database file and the WAL.

        `secure_delete` zeroes deleted cells, but rebalancing a b-tree can leave copies in the unused part of
        a page (measured: in 2% of random deletes). Therefore the whole file is rewritten. For 100 MB this
        takes half a second and temporarily another 100 MB of disk and memory.

        Args:
            wait_seconds: how long to wait for readers of other processes; SCRUB_WAIT_SECONDS by default.

        Raises:
            StoreError: bytes may remain (a reader of another process, a full disk). Repeat it later.
        """
        wait_seconds = SCRUB_WAIT_SECONDS if wait_seconds is None else wait_seconds
        marks = self.read("meta.get", (SCRUB_PENDING,))
        if not self.in_memory:
            self._empty_wal(wait_seconds)  # VACUUM will write the whole database to it
            with self._write_lock, translate_errors(self.path), self.exclusive_lock():
                self._writer.execute("VACUUM")
            self._empty_wal(wait_seconds)
        with self.write():
            for (mark,) in marks:  # an erasure committed since has another mark, which stays
                self.run("meta.delete_value", (SCRUB_PENDING, mark))

    def needs_scrub(self) -> bool:
        """Whether the files may still contain bytes of a committed erasure."""
        return bool(self.read("meta.get", (SCRUB_PENDING,)))

    def _empty_wal(self, wait_seconds: float = LOCK_TIMEOUT_SECONDS) -> None:
        """Checkpoint all pages into the database file and truncate the WAL.

        Waits for readers of other processes without holding the lock, so that writers are not blocked.
        """
        deadline = time.monotonic() + wait_seconds
        while True:
            with self._write_lock, self._read_lock, translate_errors(self.path), self.exclusive_lock():
                self._writer.execute("PRAGMA busy_timeout=0")
                try:
                    busy = self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
                finally:
                    self._writer.execute(f"PRAGMA busy_timeout={int(LOCK_TIMEOUT_SECONDS * 1000)}")
            if not busy:
                return
            if time.monotonic() >= deadline:
                raise errors.StoreUnavailable(
                    f"{self.path}: another process is reading, so old pages are still in the -wal file"
                )
            time.sleep(0.05)

    def check(self) -> list[str]:
        with self._read_lock, translate_errors(self.path):
            rows = self._reader.execute("PRAGMA integrity_check").fetchall()
        return [row[0] for row in rows if row[0] != "ok"]

    def copy_to(self, path: str) -> None:
        """Write the last committed state, without deleted rows, to a new or empty file."""
        with self._read_lock, translate_errors(path):
            self._reader.execute("VACUUM INTO ?", (path,))

    def close(self) -> None:
        with self._write_lock, self._read_lock:
            if self._reader is not self._writer:
                self._reader.close()
            with translate_errors(self.path), self.exclusive_lock():
                self._writer.close()
            self._close_lock_file()

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self.path,
            timeout=LOCK_TIMEOUT_SECONDS,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=256,
        )
        try:
            for pragma in (
                "trusted_schema=OFF",
                "temp_store=MEMORY",
                "secure_delete=ON",
                "wal_autocheckpoint=0",
                "synchronous=FULL",
                "cache_size=-32768",  # in KiB; the default of 2 MiB is too small for recalls
            ):
                connection.execute(f"PRAGMA {pragma}")
        except BaseException:
            connection.close()
            raise
        return connection

    def _migrate(self) -> None:
        """Bring the schema up to date. Refuse files of other applications and newer schemas."""
        version = self._pragma("user_version")
        application = self._pragma("application_id")
        tables = self._writer.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]
        if tables and application != APPLICATION_ID:
            raise errors.CorruptStore(
                f"{self.path} is an SQLite database of another application: use another file"
            )
        if version > len(MIGRATIONS):
            raise errors.NewerSchema(
                f"{self.path} has schema {version}, this thinkback supports up to {len(MIGRATIONS)}: "
                "upgrade with pip install -U thinkback (nothing was changed)"
            )
        if self._pragma("journal_mode") != "wal":
            self._writer.execute("PRAGMA journal_mode=WAL")
        for migration in MIGRATIONS[version:]:
            self._writer.execute("BEGIN IMMEDIATE")
            try:
                for statement in _split_statements(migration.script):
                    self._writer.execute(statement)
                self._writer.execute(f"PRAGMA application_id={APPLICATION_ID}")
                self._writer.execute(f"PRAGMA user_version={migration.version}")
                self._writer.execute("COMMIT")
            except BaseException:
                if self._writer.in_transaction:
                    self._writer.execute("ROLLBACK")
                raise

    def _pragma(self, name: str) -> Any:
        return self._writer.execute(f"PRAGMA {name}").fetchone()[0]

    def _close_lock_file(self) -> None:
        if self._lock_file >= 0:
            os.close(self._lock_file)
            self._lock_file = -1

    @contextmanager
    def exclusive_lock(self) -> Iterator[None]:
        """Hold the lock file. Blocks until other processes have released it."""
        if self._lock_file < 0:
            yield
            return
        with _locked(self._lock_file, self.path):
            yield

    def _wal_size(self) -> int:
        try:
            return os.stat(f"{self.path}-wal").st_size
        except FileNotFoundError:
            return 0


def _open_lock_file(path: str) -> int:
    folder = Path(path).absolute().parent
    if not folder.is_dir():
        raise errors.StoreUnavailable(
            f"{folder} is not a folder: create it, or use another file for the database"
        )
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0)
    return os.open(f"{path}-lock", flags, PRIVATE_MODE)


@contextmanager
def _locked(lock_file: int, path: str) -> Iterator[None]:
    """Hold the lock file of a database."""
    if fcntl is None:
        yield
        return
    deadline = time.monotonic() + LOCK_TIMEOUT_SECONDS
    pause = 0.0002
    while True:
        try:
            fcntl.flock(lock_file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            break
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise errors.StoreUnavailable(
                    f"{path}: another process has been writing for {LOCK_TIMEOUT_SECONDS:.0f} s; "
                    "try again later"
                ) from None
            time.sleep(pause)
            pause = min(pause * 2, MAX_LOCK_POLL_SECONDS)
    try:
        yield
    finally:
        fcntl.flock(lock_file, fcntl.LOCK_UN)


@contextmanager
def file_lock(path: str) -> Iterator[None]:
    """Hold the lock file of a database without opening the database: nobody can open it or write to it."""
    lock_file = _open_lock_file(path)
    try:
        with _locked(lock_file, path):
            yield
    finally:
        os.close(lock_file)


def _split_statements(script: str) -> Iterator[str]:
    """The statements of a script. (`executescript` would commit the open transaction.)"""
    pending = ""
    for line in script.splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(pending):
            yield pending
            pending = ""
    if pending.strip():
        yield pending
