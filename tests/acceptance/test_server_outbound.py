"""The server speaks to nobody but the upstream it was given: every process notes each address it turns to."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from tests.acceptance.server import Server
from tests.upstream import Upstream

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs several processes")
HOOK = Path(__file__).parent / "outbound"


def test_it_turns_to_its_upstream_and_to_nobody_else(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    path = os.pathsep.join([str(HOOK), os.environ.get("PYTHONPATH", "")])
    with Upstream() as upstream:
        address = f"http://127.0.0.1:{upstream.port}/v1"
        environment = {"THINKBACK_TEST_OUTBOUND": str(notes), "PYTHONPATH": path}
        with Server(tmp_path / "s", "--upstream", address, "--workers", "2", **environment) as server:
            for number in range(3):
                body = {"user": "ann", "text": f"I own boat {number}."}
                assert server.ask("POST", "/remember", body).status == 200
                assert server.ask("GET", "/recall?user=ann&query=boat").status == 200
                assert server.ask("POST", "/ask", {}).json["status"] == 200
                assert server.ask("GET", "/metrics").status == 200
            _thought_over(server)
            assert server.stop() == 0
        turned_to = set(notes.read_text("utf-8").splitlines())
        assert len(upstream.seen) == 3
    assert any(line == f"socket.connect ('127.0.0.1', {upstream.port})" for line in turned_to)
    others = {line for line in turned_to if f"'127.0.0.1', {upstream.port}" not in line}
    assert others <= {f"socket.getaddrinfo ('127.0.0.1', {upstream.port})"}


def _thought_over(server: Server) -> None:
    deadline = time.monotonic() + 60
    while "thinkback_pending_turns 0.0" not in server.ask("GET", "/metrics").text:
        assert time.monotonic() < deadline
        time.sleep(0.05)
