"""Small tasks for tests of the supervisor; spawned processes import them by name."""

from __future__ import annotations

import os
import sys
import threading
import time
from pathlib import Path

from thinkback.errors import InvalidInput
from thinkback.server.processes.supervisor import StopPipe, Supervisor, Task
from thinkback.server.telemetry.logs import EventLog


def obedient(stop_pipe: StopPipe, folder: str, name: str) -> None:
    """Runs until it is asked to stop, and notes that it was."""
    asked = threading.Event()
    stop_pipe.on_stop(asked.set, 5)
    note(folder, name, "lives")
    asked.wait()
    note(folder, name, "stopped")


def deaf(stop_pipe: StopPipe, folder: str, name: str) -> None:
    """Ignores the request to stop."""
    note(folder, name, "lives")
    time.sleep(60)


def dies_once(stop_pipe: StopPipe, folder: str, name: str) -> None:
    if not list(Path(folder).glob(f"{name} died *")):
        note(folder, name, "died")
        os._exit(3)
    obedient(stop_pipe, folder, name)


def dies(stop_pipe: StopPipe, folder: str, name: str) -> None:
    note(folder, name, "died")
    os._exit(3)


def hopeless(stop_pipe: StopPipe, folder: str, name: str) -> None:
    note(folder, name, "began")
    raise InvalidInput("the database is of another embedder")


def note(folder: str, name: str, what: str) -> None:
    (Path(folder) / f"{name} {what} {os.getpid()}").touch()


def main(folder: str, grace_s: str, *kinds: str) -> None:
    tasks = [
        Task(kind, f"tests.supervisor_tasks:{kind}", (folder, f"{number}-{kind}"))
        for number, kind in enumerate(kinds)
    ]
    sys.exit(Supervisor(tasks, grace_seconds=float(grace_s), logs=EventLog(sys.stderr)).run())


if __name__ == "__main__":
    main(*sys.argv[1:])
