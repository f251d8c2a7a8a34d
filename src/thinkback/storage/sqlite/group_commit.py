"""Group commit: what several threads write at once is made durable at once, in one transaction.

The first to come leads: it waits for the locks, and whoever comes meanwhile goes along. A commit costs
as much for one turn as for thirty, and so does the waiting for the locks of other processes.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, TypeVar

from thinkback.errors import StoreUnavailable
from thinkback.storage.sqlite.connection import Connection, translate_errors

_Result = TypeVar("_Result")


class _WriteRequest:
    def __init__(self, work: Callable[[], Any]) -> None:
        self.work = work
        self.ready = threading.Event()  # it is done, or it leads
        self.done = False
        self.result: Any = None
        self.error: BaseException | None = None


class GroupCommit:
    """Runs writes; each has the whole transaction's durability, and only its own errors."""

    def __init__(self, db: Connection) -> None:
        self._db = db
        self._waiting: list[_WriteRequest] = []
        self._has_leader = False
        self._lock = threading.Lock()

    def write(self, work: Callable[[], _Result]) -> _Result:
        """The result of `work`, run inside a write transaction, once that is durable."""
        errand = _WriteRequest(work)
        with self._lock:
            self._waiting.append(errand)
            leads, self._has_leader = not self._has_leader, True
        if not leads:
            try:
                errand.ready.wait()
            except BaseException:  # Ctrl-C: whoever was to lead must not be gone
                self._cancel(errand)
                raise
        if not errand.done:
            self._lead(errand)
        if errand.error is not None:
            raise errand.error
        result: _Result = errand.result
        return result

    def _lead(self, own: _WriteRequest) -> None:
        """One commit, with its own errand; who came meanwhile is led by the first of them."""
        taken: list[_WriteRequest] = []
        try:
            with self._db.write():
                with self._lock:
                    taken, self._waiting = self._waiting, []
                self._run_all(taken)
        except (
            _TransactionRolledBack
        ):  # one of them was too much for the disk: the others are tried without it
            for each in taken:
                if each.error is None:
                    self._run_alone(each)
        except BaseException as error:
            with self._lock:  # nothing was written; if the locks could not be had, nobody was taken yet
                if not taken:
                    taken, self._waiting = self._waiting, []
            for each in taken:
                each.error = each.error or (error if each is own else _error_for_followers(error))
        finally:
            for each in taken:
                each.done = True
                each.ready.set()
            with self._lock:
                self._wake_next_leader()

    def _run_alone(self, errand: _WriteRequest) -> None:
        try:
            with self._db.write():
                errand.result = errand.work()
        except Exception as error:
            errand.error = error

    def _run_all(self, taken: list[_WriteRequest]) -> None:
        if len(taken) == 1:
            taken[0].result = taken[0].work()
            return
        for each in taken:
            self._db.run("group.begin")
            try:
                with translate_errors(self._db.path):
                    each.result = each.work()
            except Exception as error:  # its own mistake: the others go on
                each.error = error
                if not self._db.in_transaction:
                    raise _TransactionRolledBack from error
                self._db.run("group.take_back")
            self._db.run("group.end")

    def _cancel(self, errand: _WriteRequest) -> None:
        with self._lock:
            if errand in self._waiting:
                self._waiting.remove(errand)
                if errand.ready.is_set():
                    self._wake_next_leader()

    def _wake_next_leader(self) -> None:
        self._has_leader = bool(self._waiting)
        if self._waiting:
            self._waiting[0].ready.set()


class _TransactionRolledBack(Exception):
    """SQLite has taken back the whole transaction, not one errand of it."""


def _error_for_followers(error: BaseException) -> BaseException:
    """An interruption is for the thread that it reached."""
    if isinstance(error, Exception):
        return error
    return StoreUnavailable("the write was interrupted, and nothing of it is kept: try again")
