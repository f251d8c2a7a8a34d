"""Import on a Ray cluster of two nodes, one of which is killed half-way, against the import by one process.

    python -m benchmarks.ray_import --turns 50000 --users 40

Both write to PostgreSQL. All rows are compared: turns, index entries, hashing. Then the same for thinking:
the turns of `--users` users, with one node killed after a quarter of them; thoughts and journal are compared.
Exit code 1 if anything differs. Needs thinkback[ray].
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import sha256

from benchmarks.postgres_data import arguments, sentence
from tests.postgres_server import PostgresServer, new_schema_url
from tests.ray_cluster import TwoNodes, two_nodes

from thinkback.bulk.cluster import Cluster
from thinkback.bulk.encoding import ClusterEncoder
from thinkback.bulk.thinking import think_users
from thinkback.config import Settings
from thinkback.memory import Memory

EMBEDDER = "hashing"
USER = "bulk"
TURNS_PER_USER = 20
NOW = datetime(2026, 1, 1, tzinfo=UTC)


def open_memory(url: str) -> Memory:
    return Memory.open(
        url, embedder=EMBEDDER, user=USER, think="extractive", background=False, clock=lambda: NOW
    )


def turn_lines(count: int, first: int = 0) -> list[str]:
    return [
        json.dumps(
            {
                "query": sentence(number),
                "response": f"I see. {sentence(number + 7)}",
                "at": f"2025-{1 + number % 12:02}-{1 + number % 28:02}T10:00Z",
                "session": f"s{number // 50}",
                "key": f"turn-{number}",
            }
        )
        for number in range(first, first + count)
    ]


def lines_by_user(users: int) -> dict[str, list[str]]:
    return {f"user{number}": turn_lines(TURNS_PER_USER, number * TURNS_PER_USER) for number in range(users)}


class Killer:
    """Kills the second node in the background as soon as `done` reaches a number of turns."""

    def __init__(self, nodes: TwoNodes, at: int) -> None:
        self._nodes = nodes
        self._at = at
        self.killed_at = 0
        self._thread = threading.Thread(target=nodes.kill_second)

    def __call__(self, done: int, total: int) -> None:
        if done >= self._at and not self.killed_at:
            self.killed_at = done
            self._thread.start()

    def join(self) -> None:
        if self.killed_at:
            self._thread.join()


def timed(work: Callable[[], int]) -> tuple[int, float, float]:
    """The number of turns, the seconds, and the seconds of CPU of this process."""
    started, cpu_started = time.perf_counter(), time.process_time()
    count = work()
    return count, time.perf_counter() - started, time.process_time() - cpu_started


def import_on_cluster(url: str, lines: list[str], kill_at: int) -> tuple[int, float, float, int]:
    settings = Settings(db=url, embedder=EMBEDDER)
    with two_nodes() as nodes, Cluster(nodes.address) as cluster, open_memory(url) as memory:
        killer = Killer(nodes, kill_at)
        encoder = ClusterEncoder(cluster, settings, embedder=EMBEDDER, name=memory.embedder.name)
        figures = timed(
            lambda: memory.import_users({USER: lines}, encoder=encoder, repeatable=True, progress=killer)
        )
        killer.join()
        print(f"  cores at the end: {cluster.capacity()}")
        return *figures, killer.killed_at


def think_on_cluster(url: str, kill_at: int) -> tuple[int, float, float, int]:
    settings = replace(Settings(db=url, embedder=EMBEDDER), llm="none", think="extractive")
    with two_nodes() as nodes, Cluster(nodes.address) as cluster:
        killer = Killer(nodes, kill_at)
        figures = timed(lambda: think_users(cluster, settings, progress=killer).turns)
        killer.join()
        return *figures, killer.killed_at


def table_digests(url: str) -> dict[str, tuple[int, str]]:
    """Number of rows and checksum of each table of the imported user."""
    with open_memory(url) as memory:
        tables = memory.store.read_space(USER)
    return {name: (len(rows), sha256(repr(rows).encode()).hexdigest()[:12]) for name, rows in tables.items()}


def thoughts_of(url: str) -> list[tuple[object, ...]]:
    """All thoughts and actions, without their times."""
    with open_memory(url) as memory:
        return [
            (user, thought.id, thought.sentence, thought.current, thought.sources)
            for user in memory.store.users()
            for thought in memory.store.thoughts(user, current=False)
        ] + [
            (user, action.id, action.turn, action.action)
            for user in memory.store.users()
            for action in memory.store.journal(user)
        ]


def report(name: str, count: int, seconds: float, cpu_seconds: float, killed_at: int | None = None) -> None:
    killed = "" if killed_at is None else f", one node killed after {killed_at:,}"
    print(
        f"{name}: {count:,} turns in {seconds:.1f} s, {count / seconds:,.0f} turns/s, "
        f"{cpu_seconds / count * 1000:.2f} ms of CPU a turn in this process{killed}",
        flush=True,
    )


def compare_import(server: PostgresServer, turns: int) -> bool:
    lines = turn_lines(turns)
    single, spread = new_schema_url(server.admin_url), new_schema_url(server.admin_url)
    with open_memory(single) as memory:
        report("import, one process", *timed(lambda: memory.import_(lines)))
    report("import, two nodes", *import_on_cluster(spread, lines, kill_at=turns // 2))
    expected, found = table_digests(single), table_digests(spread)
    for table, (rows, digest) in expected.items():
        if rows or found[table][0]:
            print(f"  {table}: {rows:,} and {found[table][0]:,} rows, equal: {digest == found[table][1]}")
    return expected == found


def compare_thinking(server: PostgresServer, users: int) -> bool:
    single, spread = new_schema_url(server.admin_url), new_schema_url(server.admin_url)
    turns = users * TURNS_PER_USER
    for url in (single, spread):
        with open_memory(url) as memory:
            memory.import_users(lines_by_user(users))
    with open_memory(single) as memory:
        report(
            "think, one process",
            *timed(lambda: sum(memory.for_user(user).post_think().turns for user in lines_by_user(users))),
        )
    report("think, two nodes", *think_on_cluster(spread, kill_at=turns // 4))
    expected, found = thoughts_of(single), thoughts_of(spread)
    print(f"  {len(expected):,} and {len(found):,} thoughts and actions, equal: {expected == found}")
    return expected == found


def main() -> int:
    options = arguments(__doc__, turns=50_000, users=40)
    server = PostgresServer(durable=True)
    try:
        equal = compare_import(server, options.turns)
        if options.users:
            equal = compare_thinking(server, options.users) and equal
    finally:
        server.delete()
    print(f"equal: {equal}")
    return 0 if equal else 1


if __name__ == "__main__":
    sys.exit(main())
