"""A bounded pool of connections to one server. A caller waits a limited time and then gets a named error.

Connections are opened by the thread that needs one, so that work goes on as soon as a restarted server
accepts connections again. (The pool of psycopg reconnects in a background thread, at growing intervals.)
"""

from __future__ import annotations

import select
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import psycopg
from psycopg.types.numeric import Int8Dumper
from psycopg.types.string import StrDumper

from thinkback import errors
from thinkback.storage.postgres.error_translation import translate_error

CONNECT_RETRY_SECONDS = 0.1
CONNECT_TIMEOUT_SECONDS = 3
_SETTINGS = "SET lock_timeout = '30s'; SET idle_in_transaction_session_timeout = '10min'"


class PooledConnection(psycopg.Connection[tuple[object, ...]]):
    """A connection that remembers its setting `thinkback.scope` (see `connection.py`)."""

    scope: str | None = None

    def is_closed_by_server(self) -> bool:
        """Whether the server may have closed the connection while it was idle: there is something to read."""
        if hasattr(select, "poll"):
            waiting = select.poll()
            waiting.register(self.fileno(), select.POLLIN)
            return bool(waiting.poll(0))
        return bool(select.select([self], [], [], 0)[0])  # Windows


def open_connection(conninfo: str) -> PooledConnection:
    """A connection in autocommit mode."""
    connection = PooledConnection.connect(
        conninfo,
        autocommit=True,
        connect_timeout=CONNECT_TIMEOUT_SECONDS,
        application_name="thinkback",
        client_encoding="utf-8",
    )
    # Declare texts and numbers with one type each: a statement is then prepared once, not for each size.
    connection.adapters.register_dumper(str, StrDumper)
    connection.adapters.register_dumper(int, Int8Dumper)
    connection.execute(_SETTINGS)
    return connection


class Pool:
    """At most `size` connections; `timeout` is how many seconds a caller waits for one. Thread-safe."""

    def __init__(self, conninfo: str, name: str, size: int, timeout: float) -> None:
        self._conninfo = conninfo
        self._name = name
        self._size = size
        self._timeout = timeout
        self._slots = threading.BoundedSemaphore(size)
        self._idle: list[PooledConnection] = []
        self._lock = threading.Lock()
        self._closed = False

    @property
    def size(self) -> int:
        return self._size

    @contextmanager
    def connection(self) -> Iterator[PooledConnection]:
        """Borrow a connection. One that is broken, or inside a transaction, is closed afterwards.

        Raises:
            StoreBusy: all connections are in use.
            StoreUnavailable: the server does not accept connections.
        """
        deadline = time.monotonic() + self._timeout
        if not self._slots.acquire(timeout=self._timeout):
            raise errors.StoreBusy(
                f"{self._name}: all {self._size} connections were in use for {self._timeout:g} s: "
                "try again, or set a larger pool_size",
                retry_after=1.0,
            )
        try:
            connection = self._take() or self._open(deadline)
            try:
                yield connection
            finally:
                self._give_back(connection)
        finally:
            self._slots.release()

    def close(self) -> None:
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def _take(self) -> PooledConnection | None:
        with self._lock:
            if self._closed:
                raise errors.StoreUnavailable(f"{self._name} is closed")
            return self._idle.pop() if self._idle else None

    def _open(self, deadline: float) -> PooledConnection:
        """Connect, again and again until the deadline while the server is starting or not reachable."""
        while True:
            try:
                return open_connection(self._conninfo)
            except psycopg.OperationalError as error:
                translated = translate_error(self._name, error)
                if time.monotonic() + CONNECT_RETRY_SECONDS >= deadline or _is_permanent(error):
                    raise translated from None
                time.sleep(CONNECT_RETRY_SECONDS)

    def _give_back(self, connection: PooledConnection) -> None:
        reusable = (
            not connection.closed and connection.info.transaction_status == psycopg.pq.TransactionStatus.IDLE
        )
        with self._lock:
            if reusable and not self._closed:
                self._idle.append(connection)
                return
        with suppress(psycopg.Error):
            connection.close()

    def discard_idle(self) -> None:
        """Close all idle connections, after one turned out to be broken: the server was restarted."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            with suppress(psycopg.Error):
                connection.close()


def _is_permanent(error: psycopg.OperationalError) -> bool:
    """Whether waiting does not help: a wrong password, user or database."""
    text = str(error)
    return (
        "authentication failed" in text
        or ("does not exist" in text and 'role "' in text)
        or ('database "' in text and "does not exist" in text)
    )
