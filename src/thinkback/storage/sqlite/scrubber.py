"""Repeats an interrupted scrub in a thread until no byte of erased rows is left in the files."""

from __future__ import annotations

import threading
from contextlib import suppress

from thinkback import errors
from thinkback.storage.sqlite.connection import Connection

FIRST_PAUSE_SECONDS, MAX_PAUSE_SECONDS = 0.2, 10.0


class Scrubber:
    """The scrubbing thread of one connection. It exists only while there is something to scrub."""

    def __init__(self, db: Connection) -> None:
        self._db = db
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._stop = threading.Event()

    def resume(self) -> bool:
        """Start the thread if a scrub is pending. Returns whether one is."""
        if not self._db.needs_scrub():
            return False
        with self._lock:
            if not self._stop.is_set() and (self._thread is None or not self._thread.is_alive()):
                self._thread = threading.Thread(target=self._run, name="thinkback-scrub", daemon=True)
                self._thread.start()
        return True

    def stop(self) -> None:
        """Stop the thread. What is still pending is done by the next process that opens the database."""
        self._stop.set()
        with self._lock:
            thread = self._thread
        if thread is not None:
            thread.join()

    def _run(self) -> None:
        pause = FIRST_PAUSE_SECONDS
        while not self._stop.wait(pause):
            pause = min(pause * 2, MAX_PAUSE_SECONDS)
            with suppress(errors.StoreError):  # still blocked: later again
                if self._db.needs_scrub():
                    self._db.scrub(wait_seconds=0)
                with self._lock:  # otherwise `resume` could count on a thread that is about to end
                    if not self._db.needs_scrub():
                        self._thread = None
                        return


def pending_reason(error: errors.StoreError) -> str:
    """Why bytes of erased rows are still in the files, in words for a user."""
    if isinstance(error, errors.DiskFull):
        return "the disk is full"
    if isinstance(error, errors.StoreUnavailable):
        return "another process is using the database"
    return "the database could not be rewritten: run thinkback doctor --verify"
