"""A server erases while another process reads: it says that bytes are pending, and removes them by itself."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from tests.acceptance.cli_runner import run_process
from tests.acceptance.server_process import ServerProcess

SECRET = "canary-8821"
LIMIT_SECONDS = 30.0

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs several processes")


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Another process's read transaction, as of a backup tool or a shell."""
    with closing(sqlite3.connect(path, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM turns").fetchone()
        yield


def files_with_secret(folder: Path) -> list[str]:
    return [file.name for file in folder.glob("memory.db*") if SECRET.encode() in file.read_bytes()]


def seconds_until_clean(folder: Path) -> float:
    started = time.monotonic()
    while files_with_secret(folder):
        assert time.monotonic() - started < LIMIT_SECONDS, files_with_secret(folder)
        time.sleep(0.05)
    return time.monotonic() - started


@pytest.mark.parametrize("by", ["server", "command line"])
def test_pending_bytes_are_removed_by_the_server(
    by: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("THINKBACK_EMBEDDER", "hashing")
    monkeypatch.setenv("THINKBACK_HOME", str(tmp_path / "home"))
    folder = tmp_path / "server"
    path = folder / "memory.db"
    with ServerProcess(folder, "--log-level", "error") as server:
        server.remember("ann", f"My cat is called {SECRET}.")
        server.remember("ann", "I live in Lyon.")
        with reading(path):
            if by == "server":
                answer = server.request("POST", "/v1/memory/erase", {"turn": 1}, user="ann")
                assert answer.status == 200
                result = answer.json
            else:
                words = ("erase", "--turn", "1", "--yes", "--user", "ann", "--db", str(path), "--json")
                result = run_process(*words).ok().json
            assert result["turns"] == 1
            assert result["bytes_pending"] is True
            assert result["pending_reason"] == "another process is using the database"
            assert files_with_secret(folder)
            assert server.remember("ann", "Writing goes on.").status == 201
        seconds = seconds_until_clean(folder)
        assert server.stop() == 0
    with capsys.disabled():
        print(f"\nerased by the {by} beside a reader: bytes gone {seconds:.1f} s after the reader ended")
