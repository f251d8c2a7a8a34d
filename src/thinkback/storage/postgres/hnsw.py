"""Search by meaning inside the database: one HNSW index of pgvector for each kind of a very large space.

The table `dense_vectors` has a copy of the vectors of these spaces. `extend` adds new rows and creates the
index; rows that came later are searched in memory (decision 0030).
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from psycopg import sql

from thinkback.errors import StoreError
from thinkback.storage.postgres.connection import PostgresDatabase
from thinkback.storage.postgres.error_translation import translate_errors
from thinkback.storage.postgres.pool import PooledConnection
from thinkback.types import ItemKind, NearestRows, SpaceKey

if TYPE_CHECKING:
    from thinkback.types import Vector

EXTEND_ROWS = 2000  # new rows that are searched in memory before the index is extended
PAGE_ROWS = 1000  # written in one transaction
MAX_EF_SEARCH = 1000  # of pgvector: the candidates that a search keeps, at least those that are wanted
BUILD_MEMORY = "256MB"  # a larger graph is built more slowly, on disk
_LOCK = 0x68_6E_73_77  # "hnsw": the advisory lock under which one process extends the indexes of a space

_FIND = """
SELECT s.id, n.nspname,
  (SELECT max(d.id) FROM dense_vectors d WHERE d.tenant = s.tenant AND d.space = s.id AND d.kind = %(kind)s),
  EXISTS (SELECT 1 FROM pg_index i WHERE i.indisvalid
          AND i.indexrelid = to_regclass('dense_' || s.id || '_' || %(kind)s || '_' || %(dim)s))
FROM spaces s CROSS JOIN pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace
WHERE s.tenant = %(tenant)s AND s.name = %(name)s AND e.extname = 'vector'
"""
_NEAREST = """
SELECT id FROM dense_vectors WHERE tenant = {tenant} AND space = {space} AND kind = {kind}
ORDER BY {distance} LIMIT {limit}
"""
_CREATE = """
CREATE INDEX CONCURRENTLY IF NOT EXISTS {index} ON dense_vectors
USING hnsw (({embedding}) {operators}) WHERE tenant = {tenant} AND space = {space} AND kind = {kind}
"""
_PAGE = """
SELECT id, vector FROM entries WHERE tenant = %s AND space = %s AND kind = %s AND id > %s
ORDER BY id LIMIT %s FOR KEY SHARE
"""
_COPY = """
INSERT INTO dense_vectors (tenant, space, kind, id, embedding) VALUES (%s, %s, %s, %s, %s::real[])
ON CONFLICT DO NOTHING
"""
_INDEXES_OF_SPACE = """
SELECT c.relname FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
WHERE i.indrelid = 'dense_vectors'::regclass AND starts_with(c.relname, %s)
"""
_UNUSED_INDEXES = """
SELECT c.relname FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
WHERE i.indrelid = 'dense_vectors'::regclass AND c.relname ~ '^dense_[0-9]+_(turn|thought)_[0-9]+$'
  AND NOT EXISTS (SELECT 1 FROM spaces s WHERE s.id = split_part(c.relname, '_', 2)::bigint)
"""
_log = logging.getLogger(__name__)


class HnswIndexes:
    """The HNSW indexes of a database. `min_rows` is the size from which a space has one; 0: none has."""

    def __init__(self, min_rows: int) -> None:
        self._min_rows = min_rows
        self._extended: dict[tuple[SpaceKey, ItemKind], int] = {}  # the rows that a space had then

    def nearest(
        self, db: PostgresDatabase, key: SpaceKey, kind: ItemKind, vector: Vector, limit: int, size: int
    ) -> NearestRows | None:
        """The rows nearest to a vector; None if the space is small or has no index."""
        if not self._min_rows or size < self._min_rows:
            return None
        dim = len(vector)
        found = db.query((sql.SQL(_FIND), _find_parameters(key, kind, dim)))
        if not found or not found[0][3]:
            return None
        space_id, schema, covered, _ = found[0]
        distance = sql.SQL("{} OPERATOR({}.<#>) {}").format(
            _as_vector(sql.Identifier("embedding"), schema, dim),
            sql.Identifier(schema),
            _as_vector(sql.SQL("%(vector)s::real[]"), schema, dim),
        )
        search = sql.SQL(_NEAREST).format(
            **_space_literals(key, space_id, kind), distance=distance, limit=sql.Literal(limit)
        )
        ef_search = str(min(MAX_EF_SEARCH, limit))
        rows = db.query(
            # without sorting only the index can answer
            (sql.SQL("SELECT set_config('enable_sort', 'off', true)"), {}),
            (sql.SQL("SELECT set_config('hnsw.ef_search', %(ef)s, true)"), {"ef": ef_search}),
            (search, {"vector": _array_literal(vector)}),
        )
        return NearestRows(tuple(id_ for (id_,) in rows), covered or 0)

    def extend(self, db: PostgresDatabase, key: SpaceKey, kind: ItemKind, size: int) -> None:
        """Add the new rows of a space to its index, and create it if the space has become large."""
        if not self._min_rows or size < self._min_rows:
            return
        if 0 <= size - self._extended.get((key, kind), -EXTEND_ROWS) < EXTEND_ROWS:
            return  # fewer rows than before: the space was erased and filled again
        try:
            with _locked_connection(db, key) as connection:
                if connection is None:  # another process is extending it
                    return
                _extend(db, connection, key, kind)
        except StoreError as error:  # the space is searched in memory as before
            _log.warning("the search index in the database was not extended: %s", error)
        self._extended[key, kind] = size

    def drop_unused(self, db: PostgresDatabase) -> None:
        """Drop the indexes of spaces that were erased. They are empty, so it is no failure if one stays."""
        try:
            with _locked_connection(db, None) as connection:
                if connection is not None:
                    for (name,) in connection.execute(_UNUSED_INDEXES).fetchall():
                        _drop(connection, name)
        except StoreError as error:
            _log.warning("the search index of an erased space was not dropped: %s", error)


def _extend(db: PostgresDatabase, connection: PooledConnection, key: SpaceKey, kind: ItemKind) -> None:
    dim = _dimensions(connection, key, kind)
    found: Any = connection.execute(_FIND, _find_parameters(key, kind, dim)).fetchall()
    if not found or not dim:
        return  # the extension is not installed, or the space was erased
    space_id, schema, covered, is_valid = found[0]
    if not is_valid:  # one whose creation broke off, or of another embedder
        for (name,) in connection.execute(_INDEXES_OF_SPACE, (f"dense_{space_id}_{kind}_",)).fetchall():
            _drop(connection, name)
    while (last := _copy_page(db, connection, (key[0], space_id, kind), covered or 0)) is not None:
        covered = last
    if is_valid or not covered:
        return
    create = sql.SQL(_CREATE).format(
        index=sql.Identifier(f"dense_{space_id}_{kind}_{dim}"),
        embedding=_as_vector(sql.Identifier("embedding"), schema, dim),
        operators=sql.Identifier(schema, "vector_ip_ops"),
        **_space_literals(key, space_id, kind),
    )
    connection.execute("SET max_parallel_maintenance_workers = 0")  # they need as much of /dev/shm
    connection.execute(sql.SQL("SET maintenance_work_mem = {}").format(sql.Literal(BUILD_MEMORY)))
    connection.execute("SET lock_timeout = 0")  # it waits for older transactions, and blocks none
    try:
        connection.execute(create)
    finally:
        connection.execute("SET lock_timeout = '30s'")
        connection.execute("RESET maintenance_work_mem")
        connection.execute("RESET max_parallel_maintenance_workers")


@contextmanager
def _locked_connection(db: PostgresDatabase, key: SpaceKey | None) -> Iterator[PooledConnection | None]:
    """A connection that sees the rows of the tenant (all rows without `key`), under the lock of the space.

    None if another process has the lock.
    """
    name = "" if key is None else "/".join(key)
    scope = "all" if key is None else f"tenant:{key[0]}"
    lock = (_LOCK, name)
    with translate_errors(db.path), db.primary.connection() as connection:
        got: Any = connection.execute(
            "SELECT pg_try_advisory_lock(%s::integer, hashtext(current_schema() || %s))", lock
        ).fetchone()
        if not got[0]:
            yield None
            return
        try:
            connection.execute("SELECT set_config('thinkback.scope', %s, false)", (scope,))
            connection.scope = scope
            yield connection
        finally:
            if not connection.closed:
                connection.execute(
                    "SELECT pg_advisory_unlock(%s::integer, hashtext(current_schema() || %s))", lock
                )


def _copy_page(
    db: PostgresDatabase, connection: PooledConnection, space: tuple[str, int, ItemKind], after: int
) -> int | None:
    """Copy the next vectors of a space (tenant, space, kind); returns the last id, or None at the end."""
    with connection.transaction():
        embedder: Any = connection.execute(
            "SELECT value FROM meta WHERE name = 'embedder' FOR SHARE"
        ).fetchone()
        if db.bound_embedder is not None and embedder != (db.bound_embedder,):
            return None  # the vectors were converted meanwhile
        page: list[Any] = connection.execute(_PAGE, (*space, after, PAGE_ROWS), binary=True).fetchall()
        with connection.cursor() as cursor:
            cursor.executemany(
                _COPY, [(*space, id_, _array_literal(np.frombuffer(vector, "<f4"))) for id_, vector in page]
            )
    return int(page[-1][0]) if page else None


def _dimensions(connection: PooledConnection, key: SpaceKey, kind: ItemKind) -> int:
    row: Any = connection.execute(
        "SELECT length(vector) / 4 FROM entries WHERE tenant = %s"
        " AND space = (SELECT id FROM spaces WHERE tenant = %s AND name = %s) AND kind = %s LIMIT 1",
        (key[0], *key, kind),
    ).fetchone()
    return int(row[0]) if row else 0


def _drop(connection: PooledConnection, name: object) -> None:
    connection.execute(sql.SQL("DROP INDEX IF EXISTS {}").format(sql.Identifier(str(name))))


def _find_parameters(key: SpaceKey, kind: ItemKind, dim: int) -> dict[str, str]:
    return {"tenant": key[0], "name": key[1], "kind": kind, "dim": str(dim)}


def _space_literals(key: SpaceKey, space_id: int, kind: ItemKind) -> dict[str, sql.Literal]:
    """Constants, not parameters: only then does the planner know that a partial index answers a query."""
    return {"tenant": sql.Literal(key[0]), "space": sql.Literal(space_id), "kind": sql.Literal(kind)}


def _as_vector(value: sql.Composable, schema: str, dim: int) -> sql.Composed:
    return sql.SQL("{}::{}({})").format(value, sql.Identifier(schema, "vector"), sql.Literal(dim))


def _array_literal(vector: Vector) -> str:
    return "{" + ",".join(map(repr, vector.tolist())) + "}"
