"""Small tasks for tests of the supervisor: a process of its own imports them by name."""

from __future__ import annotations

import os
import sys
import threading
import time
from pathlib import Path

from thinkback.apps.server.running.processes import Leash, Supervisor, Task
from thinkback.apps.server.telemetry.logs import Logs
from thinkback.errors import InvalidInput


def obedient(leash: Leash, folder: str, name: str) -> None:
    """Lives until it is asked to stop, then notes that it was."""
    asked = threading.Event()
    leash.then(asked.set, 5)
    note(folder, name, "lives")
    asked.wait()
    note(folder, name, "stopped")


def deaf(leash: Leash, folder: str, name: str) -> None:
    """Hears nothing."""
    note(folder, name, "lives")
    time.sleep(60)


def dies_once(leash: Leash, folder: str, name: str) -> None:
    if not list(Path(folder).glob(f"{name} died *")):
        note(folder, name, "died")
        os._exit(3)
    obedient(leash, folder, name)


def dies(leash: Leash, folder: str, name: str) -> None:
    note(folder, name, "died")
    os._exit(3)


def hopeless(leash: Leash, folder: str, name: str) -> None:
    note(folder, name, "began")
    raise InvalidInput("the database is of another embedder")


def note(folder: str, name: str, what: str) -> None:
    (Path(folder) / f"{name} {what} {os.getpid()}").touch()


def main(folder: str, grace_s: str, *kinds: str) -> None:
    tasks = [
        Task(kind, f"tests.supervised:{kind}", (folder, f"{number}-{kind}"))
        for number, kind in enumerate(kinds)
    ]
    sys.exit(Supervisor(tasks, grace_s=float(grace_s), logs=Logs(sys.stderr)).run())


if __name__ == "__main__":
    main(*sys.argv[1:])
