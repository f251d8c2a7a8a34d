"""kill -9 during migration, erasure (with VACUUM), export, backup and organising.

Afterwards the database is verified, has all its turns, and no file is half written.
THINKBACK_JOB_KILLS sets the number of kills of each job.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest
from tests.factories import NOW
from tests.faults.fault_seed import FAULT_SEED
from tests.faults.job_child import ERASED_TURN, JOBS

from thinkback.memory import Memory
from thinkback.storage.sqlite import SqliteStore, connection
from thinkback.times import to_micros

KILLS = int(os.environ.get("THINKBACK_JOB_KILLS", "5"))
TURNS = 150
OLD_SCHEMA = 4
SECRET = "canary-5512"
# The last statement number worth a failpoint; later ones are never reached.
LAST_STATEMENT = {"open": 40, "erase": 75, "export": 40, "backup": 60, "organise": 400}

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs kill -9")


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A closed database with turns, some of them thought over."""
    path = tmp_path_factory.mktemp("jobs") / "memory.db"
    with Memory(path, user="ann", embedder="hashing", background=False) as memory:
        lines = [json.dumps({"query": f"I own boat {n} called Wave{n % 40}."}) for n in range(TURNS)]
        lines[ERASED_TURN - 1] = json.dumps({"query": f"My cat is called {SECRET}."})
        memory.import_(lines)
        memory.post_think(limit=TURNS // 2)
    return path


@pytest.fixture(scope="module")
def old_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database of an early schema, without tenants and hidden turns."""
    path = tmp_path_factory.mktemp("old") / "memory.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("PRAGMA journal_mode=WAL")
        for migration in connection.MIGRATIONS[:OLD_SCHEMA]:
            db.executescript(migration.script)
        db.execute(f"PRAGMA application_id={connection.APPLICATION_ID}")
        db.execute(f"PRAGMA user_version={OLD_SCHEMA}")
        db.execute("INSERT INTO spaces (name, last_turn) VALUES ('ann', ?)", (TURNS,))
        at = to_micros(NOW)
        for number in range(1, TURNS + 1):
            db.execute(
                "INSERT INTO turns (space, id, session, asker, answerer, at, recorded_at, recalled, query, "
                "response) VALUES (1, ?, 'default', 'user', 'assistant', ?, ?, '[]', ?, '')",
                (number, at, at, f"turn {number}"),
            )
    return path


def kill_during(path: Path, job: str, rng: random.Random, number: int) -> str:
    """Run a job and kill it, alternately before a statement and at a random moment. Returns what happened."""
    where = "never" if number % 3 == 2 else f"statement:{rng.randrange(1, LAST_STATEMENT[job])}"
    command = [sys.executable, "-m", "tests.faults.job_child", str(path), job, where]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as child:
        assert child.stdout is not None
        if where == "never":
            child.stdout.readline()
            time.sleep(rng.uniform(0, 0.08))
            child.send_signal(signal.SIGKILL)
        said = child.stdout.read()
    if child.returncode == 0:
        return "finished"
    assert child.returncode == -signal.SIGKILL, (job, where, child.returncode)
    return "killed after the job" if b"done" in said else "killed"


def assert_whole(path: Path, job: str) -> None:
    folder = path.parent
    with closing(SqliteStore(str(path))) as store:
        assert store.verify() == []
        turns = {turn.id for turn in store.turns("ann", hidden=True)}
        everything = set(range(1, TURNS + 1))
        assert turns == everything or (job == "erase" and turns == everything - {ERASED_TURN})
        assert not store.finish_erasures()  # opening has finished it
    if job == "erase" and ERASED_TURN not in turns:
        assert [file.name for file in folder.iterdir() if SECRET.encode() in file.read_bytes()] == []
    if (folder / "export.jsonl").exists():
        lines = [json.loads(line) for line in (folder / "export.jsonl").read_text("utf-8").splitlines()]
        assert sum(line["type"] == "turn" for line in lines) == TURNS
    if (folder / "backup.db").exists():
        with closing(SqliteStore(str(folder / "backup.db"))) as copy:
            assert copy.verify() == []
            assert len(copy.turns("ann")) == TURNS


@pytest.mark.slow
@pytest.mark.timeout(max(300, KILLS * 60))
@pytest.mark.parametrize("job", JOBS)
def test_killed_job_leaves_a_whole_database(
    job: str, database: Path, old_database: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rng, outcomes = random.Random(f"{job}{FAULT_SEED or ''}"), Counter[str]()
    for number in range(KILLS):
        folder = tmp_path / str(number)
        folder.mkdir()
        path = folder / "memory.db"
        shutil.copy(old_database if job == "open" else database, path)
        outcomes[kill_during(path, job, rng, number)] += 1
        assert_whole(path, job)
        shutil.rmtree(folder)
    with capsys.disabled():
        name = "migration" if job == "open" else job
        print(f"\nkills during {name}: {dict(outcomes)}; every database verified, with all its turns")
    assert outcomes["killed"]
