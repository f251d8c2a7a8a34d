"""PostgreSQL restarted under load, and workers killed: nothing acknowledged is lost, no thought is twice.

Short by default. The full size of five minutes with three workers:
THINKBACK_FAULT_SECONDS=300 pytest tests/faults/test_postgres_restart.py
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread

import pytest
from tests.factories import NOW
from tests.postgres_server import EXISTING_SERVER, PostgresServer, new_schema_url, requires_postgres

from thinkback import storage
from thinkback.errors import StoreUnavailable
from thinkback.types import NewTurn

SECONDS = float(os.environ.get("THINKBACK_FAULT_SECONDS", "20"))
FULL_SIZE = SECONDS >= 60
WRITERS = 2
WORKERS = 3 if FULL_SIZE else 2
KILL_INTERVAL_SECONDS = 10.0
RESTART_INTERVALS_SECONDS = (5.0, 40.0) if FULL_SIZE else (4.0, 7.0)
RECOVERY_SECONDS = 10.0
MAX_BACKLOG = 2000 if FULL_SIZE else 300  # turns waiting for the workers, above which writers pause
DRAIN_SECONDS = 120.0

pytestmark = [
    requires_postgres,
    pytest.mark.skipif(EXISTING_SERVER in os.environ, reason="restarts its own server"),
]


class Writer(Thread):
    """Appends turns with keys and repeats those that failed, as a client does."""

    def __init__(self, url: str, number: int, stop: Event) -> None:
        super().__init__(daemon=True)
        self._url = url
        self._number = number
        self._stop_event = stop
        self.acknowledged: dict[tuple[str, str], str] = {}
        self.longest_gap_seconds = 0.0
        self.failures = 0

    def run(self) -> None:
        store = storage.connect(self._url + "&pool_size=2&pool_timeout=5")
        last = time.monotonic()
        count = 0
        while not self._stop_event.is_set():
            user, key = f"user{count % 5}", f"{self._number}-{count}"
            text = f"My colleague Name{self._number}x{count} lives in Lyon."
            try:
                if count % 20 == 0 and store.backlog() > MAX_BACKLOG:  # as the server does
                    self._stop_event.wait(0.5)
                    last = time.monotonic()
                    continue
                store.append(user, [NewTurn(query=text, response="", at=NOW, key=key)], NOW)
            except StoreUnavailable:
                self.failures += 1
                self._stop_event.wait(0.05)
                continue
            self.acknowledged[user, key] = text
            self.longest_gap_seconds = max(self.longest_gap_seconds, time.monotonic() - last)
            last = time.monotonic()
            count += 1
            self._stop_event.wait(0.05)
        store.close()


def start_worker(url: str, folder: Path, number: int) -> subprocess.Popen[bytes]:
    command = [
        sys.executable,
        "-m",
        "thinkback",
        "work",
        "--db",
        url,
        "--embedder",
        "hashing",
        "--think",
        "extractive",
    ]
    with (folder / f"worker-{number}.log").open("ab") as log:
        return subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)


def kill(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def test_nothing_is_lost_or_twice_when_the_database_restarts_and_workers_die(tmp_path: Path) -> None:
    server = PostgresServer(durable=True)
    workers: list[subprocess.Popen[bytes]] = []
    stop = Event()
    try:
        url = new_schema_url(server.admin_url)
        storage.connect(url).close()
        writers = [Writer(url, number, stop) for number in range(WRITERS)]
        workers = [start_worker(url, tmp_path, number) for number in range(WORKERS)]
        for writer in writers:
            writer.start()
        random_ = random.Random(7)
        end = time.monotonic() + SECONDS
        next_kill = time.monotonic() + KILL_INTERVAL_SECONDS
        next_restart = time.monotonic() + random_.uniform(*RESTART_INTERVALS_SECONDS)
        restarts = kills = 0
        while time.monotonic() < end:
            time.sleep(0.1)
            if time.monotonic() >= next_restart:
                server.restart("immediate" if restarts % 2 else "fast")
                restarts += 1
                next_restart = time.monotonic() + random_.uniform(*RESTART_INTERVALS_SECONDS)
            if time.monotonic() >= next_kill:
                victim = kills % WORKERS
                kill(workers[victim])
                workers[victim] = start_worker(url, tmp_path, victim)
                kills += 1
                next_kill = time.monotonic() + KILL_INTERVAL_SECONDS
        stop.set()
        for writer in writers:
            writer.join(60)
        _wait_until_thought_over(url)
        _check(url, writers)
        print(
            f"{restarts} restarts, {kills} workers killed, "
            f"{sum(len(writer.acknowledged) for writer in writers)} turns acknowledged, "
            f"{sum(writer.failures for writer in writers)} attempts failed, longest gap between two "
            f"acknowledged turns {max(writer.longest_gap_seconds for writer in writers):.1f} s"
        )
        assert restarts >= 2
        assert kills >= 1
        assert max(writer.longest_gap_seconds for writer in writers) < RECOVERY_SECONDS
    finally:
        stop.set()
        for process in workers:
            kill(process)
        server.delete()


def _wait_until_thought_over(url: str) -> None:
    store = storage.connect(url)
    deadline = time.monotonic() + DRAIN_SECONDS + SECONDS
    while store.backlog() and time.monotonic() < deadline:
        time.sleep(0.5)
    assert store.backlog() == 0
    store.close()


def _check(url: str, writers: list[Writer]) -> None:
    store = storage.connect(url)
    stored = {
        (user, turn.key): turn.query for user in store.users() for turn in store.turns(user) if turn.key
    }
    for writer in writers:
        assert writer.acknowledged.items() <= stored.items()
    assert store.verify() == []
    thoughts = 0
    for user in store.users():
        assert store.failures(user) == []
        found = store.thoughts(user, current=False)
        thoughts += len(found)
        repeated = Counter((thought.sentence, thought.sources) for thought in found)
        assert [key for key, count in repeated.items() if count > 1] == []
    assert thoughts > 0
    store.close()
