"""kill -9 at random moments and at every named write: no turn is lost, none is thought about twice.

60 kills; THINKBACK_KILLS=5000 (`make faults`) makes more. One database is carried on through many kills.
The count so far is printed after each database, so that a run that is stopped has counted too; another run
with another THINKBACK_KILL_SEED makes other kills, and the counts of both may be added.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tests.faults.invariants import assert_invariants, count_turns_thought_twice

from thinkback.storage.sqlite import SqliteStore

KILLS = int(os.environ.get("THINKBACK_KILLS", "60"))
FIRST_SEED = int(os.environ.get("THINKBACK_KILL_SEED", "1"))
WORKERS = 2
KILLS_A_DATABASE = 50

WRITES = (
    *("space.next_turn", "turns.insert", "queue.claim", "queue.release", "queue.dead_letter", "queue.retry"),
    *("queue.done", "space.begin_change", "space.end_change", "actions.insert", "actions.set_undone"),
    *("touched.insert", "thoughts.write", "thoughts.set_period", "derived.insert", "entities.insert"),
    *("aliases.insert", "entries.write", "entries.advance", "entries.set_group", "hashings.write"),
    *("space.new_epoch", "commit"),
)


@dataclass
class Tally:
    kills: int = 0
    lost: int = 0
    twice: int = 0
    acknowledged: int = 0
    moments: Counter[str] = field(default_factory=Counter)


def failpoint(number: int, rng: random.Random) -> str:
    """Alternately a random moment (by the parent), a named write, and any statement."""
    if number % 5 in (0, 2):
        return "never"
    if number % 5 == 4:
        return f"statement:{rng.randrange(1, 400)}"
    name = WRITES[number // 5 * 2 % len(WRITES) if number % 5 == 1 else (number // 5 * 2 + 1) % len(WRITES)]
    if name == "entries.set_group" and rng.random() < 0.5:
        return f"within:{name}:{rng.randrange(1, 20)}"
    rare = name in ("entities.insert", "aliases.insert", "queue.dead_letter", "queue.retry")
    return f"{rng.choice(('before', 'after'))}:{name}:{1 if rare else rng.randrange(1, 6)}"


def run_and_kill(path: Path, seed: int, where: str, rng: random.Random) -> list[tuple[str, int, str]]:
    """The turns that the child acknowledged before it was killed."""
    command = [sys.executable, "-m", "tests.faults.crash_child", str(path), str(seed), where]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        if where == "never":
            assert child.stdout.readline() == b"open\n"
            time.sleep(rng.uniform(0, 0.12))
            child.send_signal(signal.SIGKILL)
        said = child.stdout.read()
    assert child.returncode == -signal.SIGKILL, f"{where} was never reached"
    whole = said[: said.rfind(b"\n") + 1].splitlines()  # the last line may be incomplete
    return [tuple(json.loads(line)) for line in whole if line != b"open"]


def live_and_die(folder: Path, kills: int, seed: int) -> Tally:
    tally, rng = Tally(), random.Random(seed)
    acknowledged: dict[tuple[str, int], str] = {}
    for number in range(kills):
        path = folder / f"{seed}-{number // KILLS_A_DATABASE}.db"
        if number % KILLS_A_DATABASE == 0:
            acknowledged = {}
        where = "statement:" + str(rng.randrange(1, 40)) if not path.exists() else failpoint(number, rng)
        new = run_and_kill(path, seed * 100_000 + number, where, rng)
        acknowledged |= {(space, id_): query for space, id_, query in new}
        store = SqliteStore(str(path))
        try:
            assert_invariants(store)
            kept = {(space, t.id): t.query[:40] for space in store.users() for t in store.turns(space)}
            tally.lost += sum(kept.get(key) != query for key, query in acknowledged.items())
            tally.twice += count_turns_thought_twice(store)
            assert (tally.lost, tally.twice) == (0, 0), f"kill {number} of seed {seed} at {where}: {tally}"
        finally:
            store.close()
        tally.kills += 1
        tally.acknowledged += len(new)
        tally.moments[":".join(where.split(":")[:2]) if where.count(":") == 2 else where.split(":")[0]] += 1
        if tally.kills % KILLS_A_DATABASE == 0:
            print(
                f"seed {seed}: kills {tally.kills}, acknowledged turns {tally.acknowledged}, "
                f"lost {tally.lost}, thought over twice {tally.twice}",
                file=sys.__stderr__,
                flush=True,
            )
    return tally


@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_a_killed_process_loses_no_acknowledged_turn_and_thinks_nothing_twice(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with ThreadPoolExecutor(WORKERS) as pool:
        shares = [KILLS // WORKERS + (n < KILLS % WORKERS) for n in range(WORKERS)]
        seeds = range(FIRST_SEED, FIRST_SEED + WORKERS)
        tallies = list(pool.map(live_and_die, [tmp_path] * WORKERS, shares, seeds))
    total = Tally(
        *(sum(getattr(t, name) for t in tallies) for name in ("kills", "lost", "twice", "acknowledged"))
    )
    moments = sum((tally.moments for tally in tallies), Counter())
    with capsys.disabled():
        print(
            f"\nkills {total.kills} ({moments['never']} at random moments, {moments['statement']} before a "
            f"statement, {len(moments) - 2} named failpoints), acknowledged turns {total.acknowledged}, "
            f"lost {total.lost}, thought over twice {total.twice}"
        )
    assert (total.kills, total.lost, total.twice) == (KILLS, 0, 0)
    assert total.acknowledged > KILLS
