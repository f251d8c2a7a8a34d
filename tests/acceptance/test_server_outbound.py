"""The server connects to nothing but its upstream: every process records each address it uses."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import pytest
from tests.acceptance.server_process import ServerProcess
from tests.fake_openai import FakeOpenAI

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs several processes")
HOOK = Path(__file__).parent / "outbound"


CHAT = {"model": "m", "messages": [{"role": "user", "content": "I moved to Lyon."}]}
RPC = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
ACCEPT = {"Accept": "application/json, text/event-stream"}
ASKED: tuple[tuple[str, str, Any], ...] = (
    ("POST", "/v1/chat/completions", CHAT),
    ("POST", "/v1/chat/completions", {**CHAT, "stream": True}),
    ("POST", "/v1/completions", {"model": "m", "prompt": "I like tea."}),
    ("POST", "/v1/embeddings", {"model": "m", "input": "tea"}),
    ("GET", "/v1/models", None),
    ("POST", "/v1/memory/turns", {"query": "I own a boat.", "session": "s"}),
    ("POST", "/v1/memory/recall", {"query": "What do I own?", "explain": True}),
    ("POST", "/v1/memory/ask", {"question": "Where do I live?"}),
    ("POST", "/v1/memory/context", {"message": "Where do I live?"}),
    ("POST", "/v1/memory/think", {}),
    ("GET", "/v1/memory/summary?session=s", None),
    ("GET", "/v1/memory/stats", None),
    ("GET", "/v1/memory/audit", None),
    ("GET", "/v1/memory/journal", None),
    ("GET", "/openapi.json", None),
    ("POST", "/memories", {"messages": [{"role": "user", "content": "I like jazz."}], "user_id": "ann"}),
    ("POST", "/search", {"query": "jazz", "user_id": "ann"}),
    ("GET", "/memories?user_id=ann", None),
    ("POST", "/mcp", RPC),
    ("GET", "/health", None),
    ("GET", "/ready", None),
    ("GET", "/metrics", None),
    ("GET", "/nowhere", None),
)
"""One request for each API; only the resulting connections matter."""


def test_server_connects_only_to_its_upstream(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    path = os.pathsep.join([str(HOOK), os.environ.get("PYTHONPATH", "")])
    environment = {"THINKBACK_TEST_OUTBOUND": str(notes), "PYTHONPATH": path}
    with FakeOpenAI() as upstream:
        words = ("--upstream", upstream.url, "--workers", "2")
        with ServerProcess(tmp_path / "s", *words, **environment) as server:
            answers = {
                (method, path): server.request(method, path, body, user="ann", headers=ACCEPT).status
                for method, path, body in ASKED
            }
            _thought_over(server)
            assert server.stop() == 0
        turned_to = set(notes.read_text("utf-8").splitlines())
        assert {seen.path for seen in upstream.seen} >= {"/v1/chat/completions", "/v1/embeddings"}
    assert all(status < 500 for status in answers.values()), answers
    assert f"socket.connect ('127.0.0.1', {upstream.port})" in turned_to
    among_itself = "socket.connect '/"  # a path: a Unix socket between its own processes
    others = {line for line in turned_to if f"'127.0.0.1', {upstream.port}" not in line}
    assert {line for line in others if not line.startswith(among_itself)} == set()


def _thought_over(server: ServerProcess) -> None:
    deadline = time.monotonic() + 60
    while "thinkback_pending_turns 0.0" not in server.request("GET", "/metrics").text:
        assert time.monotonic() < deadline
        time.sleep(0.05)
