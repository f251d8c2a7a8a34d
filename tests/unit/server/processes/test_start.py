"""Starting a server: which processes it is to have, and the folder they share."""

from __future__ import annotations

import os
import socket
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from thinkback.config import Settings
from thinkback.errors import InvalidInput
from thinkback.server.options import Options
from thinkback.server.processes import start
from thinkback.server.processes.start import ServerInfo
from thinkback.server.processes.supervisor import Task
from thinkback.server.telemetry.metrics import MULTIPROCESS_DIR_VARIABLE


def test_the_folder_of_metrics_is_private_and_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(MULTIPROCESS_DIR_VARIABLE, raising=False)
    with start.metrics_directory() as at_death:
        folder = Path(os.environ[MULTIPROCESS_DIR_VARIABLE])
        assert folder.stat().st_mode & 0o077 == 0
        (folder / "gauge_livesum_123.db").touch()
        at_death(123)
        assert list(folder.iterdir()) == []
    assert not folder.exists()
    assert MULTIPROCESS_DIR_VARIABLE not in os.environ


class Supervised:
    """What a supervisor was given, instead of doing it."""

    tasks: Sequence[Task] = ()

    def __call__(self, tasks: Sequence[Task], **options: Any) -> Supervised:
        self.tasks, self.options = tasks, options
        return self

    def run(self) -> int:
        assert MULTIPROCESS_DIR_VARIABLE in os.environ
        self.options["at_stop"]()
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


def test_processes_that_answer_share_one_socket_and_others_think(
    supervised: Supervised, settings: Settings
) -> None:
    told: list[ServerInfo] = []
    options = Options(port=0, workers=2, thinkers=1)
    assert start.serve(settings, options, create="module:function", on_started=told.append) == 7
    assert [task.name for task in supervised.tasks] == ["answering-1", "answering-2", "thinking-1"]
    (started,) = told
    given: Options = supervised.tasks[0].args[1]
    assert started.url == f"http://127.0.0.1:{given.port}"
    assert started.open
    with socket.create_server(("127.0.0.1", given.port)):  # nobody is kept waiting at a socket nobody answers
        pass


def test_nobody_else_is_let_in_without_a_key(supervised: Supervised, settings: Settings) -> None:
    with pytest.raises(InvalidInput, match="keys create"):
        start.serve(settings, Options(host="0.0.0.0", port=0), create="m:f", on_started=lambda _: None)
    assert supervised.tasks == ()


def test_work_is_thinking_alone(supervised: Supervised, settings: Settings) -> None:
    assert start.work(settings, Options(thinkers=2)) == 7
    assert [task.name for task in supervised.tasks] == ["thinking-1", "thinking-2"]
