"""Starting a server: its processes and their metrics folder."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from thinkback.config import Settings
from thinkback.errors import InvalidInput
from thinkback.server.processes import start
from thinkback.server.processes.start import ServerInfo
from thinkback.server.processes.supervisor import Task
from thinkback.server.services import Options
from thinkback.server.telemetry.metrics import MULTIPROCESS_DIR_VARIABLE


def test_metrics_directory_is_private_and_removed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(MULTIPROCESS_DIR_VARIABLE, raising=False)
    with start.metrics_directory() as on_exit:
        folder = Path(os.environ[MULTIPROCESS_DIR_VARIABLE])
        assert folder.stat().st_mode & 0o077 == 0
        (folder / "gauge_livesum_123.db").touch()
        on_exit(123)
        assert list(folder.iterdir()) == []
    assert not folder.exists()
    assert MULTIPROCESS_DIR_VARIABLE not in os.environ


class Supervised:
    """Replaces the supervisor and records its arguments."""

    tasks: Sequence[Task] = ()
    during: Callable[[], None] = staticmethod(lambda: None)

    def __call__(self, tasks: Sequence[Task], **options: Any) -> Supervised:
        self.tasks, self.options = tasks, options
        return self

    def run(self) -> int:
        assert MULTIPROCESS_DIR_VARIABLE in os.environ
        self.during()
        self.options["on_stop"]()
        return 7


@pytest.fixture
def supervised(monkeypatch: pytest.MonkeyPatch) -> Supervised:
    one = Supervised()
    monkeypatch.setattr(start, "Supervisor", one)
    return one


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(
        db=str(tmp_path / "memory.db"), embedder="hashing", llm="none", origins={"db": "flag --db"}
    )


def test_serve_starts_answer_and_think_processes(supervised: Supervised, settings: Settings) -> None:
    told: list[ServerInfo] = []
    options = Options(port=0, workers=2, thinkers=1)
    assert start.serve(settings, options, create="module:function", on_started=told.append) == 7
    assert [task.name for task in supervised.tasks] == ["answering-1", "answering-2", "thinking-1"]
    (started,) = told
    given: Options = supervised.tasks[0].args[1]
    assert started.url == f"http://127.0.0.1:{given.port}"
    assert started.open
    with socket.create_server(("127.0.0.1", given.port)):  # the listener is closed
        pass


@pytest.mark.skipif(sys.platform != "linux", reason="other systems share one socket")
def test_connections_do_not_wait_for_a_process_that_ended(supervised: Supervised, settings: Settings) -> None:
    def listening() -> list[int]:
        sockets = [task.args[-1] for task in supervised.tasks if task.name.startswith("answering")]
        return [each.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN) for each in sockets]

    def ends() -> None:
        supervised.tasks[1].args[-1].listen()  # as the second process does when it is ready
        assert listening() == [1, 1]
        supervised.options["on_exit"]("answering-1", 12345)
        assert listening() == [0, 1]
        supervised.options["on_exit"]("thinking-1", 12346)
        assert listening() == [0, 1]

    supervised.during = ends
    options = Options(port=0, workers=2, thinkers=1)
    assert start.serve(settings, options, create="m:f", on_started=lambda _: None) == 7


def test_serve_on_all_addresses_needs_key(supervised: Supervised, settings: Settings) -> None:
    with pytest.raises(InvalidInput, match="keys create"):
        start.serve(settings, Options(host="0.0.0.0", port=0), create="m:f", on_started=lambda _: None)
    assert supervised.tasks == ()


def test_work_starts_only_think_processes(supervised: Supervised, settings: Settings) -> None:
    assert start.work(settings, Options(thinkers=2)) == 7
    assert [task.name for task in supervised.tasks] == ["thinking-1", "thinking-2"]
