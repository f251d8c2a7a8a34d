"""`Database`: what the relational store needs of a connection."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

Row = tuple[Any, ...]


class Cursor(Protocol):
    """The result of a statement (a cursor of DB-API 2.0)."""

    @property
    def rowcount(self) -> int: ...

    def fetchone(self) -> Any: ...

    def fetchall(self) -> list[Any]: ...


class Database(Protocol):
    """Runs the named statements of `queries.sql`. Thread-safe."""

    bound_embedder: str | None

    @property
    def path(self) -> str:
        """The name of the database in messages."""
        ...

    def for_tenant(self, tenant: str) -> Database:
        """The same database, limited to the rows of a tenant where the database can enforce that."""
        ...

    def for_recall(self) -> Database:
        """The same database, read from a replica where there is one, else itself."""
        ...

    def run(self, name: str, parameters: Sequence[Any] = ()) -> Cursor:
        """Run a statement in the current transaction. Only inside `write()`."""
        ...

    def run_many(self, name: str, rows: Sequence[Sequence[Any]]) -> None:
        """Run a statement for each row. Only inside `write()`."""
        ...

    def read(self, name: str, parameters: Sequence[Any] = ()) -> list[Row]:
        """The rows of a query, from a committed state."""
        ...

    def read_together(self, *queries: tuple[str, Sequence[Any]]) -> list[list[Row]]:
        """The rows of several queries, all from the same committed state."""
        ...

    def read_table(
        self, table: str, columns: Sequence[str], space_id: int, order: Sequence[str]
    ) -> list[Row]:
        """All rows of a space in a table. The names are constants of the program, never input."""
        ...

    def write_table(
        self, table: str, columns: Sequence[str], space_id: int, rows: Sequence[Sequence[Any]]
    ) -> None:
        """Insert rows of a space into a table. Only inside `write()`."""
        ...

    def snapshot(self) -> AbstractContextManager[None]:
        """Several reads from the same committed state."""
        ...

    def write(self, *, derived: bool = False, pipelined: bool = False) -> AbstractContextManager[None]:
        """One transaction, durable at the end or rolled back.

        With `derived=True` the commit does not wait for the disk: derived data that is lost in a power
        failure (as a whole) is computed again. With `pipelined=True` a database on another machine is sent
        the next statements before it has answered the last ones, until a row is fetched; the `rowcount` of
        cursors is not known then.
        """
        ...

    def mark_for_scrub(self) -> None:
        """Record, in the transaction of an erasure, that the bytes of deleted rows must be removed."""
        ...

    def check(self) -> list[str]:
        """Run the integrity check of the database. Returns the problems found."""
        ...
