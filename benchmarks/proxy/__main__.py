"""What memory costs a chat: the server compared with a bare pass-through of the same stack, in one run.

python -m benchmarks.proxy [--embedder wordllama] [--embedder minilm] [--clients 64] [--json]
python -m benchmarks.proxy --postgres --workers 4 --recallers 8 --thinkers 2    # needs many cores

The upstream, the bare pass-through (one process), the server (by default one process each that answers,
recalls and thinks) and the clients are separate processes on this machine. Rounds alternate between the two
servers, so that other load affects both.
CPU by process: answering, recalling and thinking of the server, its PostgreSQL, and what upstream and
clients use.
Goals: p50 at most 3 ms plus the embedder's time; with 64 clients 60% of the bare rate with the fastest
embedder, and at least the embedder's own limit divided by 1.3 with the default one; the first token of a
stream at most 15 ms later.
"""

from __future__ import annotations

import asyncio
import json
import os
import tempfile
import time
from collections import Counter
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from typing import Annotated

import typer
from benchmarks.proxy.load import QUESTIONS, Measurement, run_load
from benchmarks.proxy.processes import (
    HERE,
    CpuTime,
    child_pids,
    free_port,
    read_stage_seconds,
    run_server,
    wait_until_ready,
)
from rich.console import Console
from rich.table import Table
from tests.postgres_server import PostgresServer, new_schema_url

from thinkback import Memory

SEED_TURNS = [
    ("I live in Lyon, close to the old town.", "A lovely place."),
    ("My sister Anna works as a nurse in Berlin.", "That is hard work."),
    ("I am allergic to peanuts, so no satay for me.", "Noted."),
    ("We adopted a dog called Bruno in May.", "Congratulations!"),
    ("I started a new job at the harbour last week.", "How is it going?"),
]


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the table: times in ms, rates in requests per second, CPU in ms per request."""

    embedder: str
    answer: str
    clients: int
    bare_p50: float
    ours_p50: float
    embed: float
    first_added: float
    bare_rate: float
    ours_rate: float
    bare_cpu: float
    ours_cpu: float
    memory: dict[str, float]
    stages: dict[str, float]
    cpu: dict[str, float]  # by process; upstream and clients serve both servers
    wrong: int

    @property
    def added(self) -> float:
        return self.ours_p50 - self.bare_p50


def new_database(path: str, stack: ExitStack, postgres: bool) -> tuple[str, dict[str, int]]:
    """An SQLite file, or an empty schema of a PostgreSQL server that runs until the stack is closed.

    The pid of that server is the second value.
    """
    if not postgres:
        return path, {}
    server = PostgresServer(durable=True)
    stack.callback(server.delete)
    return new_schema_url(server.admin_url), {"database": server.process.pid}


def seed_database(db: str, embedder: str, users: int, turns: int) -> float:
    """Fill the database; returns the embedder's median time for one question in ms."""
    with Memory.open(db, embedder=embedder, background=False) as memory:
        for number in range(users):
            user = memory.for_user(f"u{number}")
            for turn in range(turns):
                query, response = SEED_TURNS[turn % len(SEED_TURNS)]
                user.remember(f"{query} ({turn})" if turn >= len(SEED_TURNS) else query, response)
            user.post_think()
        times = []
        for turn in range(200):
            began = time.perf_counter()
            memory.embedder.embed([f"{QUESTIONS[turn % len(QUESTIONS)]} {turn}"])
            times.append(time.perf_counter() - began)
        return sorted(times)[len(times) // 2] * 1000


def measure_alternating(
    ports: tuple[int, int], clients: int, seconds: float, stream: bool
) -> list[Measurement]:
    """Measure both in the order bare, ours, ours, bare."""
    out = [Measurement(), Measurement()]
    for which in (0, 1, 1, 0):
        out[which] += asyncio.run(run_load(ports[which], clients, seconds / 2, stream=stream))
    return out


def measure(
    name: str,
    embed: float,
    bare: tuple[int, int],
    ours: tuple[int, int],
    upstream: int,
    database: dict[str, int],
    clients: int,
    seconds: float,
    stream: bool,
) -> Row:
    """`bare` and `ours` are (pid, port), `upstream` is a pid, `database` the one of a database server."""
    cpu_bare, cpu_ours = CpuTime({"bare": [bare[0]]}), CpuTime(child_pids(ours[0]), database)
    cpu_both = CpuTime({"upstream": [upstream], "clients": [os.getpid()]})
    before = Counter(read_stage_seconds(ours[1]))
    one, other = measure_alternating((bare[1], ours[1]), clients, seconds, stream)
    took = Counter(read_stage_seconds(ours[1]))
    took.subtract(before)
    asked = len(other.whole)
    cpu = {name: seconds / asked * 1000 for name, seconds in cpu_ours.spent().items()}
    shared = {name: seconds / (len(one.whole) + asked) * 1000 for name, seconds in cpu_both.spent().items()}
    return Row(
        embedder=name,
        answer="stream" if stream else "plain",
        clients=clients,
        bare_p50=one.p50(one.whole),
        ours_p50=other.p50(other.whole),
        embed=embed,
        first_added=other.p50(other.first) - one.p50(one.first),
        bare_rate=one.rate,
        ours_rate=other.rate,
        bare_cpu=cpu_bare.spent()["bare"] / len(one.whole) * 1000,
        ours_cpu=sum(cpu.values()),
        memory={kind: count / asked for kind, count in sorted(other.memory.items())},
        stages={stage: spent / asked * 1000 for stage, spent in took.items()},
        cpu={**cpu, **shared},
        wrong=one.wrong + other.wrong,
    )


def print_table(console: Console, rows: list[Row]) -> None:
    table = Table(
        "embedder", "answer", "clients", "p50 bare", "p50 ours", "added", "embedder", "first byte added"
    )
    for column in ("bare/s", "ours/s", "share", "CPU bare", "CPU ours", "memory", "wrong"):
        table.add_column(column)
    for row in rows:
        times = (row.bare_p50, row.ours_p50, row.added, row.embed, row.first_added)
        table.add_row(
            row.embedder,
            row.answer,
            str(row.clients),
            *(f"{ms:.2f}" for ms in times),
            f"{row.bare_rate:.0f}",
            f"{row.ours_rate:.0f}",
            f"{row.ours_rate / row.bare_rate:.0%}",
            f"{row.bare_cpu:.2f}",
            f"{row.ours_cpu:.2f}",
            ", ".join(f"{kind} {share:.0%}" for kind, share in row.memory.items()),
            str(row.wrong),
        )
    console.print(table)
    for row in rows:
        by_stage = ", ".join(f"{stage} {ms:.2f}" for stage, ms in row.stages.items())
        console.print(f"{row.embedder} {row.answer} {row.clients}: ms by stage: {by_stage}")
        by_process = ", ".join(f"{name} {ms:.2f}" for name, ms in row.cpu.items())
        console.print(f"    CPU ms a chat by process: {by_process}")


def main(
    embedder: Annotated[list[str], typer.Option(help="Embedders to measure.")] = ["wordllama", "minilm"],  # noqa: B006
    clients: Annotated[list[int], typer.Option(help="Numbers of concurrent clients.")] = [1, 16, 64],  # noqa: B006
    seconds: Annotated[float, typer.Option(help="Duration per server and row.")] = 6.0,
    turns: Annotated[int, typer.Option(help="Turns of each user in the database.")] = 30,
    workers: Annotated[int, typer.Option(help="Processes of the server that answer.")] = 1,
    recallers: Annotated[int, typer.Option(help="Processes of the server that recall.")] = 1,
    thinkers: Annotated[int, typer.Option(help="Processes of the server that think.")] = 1,
    postgres: Annotated[bool, typer.Option(help="PostgreSQL instead of one SQLite file.")] = False,
    as_json: Annotated[bool, typer.Option("--json")] = False,
) -> None:
    """Measure what memory costs a chat, compared with a bare pass-through."""
    console = Console(width=180, stderr=as_json)
    rows: list[Row] = []
    with (
        ExitStack() as stack,
        tempfile.TemporaryDirectory() as folder,
        run_server(str(HERE / "upstream.py")) as (upstream_pid, upstream),
        run_server(str(HERE / "bare.py"), f"http://127.0.0.1:{upstream}/v1") as bare,
    ):
        for name in embedder:
            db, database = new_database(f"{folder}/{name}.db", stack, postgres)
            port = free_port()
            embed = seed_database(db, name, max(clients), turns)
            console.print(f"{name}: alone it embeds {1000 / embed:.0f} questions a second")
            processes = {"--workers": workers, "--recallers": recallers, "--thinkers": thinkers}
            counts = (text for option, count in processes.items() for text in (option, str(count)))
            given = ("--db", db, "--embedder", name, "--llm", "none", "--port", str(port), *counts)
            upstream_url = f"http://127.0.0.1:{upstream}/v1"
            with run_server(
                "-m", "thinkback", "serve", *given, "--upstream", upstream_url, port=port
            ) as ours:
                wait_until_ready(port)
                for number in clients:
                    for stream in (False, True):
                        servers = (bare, ours, upstream_pid, database)
                        rows.append(measure(name, embed, *servers, number, seconds, stream))
    print_table(console, rows)
    if as_json:
        print(json.dumps([asdict(row) for row in rows], indent=1))


if __name__ == "__main__":
    typer.run(main)
