"""One background thread that thinks while nobody is waiting for an answer."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable
from typing import Generic, Protocol, TypeVar

IDLE_SECONDS = 0.2  # work waits until writing has paused for so long: it is never in the way of an answer
MAX_WAIT_SECONDS = 5.0  # but no longer than this, for a busy server never pauses
RETRY_DELAY_SECONDS = (
    5.0  # until what must wait (a failed model, another's lease, a locked database) is looked at again
)


_Space = TypeVar("_Space", bound=Hashable)
_Space_contra = TypeVar("_Space_contra", bound=Hashable, contravariant=True)


class ThinkSpace(Protocol[_Space_contra]):
    """Thinks a space over until all is done or `stopping()`; True if something had to be left for later."""

    def __call__(self, space: _Space_contra, /, *, stopping: Callable[[], bool]) -> bool: ...


class Worker(Generic[_Space]):
    """Thinks over every space that is woken, once writing has paused; what it leaves stays pending.

    A space is whatever names it: the worker only hands it on.
    """

    def __init__(
        self,
        think: ThinkSpace[_Space],
        *,
        idle_seconds: float = IDLE_SECONDS,
        max_wait_seconds: float = MAX_WAIT_SECONDS,
        retry_delay_seconds: float = RETRY_DELAY_SECONDS,
    ) -> None:
        self._think = think
        self._idle_seconds = idle_seconds
        self._max_wait_seconds = max_wait_seconds
        self._retry_delay_seconds = retry_delay_seconds
        self._waiting: dict[_Space, float] = {}  # space -> since when; in that order
        self._retry_at: dict[_Space, float] = {}  # space -> when to look again
        self._changed = threading.Condition()
        self._stopping = False
        self._busy = False
        self._thread: threading.Thread | None = None
        self._error: Exception | None = None

    def wake(self, space: _Space) -> None:
        with self._changed:
            if self._stopping:
                return
            self._waiting.setdefault(space, time.monotonic())
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="thinkback-worker", daemon=True)
                self._thread.start()
            self._changed.notify_all()

    def wait(self, timeout: float | None = None) -> bool:
        """Until nothing is left to do now; False if that took longer than `timeout`.

        The error of the last round, if it failed, is raised: background work must not fail in silence.
        """
        with self._changed:
            done = self._changed.wait_for(
                lambda: self._stopping or not (self._waiting or self._busy), timeout
            )
            error, self._error = self._error, None
        if error is not None:
            raise error
        return done

    def stop(self) -> None:
        """End after the turn in hand."""
        with self._changed:
            self._stopping = True
            self._waiting.clear()
            self._changed.notify_all()
            thread = self._thread
        if thread is not None:
            thread.join()

    def _run(self) -> None:
        while (space := self._next_space()) is not None:
            error, unfinished = None, True
            try:
                unfinished = self._think(space, stopping=lambda: self._stopping)
            except Exception as failure:
                error = failure
            with self._changed:
                self._error = error
                if unfinished:
                    self._retry_at[space] = time.monotonic() + self._retry_delay_seconds
                self._busy = False
                self._changed.notify_all()

    def _next_space(self) -> _Space | None:
        with self._changed:
            while not self._stopping:
                now = time.monotonic()
                for space in [space for space, due in self._retry_at.items() if due <= now]:
                    del self._retry_at[space]
                    self._waiting.setdefault(space, now)
                if not self._waiting:
                    due = min(self._retry_at.values(), default=None)
                    self._changed.wait(None if due is None else due - now)
                    continue
                space, since = next(iter(self._waiting.items()))
                if now < since + self._max_wait_seconds and self._changed.wait(self._idle_seconds):
                    continue
                if not self._stopping:
                    del self._waiting[space]
                    self._retry_at.pop(space, None)
                    self._busy = True
                    return space
        return None
