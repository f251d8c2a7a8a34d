"""Recall on PostgreSQL and on SQLite with the same spaces, in one run: median and 95th percentile in ms.

    python -m benchmarks.postgres_recall --spaces 10000 --turns 100

"Cold" is the first recall in a space by a process: its index is read from the database. "Warm" is a later
one.
"""

from __future__ import annotations

import random
import statistics
import time

from benchmarks.postgres_data import (
    arguments,
    databases,
    embedder_name,
    fill,
    repeat_space,
    sentence,
    thought_over_space,
)

from thinkback.memory import Memory
from thinkback.storage import connect

EMBEDDER = "hashing"


def measure(url: str, spaces: int, turns: int, samples: int) -> dict[str, list[float]]:
    times: dict[str, list[float]] = {"cold": [], "warm": []}
    chosen = random.Random(1).sample(range(spaces), min(samples, spaces))
    with Memory.open(url, embedder=EMBEDDER, background=False) as memory:
        for number in chosen:
            view = memory.for_space(f"user{number}")
            for state in ("cold", "warm"):
                started = time.perf_counter()
                view.recall(sentence(number % turns))
                times[state].append((time.perf_counter() - started) * 1000)
    return times


def main() -> None:
    options = arguments(__doc__, spaces=500, turns=100, samples=200)
    rows = {options.turns: thought_over_space(options.turns, EMBEDDER)}
    thoughts = len(rows[options.turns]["thoughts"])
    with databases() as urls:
        found = {}
        for url in urls:
            store = connect(url)
            started = time.perf_counter()
            fill(store, embedder_name(EMBEDDER), [options.turns], rows)
            store.close()
            repeat_space(url, "user0", options.spaces)
            filled = time.perf_counter() - started
            name = "PostgreSQL" if "://" in url else "SQLite"
            found[name] = measure(url, options.spaces, options.turns, options.samples)
            print(f"{name}: filled in {filled:.1f} s", flush=True)
    print(f"{options.spaces:,} spaces, {options.spaces * thoughts:,} thoughts")
    for name, times in found.items():
        for state, values in times.items():
            tail = statistics.quantiles(values, n=20)[-1]
            print(f"{name:10} {state}: p50 {statistics.median(values):6.2f} ms, p95 {tail:6.2f} ms")
    for state in ("cold", "warm"):
        ratio = statistics.median(found["PostgreSQL"][state]) / statistics.median(found["SQLite"][state])
        print(f"PostgreSQL / SQLite, {state}: {ratio:.2f}")


if __name__ == "__main__":
    main()
