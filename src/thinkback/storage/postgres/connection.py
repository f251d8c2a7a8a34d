"""The `Database` of the PostgreSQL store: statements, transactions and the tenant of each statement."""

from __future__ import annotations

import re
import secrets
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from typing import Any, NamedTuple, TypeVar

import psycopg
from psycopg import sql

from thinkback import errors
from thinkback.storage import sql_files
from thinkback.storage.postgres.error_translation import is_connection_lost, translate_errors
from thinkback.storage.postgres.pool import Pool, PooledConnection
from thinkback.storage.postgres.url import PostgresUrl
from thinkback.storage.relational.database import Cursor, Row

SCRUB_PENDING = "scrub"  # entry in table meta, from the commit of an erasure until the tables are rewritten
COPY_MIN_ROWS = 200  # rows from which COPY through a temporary table is faster than single inserts

_PARAMETER = re.compile(r"\$(\d+)")
_PLAIN_INSERT = re.compile(r"INSERT INTO (\w+) \(([\w, ]+)\)\s+VALUES \(\$tenant, [$\d, ]+\)")
_Result = TypeVar("_Result")


class Query(NamedTuple):
    """A named statement."""

    text: str
    """In the notation of psycopg: `%(p1)s`, `%(tenant)s`."""
    all_tenants: bool
    """Whether it may see the rows of all tenants."""
    insert: tuple[str, tuple[str, ...]] | None
    """Table and columns, for an INSERT of one row without further clauses."""


def _parse_query(statement: str) -> Query:
    first = statement.partition("\n")[0]
    text = _PARAMETER.sub(r"%(p\1)s", statement.replace("%", "%%").replace("$tenant", "%(tenant)s"))
    plain = _PLAIN_INSERT.fullmatch(statement)
    insert = (plain[1], tuple(plain[2].split(", "))) if plain else None
    return Query(text, first == "-- all tenants", insert)


STATEMENTS = {
    **sql_files.load_queries(__package__, "queries.sql"),
    **sql_files.load_queries(__package__, "verify.sql"),
}
QUERIES = {name: _parse_query(statement) for name, statement in STATEMENTS.items()}


class _Shared:
    """What the views of all tenants share."""

    def __init__(self, url: PostgresUrl) -> None:
        self.name = url.name
        self.primary = Pool(url.conninfo, url.name, url.pool_size, url.pool_timeout)
        self.replica = self.primary
        if (read := url.read_url) is not None:
            self.replica = Pool(read.conninfo, read.name, read.pool_size, read.pool_timeout)
        self.bound_embedder: str | None = None
        self.local = threading.local()  # the connection of this thread's transaction


class PostgresDatabase:
    """The database as one tenant sees it. Thread-safe; a transaction belongs to the thread that opened it."""

    def __init__(self, url: PostgresUrl) -> None:
        self._shared = _Shared(url)
        self._tenant = ""
        self._reads = self._shared.primary  # reads outside of write()

    @property
    def path(self) -> str:
        return self._shared.name

    @property
    def primary(self) -> Pool:
        return self._shared.primary

    @property
    def bound_embedder(self) -> str | None:
        return self._shared.bound_embedder

    @bound_embedder.setter
    def bound_embedder(self, embedder: str | None) -> None:
        self._shared.bound_embedder = embedder

    def for_tenant(self, tenant: str) -> PostgresDatabase:
        view = object.__new__(PostgresDatabase)
        view._shared, view._tenant, view._reads = self._shared, tenant, self._reads
        return view

    def for_recall(self) -> PostgresDatabase:
        if self._reads is self._shared.replica:
            return self
        view = self.for_tenant(self._tenant)
        view._reads = self._shared.replica
        return view

    def run(self, name: str, parameters: Sequence[Any] = ()) -> Cursor:
        return self._execute(self._require_transaction(), QUERIES[name], parameters)

    def run_many(self, name: str, rows: Sequence[Sequence[Any]]) -> None:
        query = QUERIES[name]
        connection = self._require_transaction()
        if query.insert is not None and len(rows) >= COPY_MIN_ROWS:
            table, columns = query.insert
            self._insert_rows(table, columns, [(self._tenant, *row) for row in rows])
            return
        self._set_scope(connection, query)
        with connection.cursor() as cursor:
            cursor.executemany(_literal(query.text), [self._named(row) for row in rows])

    def _insert_rows(self, table: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        """Insert rows of this tenant, many of them with COPY.

        COPY cannot write to a table with row-level security, so it fills a temporary table.
        """
        if not rows:
            return
        connection = self._require_transaction()
        self._set_tenant_scope(connection, f"tenant:{self._tenant}")
        names = sql.SQL(", ").join(map(sql.Identifier, columns))
        target = sql.Identifier(table)
        with connection.cursor() as cursor:
            if len(rows) < COPY_MIN_ROWS:
                places = sql.SQL(", ").join([sql.Placeholder()] * len(columns))
                insert = sql.SQL("INSERT INTO {} ({}) VALUES ({})").format(target, names, places)
                cursor.executemany(insert, rows)
                return
            cursor.execute(
                sql.SQL("CREATE TEMPORARY TABLE copied_rows AS SELECT {} FROM {} WITH NO DATA").format(
                    names, target
                )
            )
            with cursor.copy(sql.SQL("COPY copied_rows ({}) FROM STDIN").format(names)) as copy:
                for row in rows:
                    copy.write_row(row)
            cursor.execute(
                sql.SQL("INSERT INTO {} ({}) SELECT {} FROM copied_rows").format(target, names, names)
            )
            cursor.execute("DROP TABLE copied_rows")

    def read(self, name: str, parameters: Sequence[Any] = ()) -> list[Row]:
        query = QUERIES[name]
        connection = self._current()
        if connection is not None:
            with translate_errors(self.path):
                return self._execute(connection, query, parameters).fetchall()
        return self._on_connection(
            self._reads, lambda free: self._execute(free, query, parameters).fetchall()
        )

    def read_together(self, *queries: tuple[str, Sequence[Any]]) -> list[list[Row]]:
        if self._current() is not None:
            raise RuntimeError("read_together() inside a transaction")
        return self._on_connection(self._reads, lambda free: self._read_pipelined(free, queries))

    def query(self, *statements: tuple[sql.SQL | sql.Composed, dict[str, Any]]) -> list[Row]:
        """The rows of the last of these statements, which see this tenant, in one read-only transaction."""

        def work(connection: PooledConnection) -> list[Row]:
            self._set_tenant_scope(connection, f"tenant:{self._tenant}")
            with connection.transaction():
                connection.execute("SET TRANSACTION READ ONLY")
                cursors = [connection.execute(text, values) for text, values in statements]
                return cursors[-1].fetchall()

        return self._on_connection(self._reads, work)

    def _read_pipelined(
        self, connection: PooledConnection, queries: Sequence[tuple[str, Sequence[Any]]]
    ) -> list[list[Row]]:
        """Send all queries in one read-only transaction, and then read all answers."""
        try:
            with connection.pipeline():
                connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
                cursors = [self._execute(connection, QUERIES[name], values) for name, values in queries]
                connection.execute("COMMIT")
        except psycopg.Error:
            connection.scope = None  # set, but perhaps rolled back
            raise
        return [cursor.fetchall() for cursor in cursors]

    def read_table(
        self, table: str, columns: Sequence[str], space_id: int, order: Sequence[str]
    ) -> list[Row]:
        statement = sql.SQL("SELECT {} FROM {} WHERE tenant = %s AND space = %s").format(
            sql.SQL(", ").join(map(sql.Identifier, columns)), sql.Identifier(table)
        )
        if order:
            statement += sql.SQL(" ORDER BY ") + sql.SQL(", ").join(map(sql.Identifier, order))
        with translate_errors(self.path):
            connection = self._require_transaction()
            self._set_tenant_scope(connection, f"tenant:{self._tenant}")
            return connection.execute(statement, (self._tenant, space_id), binary=True).fetchall()

    def write_table(
        self, table: str, columns: Sequence[str], space_id: int, rows: Sequence[Sequence[Any]]
    ) -> None:
        self._insert_rows(
            table, ("tenant", "space", *columns), [(self._tenant, space_id, *row) for row in rows]
        )

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        if self._current() is not None:
            yield
            return
        with self._transaction(self._reads, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"):
            yield

    @contextmanager
    def write(self, *, derived: bool = False, pipelined: bool = False) -> Iterator[None]:
        if self._current() is not None:
            raise RuntimeError("write() inside a transaction")
        begin = "BEGIN; SET LOCAL synchronous_commit = off" if derived else "BEGIN"
        with self._transaction(self._shared.primary, begin, pipelined=pipelined):
            yield

    def mark_for_scrub(self) -> None:
        self.run("meta.set", (SCRUB_PENDING, secrets.token_hex(8)))

    def check(self) -> list[str]:
        """Invalid indexes. Damaged pages are found by `pg_amcheck` and by data checksums."""
        return [f"index {name} is not valid: REINDEX it" for (name,) in self.read("check.indexes")]

    def close(self) -> None:
        self._shared.primary.close()
        self._shared.replica.close()

    def autocommit(self, statement: str, *, lock_timeout: str = "2s") -> None:
        """Run a statement that cannot be in a transaction (VACUUM)."""
        with translate_errors(self.path), self._shared.primary.connection() as connection:
            connection.execute(_literal(f"SET lock_timeout = '{lock_timeout}'"))
            try:
                connection.execute(_literal(statement))
            finally:
                with suppress(psycopg.Error):
                    connection.execute("SET lock_timeout = '30s'")

    @contextmanager
    def write_and_notify(self, channel: str | None) -> Iterator[None]:
        """`write`, and a notification on the same connection after the commit."""
        notify = None if channel is None else f"NOTIFY {channel}"
        with self._transaction(self._shared.primary, "BEGIN", notify, pipelined=True):
            yield

    def write_one(self, name: str, parameters: Sequence[Any], channel: str | None) -> Row | None:
        """Run one statement in its own transaction, then notify; returns its first row.

        It is not repeated if the connection breaks meanwhile, because it may have been committed.
        """
        if self._current() is not None:
            raise RuntimeError("write_one() inside a transaction")
        query = QUERIES[name]
        with translate_errors(self.path), self._usable_connection() as connection:
            same_scope = connection.scope == self._scope_of(query)
            try:
                # Otherwise both statements, the setting and this one, are sent together.
                with nullcontext() if same_scope else connection.pipeline():
                    cursor = self._execute(connection, query, parameters)
                row: Row | None = cursor.fetchone()
            except BaseException:
                connection.scope = None  # the setting is rolled back too
                raise
            if channel is not None:
                with suppress(psycopg.Error):  # what was written is durable, whatever happens to this
                    connection.execute(_literal(f"NOTIFY {channel}"))
        return row

    @contextmanager
    def _usable_connection(self) -> Iterator[PooledConnection]:
        """A connection to write with. If a restart of the server has closed it, it is replaced before."""
        pool = self._shared.primary
        with pool.connection() as connection:
            if not connection.is_closed_by_server():
                yield connection
                return
            connection.close()
        pool.discard_idle()
        with pool.connection() as connection:
            yield connection

    @contextmanager
    def _transaction(
        self, pool: Pool, begin: str, afterwards: str | None = None, *, pipelined: bool = False
    ) -> Iterator[None]:
        with translate_errors(self.path), self._begun(pool, begin) as connection:
            self._shared.local.connection = connection
            try:
                with connection.pipeline() if pipelined else nullcontext():
                    yield
                    committed = connection.execute("COMMIT")
                ended = committed.statusmessage
            except BaseException:
                connection.scope = None  # the setting is rolled back too
                if not connection.closed:
                    with suppress(psycopg.Error):
                        connection.execute("ROLLBACK")
                raise
            finally:
                self._shared.local.connection = None
            if ended != "COMMIT":
                connection.scope = None
                raise errors.StoreError(f"{self.path}: the transaction was rolled back")
            if afterwards is not None:
                with suppress(psycopg.Error):  # what was written is durable, whatever happens to this
                    connection.execute(_literal(afterwards))

    @contextmanager
    def _begun(self, pool: Pool, begin: str) -> Iterator[PooledConnection]:
        """A connection with a new transaction. Those that a restart of the server broke are replaced."""
        with pool.connection() as connection:
            try:
                connection.execute(_literal(begin))
            except psycopg.Error as error:
                if not is_connection_lost(error):
                    raise
            else:
                yield connection
                return
        pool.discard_idle()
        with pool.connection() as connection:
            connection.execute(_literal(begin))
            yield connection

    def _on_connection(self, pool: Pool, work: Callable[[PooledConnection], _Result]) -> _Result:
        """Run a read; once more, if its connection was broken by a restart of the server."""
        with translate_errors(self.path):
            try:
                with pool.connection() as connection:
                    return work(connection)
            except psycopg.Error as error:
                if not is_connection_lost(error):
                    raise
            pool.discard_idle()
            with pool.connection() as connection:
                return work(connection)

    def _execute(
        self, connection: PooledConnection, query: Query, parameters: Sequence[Any]
    ) -> psycopg.Cursor[Any]:
        self._set_scope(connection, query)
        return connection.execute(_literal(query.text), self._named(parameters), binary=True)

    def _named(self, parameters: Sequence[Any]) -> dict[str, Any]:
        named = {f"p{number}": value for number, value in enumerate(parameters, start=1)}
        named["tenant"] = self._tenant
        return named

    def _scope_of(self, query: Query) -> str:
        return "all" if query.all_tenants else f"tenant:{self._tenant}"

    def _set_scope(self, connection: PooledConnection, query: Query) -> None:
        self._set_tenant_scope(connection, self._scope_of(query))

    def _set_tenant_scope(self, connection: PooledConnection, scope: str) -> None:
        """Tell the row-level security of the database which rows the next statements may see."""
        if connection.scope != scope:
            connection.execute("SELECT set_config('thinkback.scope', %s, false)", (scope,))
            connection.scope = scope

    def _current(self) -> PooledConnection | None:
        return getattr(self._shared.local, "connection", None)

    def _require_transaction(self) -> PooledConnection:
        connection = self._current()
        if connection is None:
            raise RuntimeError("this needs a transaction: use it inside write()")
        return connection


def _literal(text: str) -> Any:
    """A statement of this package as psycopg's type for statements that contain no values."""
    return text
