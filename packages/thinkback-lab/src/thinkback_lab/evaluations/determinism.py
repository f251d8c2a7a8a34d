"""Determinism check: two processes write the same turns, and their databases must be identical.

The processes differ in PYTHONHASHSEED, which reveals any dependence on set order or hashes.
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
    """A database as two texts: the export of every space, and an SQL dump of every table."""

    export: tuple[str, ...]
    tables: tuple[str, ...]


def replay_scenarios(
    scenarios: Sequence[Scenario], db: Path, setup: Setup, on_progress: ProgressCallback = no_progress
) -> None:
    """Replay every scenario into its own space of one database; the space is named like the scenario."""
    if db.exists():
        raise LabError(f"{db} exists already: choose a new file")
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
    """Call `replay_scenarios` in a new process with this PYTHONHASHSEED."""
    settings = setup.as_settings
    options = [f"--{name}={settings[name]}" for name in ("llm", "embedder", "preset", "think")]
    command = [sys.executable, "-m", "thinkback_lab", "replay", *map(str, files), f"--into={db}", *options]
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
    completed = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if completed.returncode:
        raise LabError(completed.stderr.strip().removeprefix("error: "))


def dump_database(db: Path, users: Sequence[str], setup: Setup) -> DatabaseDump:
    """Read a database as text."""
    with Harness(setup).open(ManualClock(), db) as memory:
        export = tuple(line for user in users for line in memory.for_user(user).export())
    with closing(sqlite3.connect(f"{db.resolve().as_uri()}?mode=ro", uri=True)) as connection:
        return DatabaseDump(export, tuple(connection.iterdump()))


def compare_dumps(one: DatabaseDump, other: DatabaseDump) -> dict[str, Any]:
    """Compare two dumps; lists the first lines that differ."""
    result: dict[str, Any] = {}
    for name, first_lines, second_lines in (
        ("export", one.export, other.export),
        ("tables", one.tables, other.tables),
    ):
        pairs = zip_longest(first_lines, second_lines, fillvalue="")
        result[name] = {
            "identical": first_lines == second_lines,
            "lines": len(first_lines),
            "sha256": sha256("\n".join(first_lines).encode()).hexdigest(),
            "differences": [
                list(pair) for pair in islice((p for p in pairs if p[0] != p[1]), MAX_SHOWN_DIFFERENCES)
            ],
        }
    return result
