"""`thinkback serve` from the operator's view: start, status, metrics, logs and shutdown."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from http.client import HTTPException
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families
from tests.acceptance.cli_runner import run_process
from tests.acceptance.server_process import CHAT, HttpResponse, ServerProcess
from tests.fake_openai import FakeOpenAI

from thinkback.memory import Memory
from thinkback.storage.sqlite import SqliteStore
from thinkback.times import utc_now

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs several processes")
CANARY = "sk-canary0123456789"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("server")


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[ServerProcess]:
    """One server for tests that do not change it."""
    with ServerProcess(folder, "--workers", "2", THINKBACK_EMBEDDER="hashing") as one:
        yield one


def counted(server: ServerProcess, name: str, **labels: str) -> float:
    families = text_string_to_metric_families(server.request("GET", "/metrics").text)
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


def test_serve_reports_address_and_open_access(server: ServerProcess) -> None:
    assert server.info["url"] == f"http://127.0.0.1:{server.port}"
    assert (server.info["workers"], server.info["thinkers"], server.info["open"]) == (2, 1, True)
    first = server.events[0]
    assert (first["event"], first["url"]) == ("listening", server.info["url"])
    assert first["access"].startswith("no keys: open")


def test_health_and_ready(server: ServerProcess) -> None:
    assert server.request("GET", "/health").json == {"status": "ok"}
    assert server.request("GET", "/ready").json["status"] == "ready"


def test_remembered_turn_is_thought_over_and_recalled(server: ServerProcess) -> None:
    assert server.remember("ann", "I moved to Lyon.").status == 201
    eventually(lambda: counted(server, "thinkback_pending_turns") == 0, "it was not thought over")
    assert counted(server, "thinkback_turns_thought_over_total") >= 1
    found = server.request("POST", "/v1/memory/recall", {"query": "Where do I live?"}, user="ann").json
    assert found["items"][0]["thought"]["objects"] == ["Lyon"]


def test_all_processes_answer_and_metrics_add_up(server: ServerProcess) -> None:
    labels = {"route": "/v1/memory/turns", "method": "POST", "status": "201"}
    before = counted(server, "thinkback_requests_total", **labels)
    asked = [
        threading.Thread(target=server.remember, args=(f"u{number % 3}", f"I own boat {number}."))
        for number in range(24)
    ]
    for one in asked:
        one.start()
    for one in asked:
        one.join()
    assert counted(server, "thinkback_requests_total", **labels) == before + 24
    assert counted(server, "thinkback_requests_in_flight") == 1  # this request


def test_logs_contain_no_secrets_and_no_content(server: ServerProcess) -> None:
    said = "The canary sings in Krakow"
    key = {"Authorization": f"Bearer {CANARY}", "X-Request-Id": CANARY, "X-Thinkback-User": "ben"}
    chat = {"model": "m", "messages": [{"role": "user", "content": said}], "user": "ben"}
    asked = (
        ("POST", "/v1/memory/turns", {"query": said}),
        ("POST", "/v1/memory/turns", {"query": said, "at": said}),
        ("POST", "/v1/memory/recall", {"query": said}),
        ("POST", "/v1/chat/completions", chat),
        ("POST", "/v1/chat/completions", f'{{"messages": "{said}'.encode()),
        ("POST", "/memories", {"messages": [{"role": "user", "content": said}], "user_id": "ben"}),
        ("POST", "/mcp", {"jsonrpc": "2.0", "id": 1, "method": said}),
        ("GET", f"/v1/memory/turns?session={said.replace(' ', '+')}", None),
        ("GET", f"/{CANARY}", None),
    )
    for method, path, body in asked:
        server.request(method, path, body, headers=key)
    metrics = server.request("GET", "/metrics").text
    for word in ("canary", "Krakow", "sings"):
        assert word not in server.log
        assert word not in metrics
    routes = {event["route"] for event in server.events if event["event"] == "request"}
    assert {"/v1/memory/turns", "/v1/memory/recall", "/v1/chat/completions", "/memories", "none"} <= routes


def test_port_in_use_is_one_error_line(server: ServerProcess) -> None:
    failed = run_process("serve", "--port", str(server.port)).failed()
    assert f"127.0.0.1:{server.port} is already in use" in failed.err


def test_server_as_its_own_upstream_is_one_error_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://localhost:8765/v1")
    assert "is this server itself" in run_process("serve").failed().err


def test_database_of_other_embedder_is_one_error_line(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "memory.db", embedder="wordllama", background=False) as memory:
        memory.remember("I moved to Lyon.")
        memory.post_think()
    for command in ("serve", "work"):
        assert "reembed" in run_process(command, "--db", str(tmp_path / "memory.db")).failed().err


def test_sigterm_finishes_running_requests(tmp_path: Path) -> None:
    answers: list[HttpResponse] = []
    asked, go_on = threading.Event(), threading.Event()

    def slow(body: dict[str, Any]) -> str:
        asked.set()
        assert go_on.wait(60)
        return "How exciting!"

    with FakeOpenAI() as upstream, ServerProcess(tmp_path / "s", "--upstream", upstream.url) as server:
        upstream.reply = slow
        chat = threading.Thread(
            target=lambda: answers.append(server.request("POST", "/v1/chat/completions", CHAT, user="ann"))
        )
        chat.start()
        assert asked.wait(60)
        server.process.terminate()
        eventually(lambda: _refuses(server), "it goes on listening")
        go_on.set()
        assert server.process.wait(60) == 0
        chat.join()
        database = str(server.info["database"])
    assert answers[0].json["choices"][0]["message"]["content"] == "How exciting!"
    with closing(SqliteStore(database)) as store:
        assert [(turn.query, turn.response) for turn in store.turns("ann")] == [
            ("I moved to Lyon.", "How exciting!")
        ]


def test_second_signal_ends_at_once(tmp_path: Path) -> None:
    with FakeOpenAI() as upstream:
        upstream.faults.append("timeout")
        with ServerProcess(tmp_path / "s", "--grace", "600", "--upstream", upstream.url) as server:
            asked = threading.Thread(target=_ask_in_vain, args=(server,))
            asked.start()
            eventually(lambda: upstream.seen, "the upstream was not asked")
            server.process.send_signal(signal.SIGINT)
            time.sleep(0.3)  # pending signals of the same kind are merged
            server.process.send_signal(signal.SIGINT)
            assert server.process.wait(60) == 128 + signal.SIGINT
            asked.join()


def _refuses(server: ServerProcess) -> bool:
    try:
        server.request("GET", "/health")
    except ConnectionError:
        return True
    return False


def _ask_in_vain(server: ServerProcess) -> None:
    with pytest.raises((OSError, HTTPException)):
        server.request("POST", "/v1/chat/completions", CHAT)


def test_work_command_thinks_for_server_without_thinkers(tmp_path: Path) -> None:
    with ServerProcess(tmp_path / "s", "--thinkers", "0") as server:
        server.remember("ann", "I moved to Lyon.")
        assert counted(server, "thinkback_pending_turns") == 1
        database = str(server.info["database"])
        worker = subprocess.Popen([sys.executable, "-m", "thinkback", "work", "--db", database])
        try:
            eventually(lambda: counted(server, "thinkback_pending_turns") == 0, "nobody thought")
        finally:
            worker.terminate()
            assert worker.wait(60) == 0


def test_think_process_releases_claims_after_grace_period(tmp_path: Path) -> None:
    with FakeOpenAI() as upstream:
        upstream.faults.append("timeout")
        words = ("--llm", "openai:slow", "--think", "llm", "--grace", "1")
        keys = {"OPENAI_BASE_URL": upstream.url, "OPENAI_API_KEY": "none"}
        with ServerProcess(tmp_path / "s", *words, **keys) as server:
            server.remember("ann", "I moved to Lyon.")
            eventually(lambda: upstream.seen, "the model was not asked")
            assert server.stop() == 0
            database = str(server.info["database"])
        with closing(SqliteStore(database)) as store:
            (claimed,) = store.claim("ann", 1, 60, utc_now())
            assert (claimed.turn.query, claimed.attempts) == ("I moved to Lyon.", 1)


def test_single_process_answers_and_thinks(tmp_path: Path) -> None:
    with ServerProcess(tmp_path / "s", module="tests.single_process_cli") as server:
        server.remember("ann", "I moved to Lyon.")
        eventually(lambda: counted(server, "thinkback_pending_turns") == 0, "nobody thought")
        assert server.stop() == 0
