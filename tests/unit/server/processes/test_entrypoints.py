"""Entry points of the worker processes, run in this process until the stop pipe is used."""

from __future__ import annotations

import multiprocessing
import signal
import socket
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from thinkback.config import Settings
from thinkback.memory import Memory
from thinkback.server.processes import entrypoints
from thinkback.server.processes.listeners import open_listener
from thinkback.server.processes.supervisor import STOP_MESSAGE, StopPipe
from thinkback.server.services import Options
from thinkback.server.telemetry import logs

APP = "thinkback.server.app:create_app"


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(
        db=str(tmp_path / "memory.db"), embedder="hashing", llm="none", origins={"db": "flag --db"}
    )


@pytest.fixture
def leashed() -> Iterator[tuple[StopPipe, Callable[[], None]]]:
    """A stop pipe that does not end the process, and its other end."""
    theirs, ours = multiprocessing.Pipe(duplex=False)
    with closing(theirs), closing(ours):
        yield StopPipe(theirs, exit_process=lambda code: None), lambda: ours.send_bytes(STOP_MESSAGE)


@pytest.fixture(autouse=True)
def as_before(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Keep the priority, logging and signal handlers of the test process."""
    monkeypatch.setattr(entrypoints, "lower_priority", lambda nice: None)
    monkeypatch.setattr(logs, "configure_logging", lambda level: logs.EventLog())
    before = signal.getsignal(signal.SIGTERM)
    yield
    signal.signal(signal.SIGTERM, before)


def get(listener: socket.socket, path: str) -> bytes:
    url = f"http://127.0.0.1:{listener.getsockname()[1]}{path}"
    with urllib.request.urlopen(url, timeout=60) as answer:
        found: bytes = answer.read()
    return found


def test_answer_process_runs_until_stop_pipe(
    settings: Settings, leashed: tuple[StopPipe, Callable[[], None]]
) -> None:
    stop_pipe, stop = leashed
    listener = open_listener(Options(port=0))
    answering = threading.Thread(
        target=entrypoints.run_answer_process,
        args=(stop_pipe, settings, Options(grace_seconds=5), APP, listener),
    )
    answering.start()
    assert b"ready" in get(listener, "/ready")
    stop()
    answering.join(60)
    assert not answering.is_alive()
    assert listener.fileno() == -1


def test_think_process_runs_until_stop_pipe(
    settings: Settings, leashed: tuple[StopPipe, Callable[[], None]]
) -> None:
    stop_pipe, stop = leashed
    with Memory.open(settings.db, embedder="hashing", background=False, user="ann") as memory:
        memory.remember("I moved to Lyon.")

        def watch() -> None:
            while memory.stats().pending:
                time.sleep(0.01)
            stop()

        watching = threading.Thread(target=watch)
        watching.start()
        entrypoints.run_think_process(stop_pipe, settings, Options(grace_seconds=60), 1)
        watching.join()
        assert [thought.objects for thought in memory.thoughts()] == [("Lyon",)]


def test_single_process_answers_and_thinks(settings: Settings) -> None:
    listener = open_listener(Options(port=0))
    with Memory.open(settings.db, embedder="hashing", background=False, user="ann") as memory:
        memory.remember("I moved to Lyon.")

        def watch() -> None:
            get(listener, "/ready")
            while memory.stats().pending:
                time.sleep(0.01)
            signal.raise_signal(signal.SIGTERM)

        watching = threading.Thread(target=watch)
        watching.start()
        assert entrypoints.run_single_process(settings, Options(grace_seconds=5), APP, listener) == 0
        watching.join()
        assert memory.stats().pending == 0
