"""Group commit: what several threads write at once is made durable at once, in one transaction.

The first to come leads: it waits for the locks, and whoever comes meanwhile goes along. A commit costs
as much for one turn as for thirty, and so does the waiting for the locks of other processes.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, TypeVar

from thinkback.errors import StoreUnavailable
from thinkback.stores.sqlite.connection import Connection, translated

_Result = TypeVar("_Result")


class _Errand:
    def __init__(self, work: Callable[[], Any]) -> None:
        self.work = work
        self.called = threading.Event()  # it is done, or it leads
        self.done = False
        self.result: Any = None
        self.error: BaseException | None = None


class Together:
    """Runs writes; each has the whole transaction's durability, and only its own errors."""

    def __init__(self, db: Connection) -> None:
        self._db = db
        self._waiting: list[_Errand] = []
        self._led = False
        self._lock = threading.Lock()

    def write(self, work: Callable[[], _Result]) -> _Result:
        """The result of `work`, run inside a write transaction, once that is durable."""
        errand = _Errand(work)
        with self._lock:
            self._waiting.append(errand)
            leads, self._led = not self._led, True
        if not leads:
            try:
                errand.called.wait()
            except BaseException:  # Ctrl-C: whoever was to lead must not be gone
                self._leave(errand)
                raise
        if not errand.done:
            self._lead(errand)
        if errand.error is not None:
            raise errand.error
        result: _Result = errand.result
        return result

    def _lead(self, own: _Errand) -> None:
        """One commit, with its own errand; who came meanwhile is led by the first of them."""
        taken: list[_Errand] = []
        try:
            with self._db.write():
                with self._lock:
                    taken, self._waiting = self._waiting, []
                self._run(taken)
        except _RolledBack:  # one of them was too much for the disk: the others are tried without it
            for each in taken:
                if each.error is None:
                    self._alone(each)
        except BaseException as error:
            with self._lock:  # nothing was written; if the locks could not be had, nobody was taken yet
                if not taken:
                    taken, self._waiting = self._waiting, []
            for each in taken:
                each.error = each.error or (error if each is own else _for_others(error))
        finally:
            for each in taken:
                each.done = True
                each.called.set()
            with self._lock:
                self._hand_on()

    def _alone(self, errand: _Errand) -> None:
        try:
            with self._db.write():
                errand.result = errand.work()
        except Exception as error:
            errand.error = error

    def _run(self, taken: list[_Errand]) -> None:
        if len(taken) == 1:
            taken[0].result = taken[0].work()
            return
        for each in taken:
            self._db.run("group.begin")
            try:
                with translated(self._db.path):
                    each.result = each.work()
            except Exception as error:  # its own mistake: the others go on
                each.error = error
                if not self._db.writing:
                    raise _RolledBack from error
                self._db.run("group.take_back")
            self._db.run("group.end")

    def _leave(self, errand: _Errand) -> None:
        with self._lock:
            if errand in self._waiting:
                self._waiting.remove(errand)
                if errand.called.is_set():
                    self._hand_on()

    def _hand_on(self) -> None:
        self._led = bool(self._waiting)
        if self._waiting:
            self._waiting[0].called.set()


class _RolledBack(Exception):
    """SQLite has taken back the whole transaction, not one errand of it."""


def _for_others(error: BaseException) -> BaseException:
    """An interruption is for the thread that it reached."""
    if isinstance(error, Exception):
        return error
    return StoreUnavailable("the write was interrupted, and nothing of it is kept: try again")
