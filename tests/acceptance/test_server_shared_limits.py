"""The request rate holds over two servers on one PostgreSQL database."""

from __future__ import annotations

import time
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.acceptance.server_process import ServerProcess
from tests.postgres_server import requires_postgres

RATE = 10.0

pytestmark = requires_postgres


@pytest.mark.slow
@pytest.mark.timeout(180)
def test_rate_holds_over_two_servers(tmp_path: Path, postgres_url: str) -> None:
    words = ("--rate", f"{RATE:g}", "--thinkers", "0", "--log-level", "error")
    environment = {"THINKBACK_DB": postgres_url, "THINKBACK_EMBEDDER": "hashing"}
    with ExitStack() as stack:
        servers = [
            stack.enter_context(ServerProcess(tmp_path / name, *words, **environment))
            for name in ("first", "second")
        ]
        time.sleep(1.5)  # the bucket is full again
        started, admitted, count = time.monotonic(), [0, 0], 0
        while time.monotonic() - started < 3.0:
            answer = servers[count % 2].request("GET", "/v1/memory/thoughts?user=ann")
            assert answer.status in (200, 429)
            admitted[count % 2] += answer.status == 200
            assert answer.status == 200 or int(answer.headers["retry-after"]) >= 1
            count += 1
        seconds = time.monotonic() - started
    assert count > 2 * RATE * seconds  # enough to exceed the limit of each server
    assert RATE * seconds * 0.5 <= sum(admitted) <= RATE * (seconds + 1) + 2
    assert min(admitted) > 0
