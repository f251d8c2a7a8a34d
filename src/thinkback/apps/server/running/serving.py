"""One process's HTTP server: uvicorn on a socket that others may share, ended by a word."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn


class Server(uvicorn.Server):
    """Ends after what is in hand when `stop` is called, from any thread or by SIGTERM."""

    def __init__(self, config: uvicorn.Config, stopping: threading.Event) -> None:
        super().__init__(config)
        self._stopping = stopping

    def stop(self) -> None:
        self._stopping.set()
        self.should_exit = True

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """uvicorn raises a signal again once it has ended, which would turn a good end into a death by it."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        wanted = [signal.SIGTERM]
        if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:  # else the supervisor hears it
            wanted.append(signal.SIGINT)
        before = {number: signal.signal(number, self._signalled) for number in wanted}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _signalled(self, number: int, frame: object) -> None:
        self.force_exit = self.should_exit  # the second time, at once
        self.stop()
