"""A circuit breaker: what fails again and again is left alone for a while, then tried once."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

FAILURES = 5
PAUSE_S = 2.0
LONGEST_PAUSE_S = 60.0


class Breaker:
    """Opens after `failures` in a row; each trial that fails doubles the pause."""

    def __init__(
        self,
        *,
        failures: int = FAILURES,
        pause_s: float = PAUSE_S,
        longest_s: float = LONGEST_PAUSE_S,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._limit = failures
        self._first_pause = self._pause = pause_s
        self._longest = longest_s
        self._clock = clock
        self._failed = 0
        self._until = 0.0
        self._trial = False
        self._lock = threading.Lock()

    @property
    def open(self) -> bool:
        with self._lock:
            return self._failed >= self._limit

    def allows(self) -> bool:
        """Whether to try now; while it is open, one trial at a time once the pause is over."""
        with self._lock:
            if self._failed < self._limit:
                return True
            if self._trial or self._clock() < self._until:
                return False
            self._trial = True
            return True

    def succeeded(self) -> None:
        with self._lock:
            self._failed, self._pause, self._trial = 0, self._first_pause, False

    def gave_up(self) -> None:
        """It was tried and nobody waited for the end: an open breaker takes that for a failure."""
        if self.open:
            self.failed()

    def failed(self) -> None:
        with self._lock:
            self._failed += 1
            if self._failed < self._limit:
                return
            if self._trial:
                self._pause = min(self._pause * 2, self._longest)
            self._until = self._clock() + self._pause
            self._trial = False
