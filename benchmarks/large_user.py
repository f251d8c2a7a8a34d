"""One user with very many turns: recall latency, memory of the process, size of the file.

    python benchmarks/large_user.py                    100,000 turns
    python benchmarks/large_user.py --turns 10000 --embedder minilm

The database is built by `Memory.import_` with a small vocabulary of facts and distractors, then closed. The
figures come from a new process, as after a restart: the first recall loads the index of the space.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from thinkback.memory import Memory

CITIES = ["Lyon", "Oslo", "Porto", "Quito", "Turin", "Delhi", "Accra", "Osaka", "Leeds", "Basel"]
THINGS = [
    "boat",
    "garden",
    "violin",
    "bicycle",
    "novel",
    "bakery",
    "telescope",
    "greenhouse",
    "camera",
    "sailplane",
]
BATCH = 5000


def turn_text(number: int, rng: random.Random) -> str:
    thing, city = rng.choice(THINGS), rng.choice(CITIES)
    filler = " ".join(f"w{rng.randrange(20_000)}" for _ in range(rng.randrange(5, 40)))
    return f"My {thing} number {number} is in {city}. {filler}"


def build(path: Path, turns: int, embedder: str) -> float:
    """Write the database. Returns the seconds it took."""
    rng, started = random.Random(1), time.perf_counter()
    with Memory(path, user="ann", embedder=embedder, background=False) as memory:
        for first in range(0, turns, BATCH):
            numbers = range(first, min(first + BATCH, turns))
            memory.import_([json.dumps({"query": turn_text(n, rng)}) for n in numbers])
            print(f"built {numbers.stop:,} of {turns:,}", file=sys.stderr)
    return time.perf_counter() - started


def resident_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def measure(path: Path, turns: int, embedder: str, recalls: int) -> dict[str, float]:
    """Recall questions about known turns, in this process."""
    rng = random.Random(2)
    with Memory(path, user="ann", embedder=embedder, background=False) as memory:
        memory.for_user("nobody").recall("warm up the models")
        base = resident_mb()
        started = time.perf_counter()
        memory.recall("Where is my boat?")
        first_ms = (time.perf_counter() - started) * 1000
        times, found = [], 0
        for _ in range(recalls):
            number = rng.randrange(turns)
            thing = random.Random(number).choice(THINGS)
            started = time.perf_counter()
            result = memory.recall(f"Where is {thing} number {number}?")
            times.append((time.perf_counter() - started) * 1000)
            found += any(item.ref.id == number + 1 for item in result)
        memory.remember("A new turn after all these.")
        started = time.perf_counter()
        memory.recall("What is new?")
        after_write_ms = (time.perf_counter() - started) * 1000
        used = resident_mb()
    return {
        "first_recall_ms": first_ms,
        "recall_p50_ms": statistics.median(times),
        "recall_p95_ms": statistics.quantiles(times, n=20)[-1],
        "recall_after_write_ms": after_write_ms,
        "found": found / recalls,
        "resident_mb": used,
        "resident_before_mb": base,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--turns", type=int, default=100_000)
    parser.add_argument("--recalls", type=int, default=200)
    parser.add_argument("--embedder", default="hashing")
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.measure:
        print(json.dumps(measure(args.measure, args.turns, args.embedder, args.recalls)))
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "memory.db"
        seconds = build(path, args.turns, args.embedder)
        words = ["--turns", str(args.turns), "--recalls", str(args.recalls), "--embedder", args.embedder]
        done = subprocess.run(
            [sys.executable, __file__, *words, "--measure", str(path)],
            stdout=subprocess.PIPE,
            check=True,
            text=True,
        )
        size = path.stat().st_size / 2**20
    figures = json.loads(done.stdout)
    own = figures["resident_mb"] - figures["resident_before_mb"]
    print(f"turns of one user: {args.turns:,}, embedder {args.embedder}, built in {seconds:.0f} s")
    print(
        f"recall: p50 {figures['recall_p50_ms']:.1f} ms, p95 {figures['recall_p95_ms']:.1f} ms; the wanted "
        f"turn is among 5 in {figures['found']:.0%} of {args.recalls}"
    )
    print(
        f"first recall after opening: {figures['first_recall_ms']:.0f} ms; "
        f"recall after a write: {figures['recall_after_write_ms']:.0f} ms"
    )
    print(
        f"memory: {figures['resident_mb']:.0f} MB, {own:.0f} MB of it for this user, "
        f"peak {figures['peak_mb']:.0f} MB; file: {size:.0f} MB"
    )


if __name__ == "__main__":
    main()
