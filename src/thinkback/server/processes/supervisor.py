"""The supervisor: starts the processes that answer and think, restarts what dies, ends all of them in order.

Every process hangs on a leash, a pipe from the supervisor: a word on it asks the process to stop, and its end
says that the supervisor is gone, even by `kill -9`; either way the process finishes what is in hand and ends.
Processes are spawned, never forked: whoever forks with threads forks their locks.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from pkgutil import resolve_name
from typing import Any

from thinkback.errors import ThinkbackError
from thinkback.server.telemetry.logs import EventLog

STOP_MESSAGE = b"stop"
EXIT_CONFIG_ERROR = 78  # the exit code of a process that would fail again: it has said why (EX_CONFIG)
STABLE_SECONDS = 10.0  # a process that lived so long had begun well
MAX_QUICK_EXITS = 5  # in a row, then the server gives up
FIRST_RESTART_DELAY_SECONDS, MAX_RESTART_DELAY_SECONDS = 0.1, 5.0
DEFAULT_ENVIRONMENT = {"MALLOC_ARENA_MAX": "2"}
"""Of every process, where it is not set: with an arena a thread glibc keeps many times what is in use."""

KILL_MARGIN_SECONDS = 3.0  # beyond its grace, before a process is ended by force


class StopPipe:
    """A process's end of the pipe."""

    def __init__(self, pipe: Connection, exit_process: Callable[[int], object] = os._exit) -> None:
        self._pipe = pipe
        self._leave = exit_process

    def on_stop(self, stop: Callable[[], None], grace_seconds: float) -> None:
        """Call `stop` (from another thread) when asked to, or when nobody holds the leash any more.

        A process that is still there after its grace ends all the same: an orphan has nobody to end it.
        """
        threading.Thread(
            target=self._wait, args=(stop, grace_seconds), name="thinkback-leash", daemon=True
        ).start()

    def _wait(self, stop: Callable[[], None], grace_s: float) -> None:
        with suppress(EOFError, OSError):
            self._pipe.recv_bytes()
        stop()
        time.sleep(grace_s + KILL_MARGIN_SECONDS)
        self._leave(1)


@dataclass(frozen=True, slots=True)
class Task:
    """What one process does: `run` is a "module:function" of (leash, *given); what is given must pickle."""

    name: str
    entrypoint: str
    args: tuple[Any, ...] = ()


@dataclass
class _Slot:
    """A task, and the process that does it now."""

    task: Task
    process: SpawnProcess | None = None
    pipe: Connection | None = None
    started: float = 0.0
    quick_exits: int = 0
    start_at: float = field(default=0.0)  # when to start it (again)

    @property
    def restart_delay_seconds(self) -> float:
        return min(FIRST_RESTART_DELAY_SECONDS * 2.0**self.quick_exits, MAX_RESTART_DELAY_SECONDS)


class Supervisor:
    """Runs until a signal, or until a process cannot be kept alive."""

    def __init__(
        self,
        tasks: Sequence[Task],
        *,
        grace_seconds: float,
        logs: EventLog,
        on_stop: Callable[[], None] = lambda: None,
        on_exit: Callable[[int], None] = lambda pid: None,
    ) -> None:
        self._slots = [_Slot(task) for task in tasks]
        self._grace_s = grace_seconds
        self._logs = logs
        self._at_stop = on_stop
        self._at_death = on_exit
        self._deadline: float | None = None  # once it is stopping
        self._code = 0

    def run(self) -> int:
        """The exit code: 0 when it was asked to stop and all ended in time."""
        for name, value in DEFAULT_ENVIRONMENT.items():
            os.environ.setdefault(name, value)
        with _capture_signals() as (wake, heard):
            try:
                while True:
                    if len(heard) > 1:
                        return 128 + heard[-1]
                    if heard and self._deadline is None:
                        self._stop()
                    if self._deadline is None:
                        self._start_due()
                    elif not any(slot.process for slot in self._slots):
                        return self._code
                    elif time.monotonic() > self._deadline:
                        self._logs(30, "ended_by_force", grace_s=self._grace_s)
                        return 1
                    self._sleep(wake)
                    self._reap()
            finally:
                self._kill()

    def _start_due(self) -> None:
        now = time.monotonic()
        for slot in self._slots:
            if slot.process is None and now >= slot.start_at:
                self._start(slot)

    def _start(self, slot: _Slot) -> None:
        spawn = multiprocessing.get_context("spawn")
        theirs, slot.pipe = spawn.Pipe(duplex=False)
        slot.process = spawn.Process(
            target=_run_child, args=(theirs, slot.task.entrypoint, slot.task.args), name=slot.task.name
        )
        slot.started = time.monotonic()
        slot.process.start()
        theirs.close()

    def _sleep(self, wake: socket.socket) -> None:
        """Until a signal, a death, or the next thing that is due."""
        now = time.monotonic()
        dues = [slot.start_at for slot in self._slots if slot.process is None and self._deadline is None]
        if self._deadline is not None:
            dues.append(self._deadline)
        timeout = max(0.0, min(dues) - now) if dues else None
        sentinels = [slot.process.sentinel for slot in self._slots if slot.process is not None]
        if wake in wait([wake, *sentinels], timeout):
            with suppress(BlockingIOError):
                wake.recv(64)

    def _reap(self) -> None:
        for slot in self._slots:
            process = slot.process
            if process is None or process.is_alive():
                continue
            process.join()
            if process.pid is not None:
                self._at_death(process.pid)
            code = process.exitcode
            self._release(slot)
            if self._deadline is None:
                self._schedule_restart(slot, code)

    def _schedule_restart(self, slot: _Slot, code: int | None) -> None:
        quick = time.monotonic() - slot.started < STABLE_SECONDS
        slot.quick_exits = slot.quick_exits + 1 if quick else 0
        if code == EXIT_CONFIG_ERROR or slot.quick_exits >= MAX_QUICK_EXITS:
            if code != EXIT_CONFIG_ERROR:
                self._logs(40, "gave_up", process=slot.task.name, exit_code=code, deaths=slot.quick_exits)
            self._code = 1
            self._stop()
            return
        slot.start_at = time.monotonic() + slot.restart_delay_seconds
        self._logs(
            40, "process_died", process=slot.task.name, exit_code=code, again_in_s=slot.restart_delay_seconds
        )

    def _stop(self) -> None:
        self._deadline = time.monotonic() + self._grace_s + KILL_MARGIN_SECONDS
        self._at_stop()
        for slot in self._slots:
            if slot.pipe is not None:
                with suppress(OSError):  # it is gone already
                    slot.pipe.send_bytes(STOP_MESSAGE)

    def _kill(self) -> None:
        for slot in self._slots:
            if slot.process is not None:
                slot.process.kill()
                slot.process.join()
                self._release(slot)

    @staticmethod
    def _release(slot: _Slot) -> None:
        if slot.process is not None:
            slot.process.close()
        if slot.pipe is not None:
            slot.pipe.close()
        slot.process = slot.pipe = None


@contextmanager
def _capture_signals() -> Iterator[tuple[socket.socket, list[int]]]:
    """A socket that wakes at SIGTERM and SIGINT, and which came; as before afterwards."""
    heard: list[int] = []
    ours, theirs = socket.socketpair()
    for each in (ours, theirs):
        each.setblocking(False)
    wanted = (signal.SIGTERM, signal.SIGINT)
    before = {number: signal.signal(number, lambda number, _: heard.append(number)) for number in wanted}
    fd = signal.set_wakeup_fd(theirs.fileno(), warn_on_full_buffer=False)
    try:
        yield ours, heard
    finally:
        signal.set_wakeup_fd(fd)
        for number, handler in before.items():
            signal.signal(number, handler)
        ours.close()
        theirs.close()


def _run_child(pipe: Connection, run: str, given: tuple[Any, ...]) -> None:
    """The process: Ctrl-C reaches the whole group, but it is the supervisor's to hear."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        resolve_name(run)(StopPipe(pipe), *given)
    except ThinkbackError as error:
        sys.stderr.write(f"error: {' '.join(str(error).split())}\n")
        sys.exit(EXIT_CONFIG_ERROR)
