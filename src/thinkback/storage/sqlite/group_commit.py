"""Group commit: concurrent writes of several threads share one transaction.

The first thread becomes the leader and waits for the locks; the writes that arrive meanwhile are committed
with its own. A commit (and the wait for locks of other processes) costs as much for one turn as for thirty.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, TypeVar

from thinkback.errors import StoreUnavailable
from thinkback.storage.sqlite.connection import Connection
from thinkback.storage.sqlite.error_translation import translate_errors

_Result = TypeVar("_Result")


class _WriteRequest:
    """The write of one thread."""

    def __init__(self, work: Callable[[], Any]) -> None:
        self.work = work
        self.ready = threading.Event()  # set when it is done, or when its thread must lead
        self.done = False
        self.result: Any = None
        self.error: BaseException | None = None


class GroupCommit:
    """Runs writes in shared transactions. Each caller sees only the errors of its own write."""

    def __init__(self, db: Connection) -> None:
        self._db = db
        self._waiting: list[_WriteRequest] = []
        self._has_leader = False
        self._lock = threading.Lock()

    def write(self, work: Callable[[], _Result]) -> _Result:
        """Run `work` inside a write transaction. Returns its result once it is durable."""
        request = _WriteRequest(work)
        with self._lock:
            self._waiting.append(request)
            leads, self._has_leader = not self._has_leader, True
        if not leads:
            try:
                request.ready.wait()
            except BaseException:  # Ctrl-C: if this thread was to lead, another one must
                self._cancel(request)
                raise
        if not request.done:
            self._lead(request)
        if request.error is not None:
            raise request.error
        result: _Result = request.result
        return result

    def _lead(self, own: _WriteRequest) -> None:
        """Commit all waiting requests, this one included, and wake the next leader."""
        taken: list[_WriteRequest] = []
        try:
            with self._db.write():
                with self._lock:
                    taken, self._waiting = self._waiting, []
                self._run_all(taken)
        except _TransactionRolledBack:  # one request filled the disk: retry the others without it
            for request in taken:
                if request.error is None:
                    self._run_alone(request)
        except BaseException as error:
            with self._lock:  # nothing was written; without the locks, no request was taken yet
                if not taken:
                    taken, self._waiting = self._waiting, []
            for request in taken:
                request.error = request.error or (error if request is own else _error_for_followers(error))
        finally:
            for request in taken:
                request.done = True
                request.ready.set()
            with self._lock:
                self._wake_next_leader()

    def _run_alone(self, request: _WriteRequest) -> None:
        try:
            with self._db.write():
                request.result = request.work()
        except Exception as error:
            request.error = error

    def _run_all(self, taken: list[_WriteRequest]) -> None:
        if len(taken) == 1:
            taken[0].result = taken[0].work()
            return
        for request in taken:
            self._db.run("savepoint.begin")
            try:
                with translate_errors(self._db.path):
                    request.result = request.work()
            except Exception as error:  # fails this request only
                request.error = error
                if not self._db.in_transaction:
                    raise _TransactionRolledBack from error
                self._db.run("savepoint.rollback")
            self._db.run("savepoint.release")

    def _cancel(self, request: _WriteRequest) -> None:
        with self._lock:
            if request in self._waiting:
                self._waiting.remove(request)
                if request.ready.is_set():
                    self._wake_next_leader()

    def _wake_next_leader(self) -> None:
        self._has_leader = bool(self._waiting)
        if self._waiting:
            self._waiting[0].ready.set()


class _TransactionRolledBack(Exception):
    """SQLite rolled back the whole transaction, not only one request."""


def _error_for_followers(error: BaseException) -> BaseException:
    """The error for the other threads: KeyboardInterrupt concerns only the interrupted thread."""
    if isinstance(error, Exception):
        return error
    return StoreUnavailable("the write was interrupted and nothing was stored: try again")
