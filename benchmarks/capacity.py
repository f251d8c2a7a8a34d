"""Capacity: what a turn and a thought cost in bytes and time, and what that means for a billion thoughts.

    python -m benchmarks.capacity --spaces 1000000

Spaces of a realistic distribution of sizes (most small, few huge: log-normal with a median of 20 turns) are
written to the real schema. The rows are those of spaces that were really remembered and thought over.
"""

from __future__ import annotations

import random
import statistics
import time

import psycopg
from benchmarks.postgres_data import (
    SpaceRows,
    arguments,
    databases,
    embedder_name,
    fill,
    sentence,
    thought_over_space,
)

from thinkback.memory import Memory
from thinkback.storage import connect

EMBEDDER = "hashing"
SIZES = (1, 3, 10, 30, 100, 300, 1000)
MEDIAN_TURNS, SIGMA = 20, 1.5
THOUGHTS, USERS = 1_000_000_000, 10_000_000


def sample_sizes(spaces: int, largest: int) -> list[int]:
    random_ = random.Random(3)
    possible = [size for size in SIZES if size <= largest]
    drawn = (random_.lognormvariate(0, SIGMA) * MEDIAN_TURNS for _ in range(spaces))
    return [min(possible, key=lambda size: abs(size - turns)) for turns in drawn]


def table_bytes(url: str) -> dict[str, int]:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("VACUUM ANALYZE")
        return dict(
            connection.execute(
                "SELECT relname, pg_total_relation_size(oid) FROM pg_class"
                " WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace"
            ).fetchall()
        )


def measure_writes(url: str, turns: int) -> tuple[float, float]:
    """CPU milliseconds of this process per turn: remembering, thinking."""
    with Memory.open(url, embedder=EMBEDDER, think="extractive", background=False, user="writer") as memory:
        started = time.process_time()
        for number in range(turns):
            memory.remember(sentence(number))
        remembered = time.process_time()
        memory.post_think()
        return (remembered - started) * 1000 / turns, (time.process_time() - remembered) * 1000 / turns


def measure_recalls(url: str, sizes: list[int]) -> dict[int, tuple[float, float]]:
    """Milliseconds of the first and of a later recall, by the size of the space (medians)."""
    found = {}
    with Memory.open(url, embedder=EMBEDDER, background=False) as memory:
        for size in sorted(set(sizes)):
            numbers = [number for number, each in enumerate(sizes) if each == size][:20]
            cold: list[float] = []
            warm: list[float] = []
            for number in numbers:
                view = memory.for_space(f"user{number}")
                for times in (cold, warm):
                    started = time.perf_counter()
                    view.recall(sentence(number % size))
                    times.append((time.perf_counter() - started) * 1000)
            found[size] = (statistics.median(cold), statistics.median(warm))
    return found


def main() -> None:
    options = arguments(__doc__, spaces=2000, largest=300, writes=200)
    sizes = sample_sizes(options.spaces, options.largest)
    rows: dict[int, SpaceRows] = {size: thought_over_space(size, EMBEDDER) for size in set(sizes)}
    turns = sum(len(rows[size]["turns"]) for size in sizes)
    thoughts = sum(len(rows[size]["thoughts"]) for size in sizes)
    with databases() as (_, url):
        store = connect(url)
        started = time.perf_counter()
        fill(store, embedder_name(EMBEDDER), sizes, rows)
        elapsed = time.perf_counter() - started
        started = time.perf_counter()
        store.pending_spaces(store.turns("user0")[0].at)
        pending_ms = (time.perf_counter() - started) * 1000
        store.close()
        used = table_bytes(url)
        recalls = measure_recalls(url, sizes)
        remember_ms, think_ms = measure_writes(url, options.writes)
    total = sum(used.values())
    print(f"{options.spaces:,} spaces, {turns:,} turns, {thoughts:,} thoughts written in {elapsed:.0f} s")
    print(f"look for pending spaces: {pending_ms:.1f} ms")
    for table, size in sorted(used.items(), key=lambda item: -item[1])[:8]:
        share = 100 * size / total
        print(f"  {table:16} {size / 1e6:10.1f} MB {share:5.1f}% {size / thoughts:8.0f} B/thought")
    print(f"database: {total / turns:,.0f} bytes a turn, {total / thoughts:,.0f} bytes a thought")
    print(f"CPU a turn (client): remember {remember_ms:.1f} ms, think with rules {think_ms:.1f} ms")
    for size, (cold, warm) in recalls.items():
        print(f"recall in a space of {size:5} turns: first {cold:7.1f} ms, later {warm:6.1f} ms")
    print(
        f"{THOUGHTS:,} thoughts of {USERS:,} users: {total / thoughts * THOUGHTS / 1e12:.1f} TB, "
        f"{turns / thoughts * THOUGHTS:,.0f} turns, "
        f"{turns / thoughts * THOUGHTS * think_ms / 1000 / 86400:,.0f} CPU days to think over all of them"
    )


if __name__ == "__main__":
    main()
