"""Supervisor: starts the worker processes, restarts those that die, and stops all of them in order.

Each process has a pipe from the supervisor. A message on it asks the process to stop; its end means that the
supervisor is gone, even by `kill -9`. In both cases the process finishes its running work and exits.
Processes are spawned, not forked, because a fork would copy the locks of running threads.
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
EXIT_CONFIG_ERROR = 78  # EX_CONFIG: the process reported an error that a restart would not fix
STABLE_SECONDS = 10.0  # a process that ran this long has started successfully
MAX_QUICK_EXITS = 5  # in a row; then the server gives up
FIRST_RESTART_DELAY_SECONDS, MAX_RESTART_DELAY_SECONDS = 0.1, 5.0
KILL_MARGIN_SECONDS = 3.0  # after the grace period, before a process is killed
DEFAULT_ENVIRONMENT = {"MALLOC_ARENA_MAX": "2", "OPENBLAS_NUM_THREADS": "1"}
"""Set for every process unless already set.

With one arena per thread, glibc keeps much unused memory. The threads of OpenBLAS (numpy) spin while they
wait: for vectors of this size they cost more time than they save, and the processes share the cores.
"""


class StopPipe:
    """The worker's end of the pipe from the supervisor."""

    def __init__(self, pipe: Connection, exit_process: Callable[[int], object] = os._exit) -> None:
        self._pipe = pipe
        self._exit_process = exit_process

    def on_stop(self, stop: Callable[[], None], grace_seconds: float) -> None:
        """Call `stop` from another thread when the supervisor asks for it, or is gone.

        The process is ended after the grace period in any case: an orphan has no supervisor to kill it.
        """
        threading.Thread(
            target=self._wait, args=(stop, grace_seconds), name="thinkback-stop", daemon=True
        ).start()

    def _wait(self, stop: Callable[[], None], grace_seconds: float) -> None:
        with suppress(EOFError, OSError):
            self._pipe.recv_bytes()
        stop()
        time.sleep(grace_seconds + KILL_MARGIN_SECONDS)
        self._exit_process(1)


@dataclass(frozen=True, slots=True)
class Task:
    """What one process runs: `entrypoint` ("module:function") is called with (stop_pipe, *args).

    The arguments must be picklable.
    """

    name: str
    entrypoint: str
    args: tuple[Any, ...] = ()


@dataclass
class _Slot:
    """A task, and the process that runs it now."""

    task: Task
    process: SpawnProcess | None = None
    pipe: Connection | None = None
    started: float = 0.0
    quick_exits: int = 0
    start_at: float = field(default=0.0)  # when to start the process (again)

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
        on_exit: Callable[[str, int], None] = lambda name, pid: None,
    ) -> None:
        self._slots = [_Slot(task) for task in tasks]
        self._grace_seconds = grace_seconds
        self._logs = logs
        self._on_stop = on_stop
        self._on_exit = on_exit
        self._deadline: float | None = None  # set when it is stopping
        self._exit_code = 0

    def run(self) -> int:
        """Run all tasks; returns the exit code (0: asked to stop, and all processes ended in time)."""
        for name, value in DEFAULT_ENVIRONMENT.items():
            os.environ.setdefault(name, value)
        with _capture_signals() as (wake, received):
            try:
                while True:
                    if len(received) > 1:
                        return 128 + received[-1]
                    if received and self._deadline is None:
                        self._stop()
                    if self._deadline is None:
                        self._start_due()
                    elif not any(slot.process for slot in self._slots):
                        return self._exit_code
                    elif time.monotonic() > self._deadline:
                        self._logs(30, "ended_by_force", grace_s=self._grace_seconds)
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
        child_pipe, slot.pipe = spawn.Pipe(duplex=False)
        slot.process = spawn.Process(target=_run_child, args=(child_pipe, slot.task), name=slot.task.name)
        slot.started = time.monotonic()
        slot.process.start()
        child_pipe.close()

    def _sleep(self, wake: socket.socket) -> None:
        """Wait for a signal, the exit of a process, or the next restart or deadline."""
        now = time.monotonic()
        times = [slot.start_at for slot in self._slots if slot.process is None and self._deadline is None]
        if self._deadline is not None:
            times.append(self._deadline)
        timeout = max(0.0, min(times) - now) if times else None
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
                self._on_exit(slot.task.name, process.pid)
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
            self._exit_code = 1
            self._stop()
            return
        slot.start_at = time.monotonic() + slot.restart_delay_seconds
        self._logs(
            40, "process_died", process=slot.task.name, exit_code=code, again_in_s=slot.restart_delay_seconds
        )

    def _stop(self) -> None:
        self._deadline = time.monotonic() + self._grace_seconds + KILL_MARGIN_SECONDS
        self._on_stop()
        for slot in self._slots:
            if slot.pipe is not None:
                with suppress(OSError):  # the process has already exited
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
    """Yield a socket that becomes readable at SIGTERM or SIGINT, and the list of received signals."""
    received: list[int] = []
    reader, writer = socket.socketpair()
    for end in (reader, writer):
        end.setblocking(False)
    numbers = (signal.SIGTERM, signal.SIGINT)
    before = {number: signal.signal(number, lambda number, _: received.append(number)) for number in numbers}
    wakeup_fd = signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
    try:
        yield reader, received
    finally:
        signal.set_wakeup_fd(wakeup_fd)
        for number, handler in before.items():
            signal.signal(number, handler)
        reader.close()
        writer.close()


def _run_child(pipe: Connection, task: Task) -> None:
    """Main function of a worker.

    It ignores Ctrl-C, which reaches the whole group: the supervisor handles it.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with suppress(OSError), open("/proc/self/comm", "w", encoding="ascii") as comm:  # Linux
        comm.write(task.name)  # `ps` and `top` show it
    try:
        resolve_name(task.entrypoint)(StopPipe(pipe), *task.args)
    except ThinkbackError as error:
        sys.stderr.write(f"error: {' '.join(str(error).split())}\n")
        sys.exit(EXIT_CONFIG_ERROR)
