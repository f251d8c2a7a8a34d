"""The supervisor with real processes: restarts, ordered shutdown, no orphans."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from thinkback.server.processes import supervisor as processes
from thinkback.server.telemetry.logs import EventLog

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="one process alone needs no supervisor")


class Run:
    """A supervisor in a separate process."""

    def __init__(self, folder: Path, *kinds: str, grace_s: float = 5) -> None:
        self.folder = folder
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.supervisor_tasks", str(folder), str(grace_s), *kinds],
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def noted(self, what: str) -> list[int]:
        """The processes that wrote this note."""
        return [int(path.name.split()[2]) for path in self.folder.iterdir() if f" {what} " in path.name]

    def until(self, what: str, count: int = 1) -> list[int]:
        deadline = time.monotonic() + 60
        while len(found := self.noted(what)) < count:
            assert time.monotonic() < deadline, f"{what} was not noted {count} times"
            time.sleep(0.02)
        return found

    def ends(self) -> tuple[int, list[dict[str, Any]]]:
        """The exit code and the log."""
        _, err = self.process.communicate(timeout=60)
        lines = [line for line in err.splitlines() if line.startswith("{")]
        return self.process.returncode, [json.loads(line) for line in lines]


@pytest.fixture
def runs(tmp_path: Path) -> Iterator[list[Run]]:
    made: list[Run] = []
    yield made
    for run in made:
        if run.process.poll() is None:
            os.killpg(run.process.pid, signal.SIGKILL)
            run.process.wait()
        if run.process.stderr:
            run.process.stderr.close()


def gone(pid: int) -> bool:
    """Whether a process that is not a child of ours has ended."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            if Path(f"/proc/{pid}/stat").exists() and " Z " in Path(f"/proc/{pid}/stat").read_text("utf-8"):
                return True
            os.kill(pid, 0)
        except (ProcessLookupError, FileNotFoundError):
            return True
        time.sleep(0.02)
    return False


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signal_stops_all_processes(tmp_path: Path, runs: list[Run], number: signal.Signals) -> None:
    runs.append(run := Run(tmp_path, "obedient", "obedient"))
    run.until("lives", 2)
    run.process.send_signal(number)
    assert run.ends() == (0, [])
    assert len(run.noted("stopped")) == 2


def test_ctrl_c_of_process_group_stops_all_processes(tmp_path: Path, runs: list[Run]) -> None:
    runs.append(run := Run(tmp_path, "obedient", "obedient"))
    run.until("lives", 2)
    os.killpg(run.process.pid, signal.SIGINT)
    assert run.ends()[0] == 0
    assert len(run.noted("stopped")) == 2


def test_second_signal_kills_at_once(tmp_path: Path, runs: list[Run]) -> None:
    runs.append(run := Run(tmp_path, "deaf", grace_s=100))
    (pid,) = run.until("lives")
    run.process.terminate()
    time.sleep(0.3)  # pending signals of the same kind are merged
    run.process.terminate()
    assert run.ends()[0] == 128 + signal.SIGTERM
    assert gone(pid)


def test_unresponsive_process_is_killed_after_grace_period(tmp_path: Path, runs: list[Run]) -> None:
    runs.append(run := Run(tmp_path, "deaf", grace_s=-processes.KILL_MARGIN_SECONDS))
    (pid,) = run.until("lives")
    run.process.terminate()
    code, told = run.ends()
    assert (code, told[-1]["event"]) == (1, "ended_by_force")
    assert gone(pid)


def test_dead_process_is_restarted(tmp_path: Path, runs: list[Run]) -> None:
    runs.append(run := Run(tmp_path, "dies_once", "obedient"))
    run.until("lives", 2)
    run.process.terminate()
    code, told = run.ends()
    assert (code, len(run.noted("stopped")), len(run.noted("lives"))) == (0, 2, 2)
    assert [(line["event"], line["process"], line["exit_code"]) for line in told] == [
        ("process_died", "dies_once", 3)
    ]


def test_repeated_quick_exits_stop_the_server(tmp_path: Path, runs: list[Run]) -> None:
    runs.append(run := Run(tmp_path, "obedient", "dies"))
    code, told = run.ends()
    assert (code, told[-1]["event"], told[-1]["deaths"]) == (1, "gave_up", processes.MAX_QUICK_EXITS)
    pauses = [line["again_in_s"] for line in told[:-1]]
    assert pauses == sorted(set(pauses))  # longer each time
    assert len(run.noted("died")) == processes.MAX_QUICK_EXITS
    assert len(run.noted("stopped")) == len(run.noted("lives"))


def test_configuration_error_is_not_retried(tmp_path: Path, runs: list[Run]) -> None:
    runs.append(run := Run(tmp_path, "hopeless"))
    _, err = run.process.communicate(timeout=60)
    assert run.process.returncode == 1
    assert err == "error: the database is of another embedder\n"
    assert len(run.noted("began")) == 1


def test_processes_end_if_supervisor_is_killed(tmp_path: Path, runs: list[Run]) -> None:
    runs.append(run := Run(tmp_path, "obedient", "obedient"))
    pids = run.until("lives", 2)
    run.process.kill()
    assert all(gone(pid) for pid in pids)
    assert len(run.noted("stopped")) == 2


@pytest.mark.parametrize(
    ("kinds", "code", "lives"), [(("obedient", "dies_once"), 0, 2), (("hopeless",), 1, 0), (("dies",), 1, 0)]
)
def test_supervisor_runs_in_process(tmp_path: Path, kinds: tuple[str, ...], code: int, lives: int) -> None:
    """In this process; its signal handlers are restored afterwards."""
    before = signal.getsignal(signal.SIGTERM)
    tasks = [
        processes.Task(kind, f"tests.supervisor_tasks:{kind}", (str(tmp_path), f"{number}-{kind}"))
        for number, kind in enumerate(kinds)
    ]
    deaths: list[str] = []
    supervisor = processes.Supervisor(
        tasks, grace_seconds=30, logs=EventLog(), on_exit=lambda name, pid: deaths.append(name)
    )

    def end_it() -> None:
        while len([path for path in tmp_path.iterdir() if " lives " in path.name]) < lives:
            time.sleep(0.02)
        os.kill(os.getpid(), signal.SIGTERM)

    ending = threading.Thread(target=end_it)
    if lives:
        ending.start()
    assert supervisor.run() == code
    if lives:
        ending.join()
    assert signal.getsignal(signal.SIGTERM) is before
    assert len(deaths) == len(list(tmp_path.iterdir())) - len(list(tmp_path.glob("* stopped *")))
    assert set(deaths) == set(kinds)
