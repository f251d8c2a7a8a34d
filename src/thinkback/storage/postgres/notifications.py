"""LISTEN and NOTIFY: workers learn of new turns without polling often.

A notification is only a hint. A worker that misses one, or whose connection is lost, finds the turns by
polling. Therefore notifications are sent after the commit and at most once per interval: inside the
transaction they would serialise the commits of all connections.
"""

from __future__ import annotations

import threading
import time
from contextlib import suppress

import psycopg

from thinkback.storage.postgres.pool import PooledConnection, open_connection

CHANNEL = "thinkback_turns"
NOTIFY_INTERVAL_SECONDS = 0.05


class TurnNotifier:
    """Limits how often a store notifies the workers of all processes of new turns."""

    def __init__(self) -> None:
        self._last = float("-inf")

    def due_channel(self) -> str | None:
        """The channel to notify, or None if that was done a moment ago."""
        now = time.monotonic()
        if now - self._last < NOTIFY_INTERVAL_SECONDS:
            return None
        self._last = now
        return CHANNEL


class TurnListener:
    """Waits for notifications on a connection of its own, which is opened when it is first needed."""

    def __init__(self, conninfo: str) -> None:
        self._conninfo = conninfo
        self._connection: PooledConnection | None = None
        self._lock = threading.Lock()

    def wait(self, seconds: float, stop: threading.Event) -> bool:
        """Wait for new turns; returns whether there was a notification."""
        with self._lock:
            try:
                if self._connection is None:
                    self._connection = open_connection(self._conninfo)
                    self._connection.execute(f"LISTEN {CHANNEL}")
                return any(True for _ in self._connection.notifies(timeout=seconds, stop_after=1))
            except psycopg.Error:  # the server is down or restarting: poll
                self._close()
        stop.wait(seconds)
        return False

    def close(self) -> None:
        with self._lock:
            self._close()

    def _close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(psycopg.Error):
                connection.close()
