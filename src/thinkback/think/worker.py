"""The background thread that thinks about the pending turns of several spaces in turn."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import partial
from typing import Generic, Protocol, TypeVar

IDLE_SECONDS = 0.2  # work starts after this pause in writing, so that it does not delay answers
MAX_WAIT_SECONDS = 5.0  # and after this time anyway, because a busy server never pauses
SLICE_SECONDS = 2.0  # of work on one space while others wait
RETRY_DELAY_SECONDS = 5.0  # after a failed model, a turn claimed by another process, or a locked database


_Space = TypeVar("_Space", bound=Hashable)
_Space_contra = TypeVar("_Space_contra", bound=Hashable, contravariant=True)


class ThinkSpace(Protocol[_Space_contra]):
    """Processes a space until it is done or `stopping()`; returns True if something was left for later."""

    def __call__(self, space: _Space_contra, /, *, stopping: Callable[[], bool]) -> bool: ...


@dataclass
class _Slice:
    """The time that one space has while others wait."""

    until: float
    used: bool = False


class Worker(Generic[_Space]):
    """Processes every space passed to `wake`, once writing has paused.

    Spaces are opaque keys that are passed on to `think`. Unfinished work stays pending in the store. A space
    with much work gives way to the others after `slice_seconds`, and the tenants (`tenant_of`) take turns.
    """

    def __init__(
        self,
        think: ThinkSpace[_Space],
        *,
        idle_seconds: float = IDLE_SECONDS,
        max_wait_seconds: float = MAX_WAIT_SECONDS,
        retry_delay_seconds: float = RETRY_DELAY_SECONDS,
        slice_seconds: float = SLICE_SECONDS,
        tenant_of: Callable[[_Space], Hashable] = lambda space: None,
    ) -> None:
        self._think = think
        self._slice_seconds = slice_seconds
        self._tenant_of = tenant_of
        self._last_tenant: Hashable = None
        self._idle_seconds = idle_seconds
        self._max_wait_seconds = max_wait_seconds
        self._retry_delay_seconds = retry_delay_seconds
        self._waiting: dict[_Space, float] = {}  # space -> waiting since (monotonic); oldest first
        self._retry_at: dict[_Space, float] = {}  # space -> time of the next attempt (monotonic)
        self._changed = threading.Condition()
        self._stopping = False
        self._busy = False
        self._thread: threading.Thread | None = None
        self._error: Exception | None = None

    def wake(self, space: _Space) -> None:
        """Request processing of a space; starts the thread on the first call."""
        with self._changed:
            if self._stopping:
                return
            self._waiting.setdefault(space, time.monotonic())
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="thinkback-worker", daemon=True)
                self._thread.start()
            self._changed.notify_all()

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until no work is left; return False after `timeout` seconds.

        Raises the error of the last round if it failed: background work must not fail silently.
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
        """Stop the thread after the current turn."""
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
            slice_ = _Slice(time.monotonic() + self._slice_seconds)
            try:
                unfinished = self._think(space, stopping=partial(self._gives_way, slice_))
            except Exception as failure:
                error = failure
            with self._changed:
                self._error = error
                if unfinished and slice_.used and error is None:
                    self._waiting.setdefault(space, time.monotonic() - self._max_wait_seconds)
                elif unfinished:
                    self._retry_at[space] = time.monotonic() + self._retry_delay_seconds
                self._busy = False
                self._changed.notify_all()

    def _gives_way(self, slice_: _Slice) -> bool:
        """Whether the current space has to stop: the worker ends, or its time is over and others wait."""
        if self._waiting and time.monotonic() >= slice_.until:
            slice_.used = True
        return self._stopping or slice_.used

    def _first_waiting(self) -> tuple[_Space, float]:
        """The space that has waited longest, of another tenant than the last one if any waits."""
        waiting = self._waiting.items()
        others = (item for item in waiting if self._tenant_of(item[0]) != self._last_tenant)
        return next(others, None) or next(iter(waiting))

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
                space, since = self._first_waiting()
                if now < since + self._max_wait_seconds and self._changed.wait(self._idle_seconds):
                    continue
                if not self._stopping:
                    del self._waiting[space]
                    self._last_tenant = self._tenant_of(space)
                    self._retry_at.pop(space, None)
                    self._busy = True
                    return space
        return None
