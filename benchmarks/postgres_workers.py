"""Thinking with rules on PostgreSQL by one worker process, then by two: turns per second and their ratio.

    python -m benchmarks.postgres_workers --spaces 40 --turns 40

The CPU time of the workers per turn depends little on what else the machine does: where it is the same for
one and two workers, two of them do twice the work on two free cores.
"""

from __future__ import annotations

import multiprocessing
import time
from multiprocessing.sharedctypes import Synchronized
from multiprocessing.synchronize import Barrier

from benchmarks.postgres_data import arguments, databases, sentence

from thinkback.memory import Memory
from thinkback.server.circuit_breaker import ModelBreaker
from thinkback.server.processes.think_worker import ThinkWorker
from thinkback.server.services import MemoryRegistry
from thinkback.server.telemetry import Telemetry, logs

EMBEDDER = "hashing"


def think_until_done(url: str, number: int, barrier: Barrier, used: Synchronized[float]) -> None:
    with Memory.open(url, embedder=EMBEDDER, think="extractive", background=False) as memory:
        breakers: dict[str, ModelBreaker] = {}
        telemetry = Telemetry(logs.configure_logging("error"))
        worker = ThinkWorker(MemoryRegistry(memory), telemetry, breakers, number=number)
        memory.for_space("warm-up").remember("My sister Anna lives in Berlin.")
        memory.for_space("warm-up").post_think()
        barrier.wait(300)
        started = time.process_time()
        while memory.store.backlog():
            worker.run_round()
        with used.get_lock():
            used.value += time.process_time() - started
        barrier.wait(600)


def measure(url: str, workers: int, spaces: int, turns: int) -> tuple[float, float]:
    """Turns per second, and milliseconds of CPU per turn in all workers together."""
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
    started = time.perf_counter()
    barrier.wait(600)
    elapsed = time.perf_counter() - started
    for process in processes:
        process.join()
    return spaces * turns / elapsed, used.value * 1000 / (spaces * turns)


def main() -> None:
    options = arguments(__doc__, spaces=20, turns=20)
    found = {}
    for workers in (1, 2):
        with databases() as (_, url):
            found[workers] = speed, cpu_ms = measure(url, workers, options.spaces, options.turns)
            print(f"{workers} workers: {speed:.1f} turns/s, {cpu_ms:.0f} ms of CPU a turn", flush=True)
    print(f"ratio of speeds {found[2][0] / found[1][0]:.2f}, of CPU a turn {found[2][1] / found[1][1]:.2f}")


if __name__ == "__main__":
    main()
