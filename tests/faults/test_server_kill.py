"""kill -9 of the whole server under load: acknowledged turns exist once, and the database is intact.

THINKBACK_SERVER_KILLS is the number of kills; the full run is 200.
"""

from __future__ import annotations

import http.client
import os
import random
import threading
import time
from collections import Counter
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tests.acceptance.server_process import ServerProcess
from tests.factories import replay_journal
from tests.fake_openai import FakeOpenAI

from thinkback.storage.sqlite import SqliteStore

KILLS = int(os.environ.get("THINKBACK_SERVER_KILLS", "3"))
CLIENTS = 4
SEED = 7

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs kill -9 and several processes")

_LATER = (429, 503)
PAUSE_SECONDS = 0.2


@dataclass
class Client:
    """Tells turn after turn, each with a key; one that was not acknowledged is told again after the crash.

    Half of them tell it to REST, half chat with an upstream behind the proxy.
    """

    user: str
    chats: bool
    acknowledged: dict[str, int] = field(default_factory=dict)
    number: int = 0

    def run(self, server: ServerProcess, over: threading.Event) -> None:
        while not over.is_set():
            try:
                self.tell(server)
            except (
                OSError,
                http.client.HTTPException,
                ValueError,
            ):  # killed, possibly in the middle of an answer
                return

    def tell(self, server: ServerProcess) -> None:
        text, key = f"I own boat {self.number} of {self.user}.", f"{self.user}-{self.number}"
        if self.chats:
            chat = {"model": "m", "messages": [{"role": "user", "content": text}]}
            answer = server.request(
                "POST", "/v1/chat/completions", chat, user=self.user, headers={"Idempotency-Key": key}
            )
            assert answer.json["choices"]
            turn = answer.headers.get("x-thinkback-turn", "")
            if not turn:  # the answer did not wait for the turn (see X-Thinkback-Memory): send it again
                return
        else:
            answer = server.remember(self.user, text, key=key)
            if answer.status in _LATER:  # busy, on a slow machine: sent again
                time.sleep(PAUSE_SECONDS)
                return
            turn = answer.json["turns"][0]["ref"]
        self.acknowledged[text] = int(turn.removeprefix("turn:"))
        self.number += 1


@pytest.mark.timeout(max(300, KILLS * 60))
def test_acknowledged_turns_exist_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THINKBACK_EMBEDDER", "hashing")
    monkeypatch.setenv("THINKBACK_HOME", str(tmp_path / "home"))
    chance = random.Random(SEED)
    clients = [Client(f"user{number}", chats=number % 2 == 1) for number in range(CLIENTS)]
    folder = tmp_path / "server"
    with FakeOpenAI() as upstream:
        words = ("--log-level", "error", "--upstream", upstream.url)
        for _ in range(KILLS):
            _one_life(ServerProcess(folder, "--workers", "2", *words), clients, chance)
        with ServerProcess(folder, *words) as server:  # unacknowledged turns are sent again
            for client in clients:
                client.tell(server)
            assert server.stop() == 0
    with closing(SqliteStore(str(folder / "memory.db"))) as store:
        assert_whole(store, clients)
    print(f"\n{KILLS} kills, {acknowledged_turns(clients)} turns acknowledged, 0 lost, 0 duplicates")


def _one_life(server: ServerProcess, clients: list[Client], chance: random.Random) -> None:
    """Kill it after it has acknowledged some more turns, at a random moment of the next one."""
    over, enough = threading.Event(), acknowledged_turns(clients) + chance.randint(1, 40)
    deadline = time.monotonic() + 60
    try:
        server.start()
        threads = [threading.Thread(target=client.run, args=(server, over)) for client in clients]
        for thread in threads:
            thread.start()
        while acknowledged_turns(clients) < enough and time.monotonic() < deadline:
            time.sleep(0.002)
        time.sleep(chance.uniform(0, 0.02))
    finally:
        server.kill()
        over.set()
    for thread in threads:
        thread.join()


def acknowledged_turns(clients: list[Client]) -> int:
    return sum(len(client.acknowledged) for client in clients)


def assert_whole(store: SqliteStore, clients: list[Client]) -> None:
    assert store.check() == []
    for client in clients:
        turns = store.turns(client.user)
        there = Counter(turn.query for turn in turns)
        assert set(there) == set(client.acknowledged)
        assert set(there.values()) == {1}
        assert {turn.query: turn.id for turn in turns} == client.acknowledged
        assert [turn.id for turn in turns] == list(range(1, len(turns) + 1))
        assert store.failures(client.user) == []
        journal = store.journal(client.user)
        assert replay_journal(journal) == store.thoughts(client.user, current=False)
        inserted = Counter(
            thought.sentence for action in journal for thought in action.after if thought.current
        )
        assert all(count == 1 for count in inserted.values())  # no turn was thought over twice
