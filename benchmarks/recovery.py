"""How soon chats are recalled again after the recall process was killed, with 16 clients.

python -m benchmarks.recovery [--clients 16] [--kills 3] [--pause-ms 50]

The server, its upstream and the clients run on this machine. The recall process is killed with SIGKILL; the
recovery of a client is the time until its first chat with memory after its first chat without. The shares of
chats with memory before the kill and after the recovery show what the machine can do: on a busy machine
recall is skipped at any time. The exit code is 1 if a client's recovery takes longer than the limit.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer
from benchmarks.proxy.load import QUESTIONS, Measurement, ask
from benchmarks.proxy.processes import HERE, child_pids, free_port, run_server, wait_until_ready

LIMIT_SECONDS = 5.0
WARM_SECONDS = 5.0
WATCHED_SECONDS = 20.0  # after a kill


@dataclass
class Chats:
    """The chats of one client: when each ended, and what memory did (the header X-Thinkback-Memory)."""

    at: list[float] = field(default_factory=list)
    status: list[str] = field(default_factory=list)

    def recovery(self, killed_at: float) -> float | None:
        """Seconds from the kill to the first chat with memory after the first one without; None if never."""
        lost = False
        for at, status in self._between(killed_at, float("inf")):
            if lost and status == "recalled":
                return at - killed_at
            lost = lost or status != "recalled"
        return None if lost else 0.0

    def statuses(self, start: float, end: float) -> list[str]:
        return [status for _, status in self._between(start, end)]

    def _between(self, start: float, end: float) -> list[tuple[float, str]]:
        return [pair for pair in zip(self.at, self.status, strict=True) if start <= pair[0] < end]


async def _client(port: int, user: str, until: float, pause: float, chats: Chats) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    number = 0
    while time.perf_counter() < until:
        measured = Measurement()
        question = f"{QUESTIONS[number % len(QUESTIONS)]} ({number})"
        await ask(reader, writer, port, user, question, measured, stream=False)
        number += 1
        (status,) = measured.memory
        chats.at.append(time.perf_counter())
        chats.status.append(status)
        await asyncio.sleep(pause)
    writer.close()


async def _measure_kill(port: int, server_pid: int, clients: int, pause: float) -> tuple[float, list[Chats]]:
    all_chats = [Chats() for _ in range(clients)]
    until = time.perf_counter() + WARM_SECONDS + WATCHED_SECONDS
    running = [
        asyncio.ensure_future(_client(port, f"user{number}", until, pause, chats))
        for number, chats in enumerate(all_chats)
    ]
    await asyncio.sleep(WARM_SECONDS)
    os.kill(_recall_pid(server_pid), signal.SIGKILL)
    killed_at = time.perf_counter()
    await asyncio.gather(*running)
    return killed_at, all_chats


def _share(chats: list[Chats], start: float, end: float) -> str:
    statuses = [status for each in chats for status in each.statuses(start, end)]
    return f"{statuses.count('recalled')} of {len(statuses)}"


def _recall_pid(server_pid: int) -> int:
    """The recall process: the one of the server's children that listens on a Unix socket of ours."""
    listening = subprocess.run(["ss", "-xlpn"], capture_output=True, text=True, check=False).stdout
    lines = [line for line in listening.splitlines() if "/thinkback-" in line]
    for pid in (pid for pids in child_pids(server_pid).values() for pid in pids):
        if any(f"pid={pid}," in line for line in lines):
            return pid
    raise RuntimeError("there is no recall process")


def main(
    clients: Annotated[int, typer.Option(help="Concurrent clients, one user each.")] = 16,
    kills: Annotated[int, typer.Option(help="How often the recall process is killed.")] = 3,
    pause_ms: Annotated[float, typer.Option(help="Pause of a client between two chats.")] = 50.0,
    recall_ms: Annotated[float, typer.Option(help="Recall timeout of the server.")] = 250.0,
    embedder: Annotated[str, typer.Option(help="The embedder of the server.")] = "wordllama",
) -> None:
    slowest = 0.0
    with tempfile.TemporaryDirectory() as folder, run_server(str(HERE / "upstream.py")) as (_, upstream):
        port = free_port()
        given: tuple[str, ...] = ("--embedder", embedder, "--llm", "none", "--recall-ms", str(recall_ms))
        given += ("--db", str(Path(folder) / "m.db"), "--port", str(port), "--log-level", "error")
        upstream_url = f"http://127.0.0.1:{upstream}/v1"
        with run_server("-m", "thinkback", "serve", *given, "--upstream", upstream_url, port=port) as (
            pid,
            _,
        ):
            wait_until_ready(port)
            for number in range(1, kills + 1):
                killed_at, chats = asyncio.run(_measure_kill(port, pid, clients, pause_ms / 1000))
                times = [each.recovery(killed_at) for each in chats]
                worst = max(WATCHED_SECONDS if each is None else each for each in times)
                slowest = max(slowest, worst)
                print(
                    f"kill {number}: slowest recovery of {clients} clients {worst:.2f} s; chats with memory:"
                    f" before {_share(chats, 0.0, killed_at)},"
                    f" until the recovery {_share(chats, killed_at, killed_at + worst)},"
                    f" afterwards {_share(chats, killed_at + worst, float('inf'))}"
                )
    print(f"slowest recovery: {slowest:.2f} s (limit {LIMIT_SECONDS:g} s)")
    sys.exit(slowest > LIMIT_SECONDS)


if __name__ == "__main__":
    typer.run(main)
