"""Starts servers as processes and measures their CPU time."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).parent


@dataclass
class CpuTime:
    """CPU seconds used by some processes, by name, since the object was created.

    `parents` are counted with their children, also those that have ended.
    """

    pids: dict[str, list[int]]
    parents: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.began = self._now()

    def spent(self) -> dict[str, float]:
        return {name: seconds - self.began[name] for name, seconds in self._now().items()}

    def _now(self) -> dict[str, float]:
        alone = {name: sum(map(_cpu_seconds, pids)) for name, pids in self.pids.items()}
        return alone | {name: _family_seconds(pid) for name, pid in self.parents.items()}


def _cpu_seconds(pid: int, *, ended_children: bool = False) -> float:
    """User and system time of a process; 0 if it has ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(map(int, fields[11 : 15 if ended_children else 13])) / os.sysconf("SC_CLK_TCK")


def _family_seconds(pid: int) -> float:
    children = (child for pids in child_pids(pid).values() for child in pids)
    return _cpu_seconds(pid, ended_children=True) + sum(map(_cpu_seconds, children))


@contextmanager
def run_server(*command: str, port: int | None = None) -> Iterator[tuple[int, int]]:
    """Run a server; yields (pid, port). Without `port`, the server must print its port."""
    out = subprocess.PIPE if port is None else subprocess.DEVNULL
    process = subprocess.Popen([sys.executable, *command], stdout=out, stderr=subprocess.DEVNULL, text=True)
    try:
        yield process.pid, port or int(process.stdout.readline() if process.stdout else 0)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def wait_until_ready(port: int) -> None:
    until = time.monotonic() + 60
    while True:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/ready", timeout=1):
                return
        except OSError:
            if time.monotonic() > until:
                raise
            time.sleep(0.1)


def child_pids(pid: int) -> dict[str, list[int]]:
    """The processes of a server by what they do: answering, recalling, thinking."""
    done = subprocess.run(
        ["ps", "-o", "pid=,comm=", "--ppid", str(pid)], capture_output=True, text=True, check=False
    )
    found: dict[str, list[int]] = {}
    for line in done.stdout.splitlines():
        number, name = line.split(maxsplit=1)
        found.setdefault(name.partition("-")[0], []).append(int(number))
    return found


def read_stage_seconds(port: int) -> dict[str, float]:
    """Seconds spent so far in each stage of the proxy, from /metrics."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5) as answer:
        text = answer.read().decode()
    found = re.findall(r'thinkback_proxy_stage_seconds_sum\{[^}]*stage="(\w+)"[^}]*\} ([\d.e+-]+)', text)
    return {stage: float(value) for stage, value in found}
