"""Two servers on one database file, one of them killed again and again: every turn exists once.

THINKBACK_TWO_SERVER_KILLS is the number of kills (default 2).
"""

from __future__ import annotations

import os
import random
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest
from tests.acceptance.server_process import ServerProcess
from tests.faults.fault_seed import FAULT_SEED
from tests.faults.test_server_kill import Client, acknowledged_turns, assert_whole

from thinkback.storage.sqlite import SqliteStore

KILLS = int(os.environ.get("THINKBACK_TWO_SERVER_KILLS", "2"))
CLIENTS_PER_SERVER = 2

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs kill -9 and several processes")


@pytest.mark.slow
@pytest.mark.timeout(max(300, KILLS * 90))
def test_two_servers_on_one_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("THINKBACK_EMBEDDER", "hashing")
    monkeypatch.setenv("THINKBACK_HOME", str(tmp_path / "home"))
    folder, rng, words = tmp_path / "server", random.Random(3 + FAULT_SEED), ("--log-level", "error")
    users = [Client(f"user{number}", chats=False) for number in range(2 * CLIENTS_PER_SERVER)]
    mine, others = users[:CLIENTS_PER_SERVER], users[CLIENTS_PER_SERVER:]
    over = threading.Event()
    with ServerProcess(folder, *words) as first:
        steady = [threading.Thread(target=client.run, args=(first, over)) for client in mine]
        for thread in steady:
            thread.start()
        try:
            for _ in range(KILLS):
                _live_and_die(ServerProcess(folder, *words), others, rng)
            assert all(thread.is_alive() for thread in steady)  # the first server has not noticed
        finally:
            over.set()
            for thread in steady:
                thread.join()
        for client in users:  # what the killed server did not acknowledge is sent again
            client.tell(first)
        assert first.stop() == 0
    with closing(SqliteStore(str(folder / "memory.db"))) as store:
        assert store.verify() == []
        assert_whole(store, users)
    with capsys.disabled():
        count = acknowledged_turns(users)
        print(f"\ntwo servers on one file: {KILLS} kills, {count} turns, 0 lost, 0 duplicates")


def _live_and_die(server: ServerProcess, clients: list[Client], rng: random.Random) -> None:
    enough = acknowledged_turns(clients) + rng.randint(1, 30)
    over, deadline = threading.Event(), time.monotonic() + 60
    threads: list[threading.Thread] = []
    try:
        server.start()
        threads = [threading.Thread(target=client.run, args=(server, over)) for client in clients]
        for thread in threads:
            thread.start()
        while acknowledged_turns(clients) < enough and time.monotonic() < deadline:
            time.sleep(0.002)
    finally:
        server.kill()
        over.set()
    for thread in threads:
        thread.join()
