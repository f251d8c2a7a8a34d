"""A process that does one long job on a database and is killed during it.

    python -m tests.faults.job_child DATABASE JOB FAILPOINT

A job is `open` (and so a migration), `erase`, `export`, `backup` or `organise`. A failpoint is `never` or
`statement:N`, as in `crash_child`. It prints `open` when the job begins, and `done` at the end.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

from tests.factories import NOW
from tests.faults.crash_child import Failpoint

from thinkback.cli.transfer import _write_file
from thinkback.memory import Memory

ERASED_TURN = 2


def erase(memory: Memory, folder: Path) -> None:
    memory.store.erase(memory.user, turn=ERASED_TURN, now=NOW)


def export(memory: Memory, folder: Path) -> None:
    _write_file(folder / "export.jsonl", memory.export())


def backup(memory: Memory, folder: Path) -> None:
    memory.store.backup(str(folder / "backup.db"))


def organise(memory: Memory, folder: Path) -> None:
    memory._indexer.regroup(memory.user)
    memory.organise()
    memory.post_think()


JOBS: dict[str, Callable[[Memory, Path], None]] = {
    "open": lambda memory, folder: None,
    "erase": erase,
    "export": export,
    "backup": backup,
    "organise": organise,
}


def main(path: str, job: str, failpoint: str) -> None:
    if job == "open":
        os.write(1, b"open\n")
        Failpoint(failpoint).install()
    memory = Memory(path, user="ann", embedder="hashing", background=False)
    if job != "open":
        memory.close()
        Failpoint(failpoint).install()  # counts from the beginning of the job
        memory = Memory(path, user="ann", embedder="hashing", background=False)
        os.write(1, b"open\n")
    JOBS[job](memory, Path(path).parent)
    os.write(1, b"done\n")
    memory.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
