"""The same turns at the same times give the same bytes: two processes write, their databases are compared.

The two differ in PYTHONHASHSEED, so that anything that depends on the order of a set or on a hash shows.
"""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from hashlib import sha256
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any

from thinkback_lab.errors import LabError
from thinkback_lab.evaluations.scenario_format import Scenario
from thinkback_lab.harness import Harness, ManualClock, Setup
from thinkback_lab.progress import ProgressCallback, no_progress

HASH_SEEDS = ("1", "2")
MAX_SHOWN_DIFFERENCES = 10


@dataclass(frozen=True, slots=True)
class DatabaseDump:
    """A database in two texts: what `Memory.export` tells of every space, and every row of every table."""

    export: tuple[str, ...]
    tables: tuple[str, ...]


def replay_scenarios(
    scenarios: Sequence[Scenario], db: Path, setup: Setup, on_progress: ProgressCallback = no_progress
) -> None:
    """Tell every scenario to a space of its own, named by its id, in one database."""
    if db.exists():
        raise LabError(f"{db} is there already: name a new file")
    clock = ManualClock()
    with Harness(setup).open(clock, db) as memory:
        for number, scenario in enumerate(scenarios, start=1):
            space = memory.for_user(scenario.id)
            for turn in scenario.turns:
                clock.now = turn.at
                space.remember(turn.user, turn.assistant, at=turn.at)
                space.post_think()
            on_progress(number, len(scenarios))


def replay_in_subprocess(files: Sequence[Path], db: Path, setup: Setup, hash_seed: str) -> None:
    """The same in a fresh process with that PYTHONHASHSEED."""
    told = setup.as_settings
    options = [f"--{name}={told[name]}" for name in ("llm", "embedder", "preset", "think")]
    command = [sys.executable, "-m", "thinkback_lab", "replay", *map(str, files), f"--into={db}", *options]
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise LabError(done.stderr.strip().removeprefix("error: "))


def dump_database(db: Path, users: Sequence[str], setup: Setup) -> DatabaseDump:
    """Read a database back."""
    with Harness(setup).open(ManualClock(), db) as memory:
        export = tuple(line for user in users for line in memory.for_user(user).export())
    with closing(sqlite3.connect(f"{db.resolve().as_uri()}?mode=ro", uri=True)) as connection:
        return DatabaseDump(export, tuple(connection.iterdump()))


def compare_dumps(one: DatabaseDump, other: DatabaseDump) -> dict[str, Any]:
    """Whether both texts are the same, byte by byte; where not, the first lines that differ."""
    told: dict[str, Any] = {}
    for name, ours, theirs in (("export", one.export, other.export), ("tables", one.tables, other.tables)):
        pairs = zip_longest(ours, theirs, fillvalue="")
        told[name] = {
            "identical": ours == theirs,
            "lines": len(ours),
            "sha256": sha256("\n".join(ours).encode()).hexdigest(),
            "differences": [
                list(pair) for pair in islice((p for p in pairs if p[0] != p[1]), MAX_SHOWN_DIFFERENCES)
            ],
        }
    return told
