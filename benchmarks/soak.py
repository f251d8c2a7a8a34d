"""Steady load on a server for a long time: does any process, or the file, grow without need?

    python benchmarks/soak.py                          30 minutes, 4 requests a second
    python benchmarks/soak.py --minutes 5 --rate 10

Clients write turns, recall, and erase their oldest session, so that the stored volume levels off after the
first part. Every interval prints the resident memory and open files of every process and the size of the
database and its WAL. The last lines compare the end with the state after a third of the time.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

USERS = 20
TURNS_PER_SESSION = 10
SESSIONS_KEPT = 3


@dataclass
class Load:
    """What the clients did, and how long requests took."""

    port: int
    counts: Counter[str] = field(default_factory=Counter)
    recall_ms: list[float] = field(default_factory=list)
    written: Counter[str] = field(default_factory=Counter)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def request(self, kind: str, path: str, body: object, user: str) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        started = time.perf_counter()
        try:
            headers = {"Content-Type": "application/json", "X-Thinkback-User": user}
            connection.request("POST", path, json.dumps(body), headers)
            response = connection.getresponse()
            response.read()
            outcome = kind if response.status < 400 else f"{kind} status {response.status}"
        except OSError as error:
            outcome = f"{kind} {type(error).__name__}"
        finally:
            connection.close()
        with self.lock:
            self.counts[outcome] += 1
            if kind == "recall":
                self.recall_ms.append((time.perf_counter() - started) * 1000)

    def step(self, rng: random.Random) -> None:
        user = f"user{rng.randrange(USERS)}"
        if rng.random() < 0.5:
            self.request("recall", "/v1/memory/recall", {"query": "Where is my boat?"}, user)
            return
        with self.lock:
            number = self.written[user]
            self.written[user] += 1
        session = number // TURNS_PER_SESSION
        text = f"My boat number {number} is in harbour {rng.randrange(50)}. " + "x" * rng.randrange(300)
        self.request("write", "/v1/memory/turns", {"query": text, "session": f"s{session}"}, user)
        if number % TURNS_PER_SESSION == 0 and session >= SESSIONS_KEPT:
            self.request("erase", "/v1/memory/erase", {"session": f"s{session - SESSIONS_KEPT}"}, user)


@dataclass(frozen=True)
class Sample:
    """The state of all processes and files at one moment."""

    seconds: float
    resident_mb: dict[str, float]
    open_files: dict[str, int]
    database_mb: float
    wal_mb: float


def processes(leader: int) -> dict[str, int]:
    """The processes of the server's group by name, for example `answering-1`."""
    found: dict[str, int] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                if os.getpgid(int(folder.name)) != leader:
                    continue
                role = "supervisor" if int(folder.name) == leader else (folder / "comm").read_text().strip()
            except (OSError, ProcessLookupError):
                continue
            found[f"{role} {folder.name}"] = int(folder.name)
    return dict(sorted(found.items(), key=lambda item: item[1]))


def take_sample(started: float, leader: int, database: Path) -> Sample:
    page = os.sysconf("SC_PAGE_SIZE")
    resident, files = {}, {}
    for name, pid in processes(leader).items():
        try:
            resident[name] = int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * page / 2**20
            files[name] = len(os.listdir(f"/proc/{pid}/fd"))
        except OSError:
            continue
    wal = Path(f"{database}-wal")
    return Sample(
        time.monotonic() - started,
        resident,
        files,
        database.stat().st_size / 2**20,
        wal.stat().st_size / 2**20 if wal.exists() else 0.0,
    )


def show(sample: Sample, load: Load) -> None:
    memory = ", ".join(
        f"{name} {value:.0f} MB/{sample.open_files.get(name, 0)} files"
        for name, value in sample.resident_mb.items()
    )
    print(
        f"{sample.seconds / 60:5.1f} min  file {sample.database_mb:.2f} MB, wal {sample.wal_mb:.2f} MB  "
        f"{memory}  {dict(load.counts)}",
        flush=True,
    )


def run_load(load: Load, rate: float, seconds: float, clients: int) -> list[threading.Thread]:
    """Clients that together send `rate` requests a second, for this time."""

    def run(number: int) -> None:
        rng, end = random.Random(number), time.monotonic() + seconds
        while time.monotonic() < end:
            started = time.monotonic()
            load.step(rng)
            time.sleep(max(0.0, clients / rate - (time.monotonic() - started)))

    threads = [threading.Thread(target=run, args=(number,)) for number in range(clients)]
    for thread in threads:
        thread.start()
    return threads


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--rate", type=float, default=4, help="requests a second")
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--interval", type=float, default=60, help="seconds between two lines")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder) / "memory.db"
        environment = {
            "THINKBACK_DB": str(database),
            "THINKBACK_HOME": folder,
            "THINKBACK_EMBEDDER": "hashing",
        }
        server = subprocess.Popen(
            [sys.executable, "-m", "thinkback", "serve", "--json", "--port", "0", "--log-level", "error"],
            stdout=subprocess.PIPE,
            env={**os.environ, **environment, "THINKBACK_EMBEDDER": "hashing"},
            start_new_session=True,
        )
        try:
            assert server.stdout is not None
            load = Load(int(urlsplit(json.loads(server.stdout.readline())["url"]).port or 0))
            time.sleep(5)
            started = time.monotonic()
            threads = run_load(load, args.rate, args.minutes * 60, args.clients)
            samples: list[Sample] = []
            while any(thread.is_alive() for thread in threads):
                time.sleep(min(args.interval, max(1.0, args.minutes * 60 / 3)))
                samples.append(take_sample(started, server.pid, database))
                show(samples[-1], load)
            summarise(samples, load)
            server.send_signal(signal.SIGTERM)
            print(f"exit code of the server: {server.wait(60)}")
        finally:
            if server.poll() is None:
                os.killpg(server.pid, signal.SIGKILL)
                server.wait()


def summarise(samples: list[Sample], load: Load) -> None:
    """Growth from a third of the time to the end."""
    early, late = samples[len(samples) // 3], samples[-1]
    print(f"from {early.seconds / 60:.1f} to {late.seconds / 60:.1f} min:")
    for name, after in late.resident_mb.items():
        before = early.resident_mb.get(name)
        files = late.open_files.get(name, 0) - early.open_files.get(name, 0)
        grown = "started meanwhile" if before is None else f"{after - before:+.1f} MB, {files:+d} open files"
        print(f"  {name}: {after:.1f} MB, {grown}")
    print(f"  file {late.database_mb:.2f} MB, {late.database_mb - early.database_mb:+.2f} MB")
    print(f"  wal  {late.wal_mb:.2f} MB, {late.wal_mb - early.wal_mb:+.2f} MB")
    half = len(load.recall_ms) // 2
    first, second = sorted(load.recall_ms[:half]), sorted(load.recall_ms[half:])
    if first:
        medians = (
            f"{first[len(first) // 2]:.1f} ms in the first half, {second[len(second) // 2]:.1f} ms after"
        )
        print(f"  recall p50 {medians}")
    failed = {name: count for name, count in load.counts.items() if " " in name}
    print(f"  requests {sum(load.counts.values())}, failed {sum(failed.values())} {failed or ''}")


if __name__ == "__main__":
    main()
