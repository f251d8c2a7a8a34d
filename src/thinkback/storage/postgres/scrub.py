"""Removal of the bytes of erased rows from the files of the tables.

A deleted row stays in its page until the page is reused, also after VACUUM. Only VACUUM FULL writes the
table and its indexes anew. It locks the table while it works, so it runs at once for databases up to a size,
and beyond that only when an operator asks for it (docs/postgres.md). The write-ahead log and backups are not
touched.
"""

from __future__ import annotations

import threading
import time

from thinkback import errors
from thinkback.storage.postgres.connection import SCRUB_PENDING, PostgresDatabase

TABLES = (
    "turn_metadata",
    "turns",
    "thoughts",
    "entities",
    "aliases",
    "actions",
    "dense_vectors",
    "entries",
    "hashings",
    "summaries",
    "summary_updates",
    "spaces",
    "keys",
)
WAIT_SECONDS = 2.0  # for transactions of others that can still see the deleted rows
RETRY_SECONDS = 10.0  # between two attempts in the background


class Scrub:
    """Rewrites the tables after an erasure. One thread of a process at a time."""

    def __init__(self, db: PostgresDatabase, limit_bytes: int) -> None:
        self._db = db
        self._limit_bytes = limit_bytes
        self._lock = threading.Lock()
        self._next_attempt = 0.0

    def is_pending(self) -> bool:
        """Whether bytes of erased rows are still in the files."""
        return bool(self._db.read("meta.get", (SCRUB_PENDING,)))

    def resume(self) -> bool:
        """Try again if something is pending. Returns whether something still is."""
        if not self.is_pending():
            return False
        if time.monotonic() < self._next_attempt:
            return True
        return self.run() is not None

    def run(self) -> str | None:
        """Rewrite the tables. Returns why bytes are still pending, or None."""
        with self._lock:
            self._next_attempt = time.monotonic() + RETRY_SECONDS
            try:
                return self._rewrite()
            except errors.StoreError as error:
                return str(error)

    def _rewrite(self) -> str | None:
        marks = self._db.read("meta.get", (SCRUB_PENDING,))
        if self._db.read("scrub.size")[0][0] > self._limit_bytes:
            return (
                f"the database is larger than {self._limit_bytes >> 20} MB, so its tables are not rewritten "
                "while it is in use: run VACUUM FULL in a quiet hour, see docs/postgres.md"
            )
        deadline = time.monotonic() + WAIT_SECONDS
        while self._db.read("scrub.snapshots")[0][0]:
            if time.monotonic() >= deadline:
                return "another transaction can still see the deleted rows"
            time.sleep(0.05)
        for table in TABLES:
            self._db.autocommit(f"VACUUM FULL {table}")
        with self._db.write():
            for (mark,) in marks:  # an erasure committed since has another mark, which stays
                self._db.run("meta.delete_value", (SCRUB_PENDING, mark))
        return None
