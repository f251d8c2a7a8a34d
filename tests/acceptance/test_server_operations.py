"""`thinkback serve` as whoever runs it sees it: it starts, says what it is, is watched, and ends in order."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families
from tests.acceptance.running import start
from tests.acceptance.server import Answer, Server
from tests.upstream import Upstream

from thinkback.memory import Memory
from thinkback.stores.sqlite import SqliteStore
from thinkback.times import utc_now

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs several processes")
CANARY = "sk-canary0123456789"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("server")


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[Server]:
    """One server for the tests that leave it as it was."""
    with Server(folder, "--workers", "2", THINKBACK_EMBEDDER="hashing") as one:
        yield one


def counted(server: Server, name: str, **labels: str) -> float:
    families = text_string_to_metric_families(server.ask("GET", "/metrics").text)
    return sum(
        sample.value
        for family in families
        for sample in family.samples
        if sample.name == name and labels.items() <= sample.labels.items()
    )


def eventually(check: Callable[[], object], what: str) -> None:
    deadline = time.monotonic() + 60
    while not check():
        assert time.monotonic() < deadline, what
        time.sleep(0.05)


def test_it_says_where_it_listens_and_that_it_is_open(server: Server) -> None:
    assert server.told["url"] == f"http://127.0.0.1:{server.port}"
    assert (server.told["workers"], server.told["thinkers"], server.told["open"]) == (2, 1, True)
    first = server.events[0]
    assert (first["event"], first["url"]) == ("listening", server.told["url"])
    assert first["access"].startswith("no keys: open")


def test_it_is_alive_and_ready(server: Server) -> None:
    assert server.ask("GET", "/health").json == {"status": "ok"}
    assert server.ask("GET", "/ready").json["status"] == "ready"


def test_what_it_is_told_is_thought_over_and_recalled(server: Server) -> None:
    answer = server.ask("POST", "/remember", {"user": "ann", "text": "I moved to Lyon."})
    assert answer.status == 200
    eventually(lambda: counted(server, "thinkback_pending_turns") == 0, "it was not thought over")
    assert counted(server, "thinkback_turns_thought_over_total") >= 1
    assert "Lyon" in server.ask("GET", "/recall?user=ann&query=Where+do+I+live").json["texts"][0]


def test_all_processes_answer_and_their_metrics_add_up(server: Server) -> None:
    labels = {"route": "/remember", "method": "POST", "status": "200"}
    before = counted(server, "thinkback_requests_total", **labels)
    asked = [
        threading.Thread(
            target=server.ask, args=("POST", "/remember", {"user": f"u{n % 3}", "text": f"I own boat {n}."})
        )
        for n in range(24)
    ]
    for one in asked:
        one.start()
    for one in asked:
        one.join()
    assert counted(server, "thinkback_requests_total", **labels) == before + 24
    assert counted(server, "thinkback_requests_in_flight") == 1  # the one that asks


def test_logs_hold_no_secret_and_nothing_that_was_said(server: Server) -> None:
    said = "The canary sings in Krakow"
    key = {"Authorization": f"Bearer {CANARY}", "X-Request-Id": CANARY}
    server.ask("POST", "/remember", {"user": "ben", "text": said}, headers=key)
    server.ask("GET", "/recall?user=ben&query=canary+Krakow", headers=key)
    server.ask("POST", "/broken", said.encode(), headers=key)
    server.ask("GET", f"/{CANARY}", headers=key)
    failed = [event for event in server.events if event["event"] == "request_failed"]
    assert [event["error"] for event in failed] == ["ValueError"]
    for word in ("canary", "Krakow", "sings"):
        assert word not in server.log
        assert word not in server.ask("GET", "/metrics").text
    routes = {(event["route"], event["status"]) for event in server.events if event["event"] == "request"}
    assert {("/remember", 200), ("/recall", 200), ("/broken", 500), ("none", 404)} <= routes


def test_a_taken_port_is_one_clear_line(server: Server) -> None:
    failed = start("serve", "--port", str(server.port)).failed()
    assert f"127.0.0.1:{server.port} is taken by another program" in failed.err


def test_a_server_in_front_of_itself_is_one_clear_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://localhost:8765/v1")
    assert "is this server itself" in start("serve").failed().err


def test_a_database_of_another_embedder_is_one_clear_line(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "memory.db", embedder="wordllama", background=False) as memory:
        memory.remember("I moved to Lyon.")
        memory.post_think()
    for command in ("serve", "work"):
        assert "reembed" in start(command, "--db", str(tmp_path / "memory.db")).failed().err


def test_sigterm_finishes_what_is_in_hand(tmp_path: Path) -> None:
    answers: list[Answer] = []
    with Server(tmp_path / "s", "--workers", "2") as server:
        asked = threading.Thread(target=lambda: answers.append(server.ask("GET", "/slow/1.5")))
        asked.start()
        eventually(lambda: counted(server, "thinkback_requests_in_flight") == 2, "it was not asked")
        assert server.stop() == 0
        asked.join()
        assert (answers[0].status, answers[0].json) == (200, {"slept": True})
        with pytest.raises(ConnectionError):
            server.ask("GET", "/health")


def test_a_second_signal_does_not_wait(tmp_path: Path) -> None:
    with Server(tmp_path / "s", "--grace", "600") as server:
        asked = threading.Thread(target=_ask_in_vain, args=(server, "/slow/600"))
        asked.start()
        eventually(lambda: counted(server, "thinkback_requests_in_flight") == 2, "it was not asked")
        server.process.send_signal(signal.SIGINT)
        time.sleep(0.3)
        server.process.send_signal(signal.SIGINT)
        assert server.process.wait(60) == 128 + signal.SIGINT
        asked.join()


def _ask_in_vain(server: Server, path: str) -> None:
    with pytest.raises((ConnectionError, OSError)):
        server.ask("GET", path)


def test_a_thinking_process_of_its_own_does_the_work_of_a_server_without_one(tmp_path: Path) -> None:
    with Server(tmp_path / "s", "--thinkers", "0") as server:
        server.ask("POST", "/remember", {"user": "ann", "text": "I moved to Lyon."})
        assert counted(server, "thinkback_pending_turns") == 1
        database = str(server.told["database"])
        worker = subprocess.Popen([sys.executable, "-m", "thinkback", "work", "--db", database])
        try:
            eventually(lambda: counted(server, "thinkback_pending_turns") == 0, "nobody thought")
        finally:
            worker.terminate()
            assert worker.wait(60) == 0


def test_what_thinking_has_in_hand_is_handed_back_when_its_grace_is_over(tmp_path: Path) -> None:
    with Upstream() as upstream:
        upstream.faults.append("timeout")
        words = ("--llm", "openai:slow", "--think", "llm", "--upstream", "", "--grace", "1")
        address = f"http://127.0.0.1:{upstream.port}/v1"
        keys = {"OPENAI_BASE_URL": address, "OPENAI_API_KEY": "none"}
        with Server(tmp_path / "s", *words, **keys) as server:
            server.ask("POST", "/remember", {"user": "ann", "text": "I moved to Lyon."})
            eventually(lambda: upstream.seen, "the model was not asked")
            assert server.stop() == 0
            database = str(server.told["database"])
        with closing(SqliteStore(database)) as store:
            (claimed,) = store.claim("ann", 1, 60, utc_now())
            assert (claimed.turn.query, claimed.attempts) == ("I moved to Lyon.", 1)


def test_where_there_can_be_one_process_it_does_everything(tmp_path: Path) -> None:
    with Server(tmp_path / "s", THINKBACK_TEST_ALONE="1") as server:
        server.ask("POST", "/remember", {"user": "ann", "text": "I moved to Lyon."})
        eventually(lambda: counted(server, "thinkback_pending_turns") == 0, "nobody thought")
        assert server.stop() == 0
