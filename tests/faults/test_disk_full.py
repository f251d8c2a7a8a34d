"""A full disk: a clear error, no partial write, and normal operation when there is space again."""

from __future__ import annotations

import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.factories import EMBEDDER, NOW, add_thought, new_turn
from tests.faults.crash_child import Life
from tests.faults.invariants import assert_invariants

from thinkback.errors import DiskFull
from thinkback.storage.sqlite import SqliteStore, connection
from thinkback.types import Turn

BALLAST = 512 << 10


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 3 MB with a file `ballast` that can be deleted to free space."""
    folder = tmp_path / "disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", str(folder)]
    try:
        mounted = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        pytest.skip("there is no mount command here")
    if mounted.returncode:
        pytest.skip(f"a small tmpfs cannot be mounted here: {mounted.stderr.strip()}")
    try:
        (folder / "ballast").write_bytes(bytes(BALLAST))
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def fill(folder: Path) -> None:
    """Use up all remaining space."""
    with (folder / "rest").open("wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(4096))
        except OSError:
            return


def repeat(step: Callable[[], None]) -> None:
    for _ in range(5000):
        step()


@pytest.mark.parametrize("checkpoints", ["never", "after every commit"])
def test_a_full_disk_loses_nothing_that_was_acknowledged(
    small_disk: Path, checkpoints: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A checkpoint that fails after a commit must not be reported as a failed commit."""
    if checkpoints == "after every commit":
        monkeypatch.setattr(connection, "CHECKPOINT_INTERVAL_COMMITS", 1)
        monkeypatch.setattr(connection, "CHECKPOINT_WAL_BYTES", 0)
    kept: list[tuple[str, Turn]] = []
    store = SqliteStore(str(small_disk / "memory.db"))
    store.bind_embedder(EMBEDDER)
    life = Life(store, seed=3, acknowledge=lambda space, turn: kept.append((space, turn)))

    def everything_acknowledged_and_no_more() -> None:
        assert_invariants(store)
        found = sorted((space, turn.id, turn.query) for space in store.users() for turn in store.turns(space))
        assert found == sorted((space, turn.id, turn.query) for space, turn in kept)

    try:
        with pytest.raises(DiskFull, match="no space left"):
            repeat(life.step if checkpoints == "never" else lambda: life.append("ann"))
        everything_acknowledged_and_no_more()
        with pytest.raises(DiskFull):
            repeat(lambda: life.append("ann"))
        everything_acknowledged_and_no_more()
        (small_disk / "ballast").unlink()
        for _ in range(5):
            life.append("ann")
        everything_acknowledged_and_no_more()
    finally:
        store.close()
    store = SqliteStore(str(small_disk / "memory.db"))
    try:
        everything_acknowledged_and_no_more()
    finally:
        store.close()
    print(f"\ndisk full (checkpoints {checkpoints}): {len(kept)} acknowledged turns, all there, none more")


def test_creating_a_database_on_a_full_disk(small_disk: Path) -> None:
    fill(small_disk)
    with pytest.raises(DiskFull):
        SqliteStore(str(small_disk / "new.db"))
    (small_disk / "ballast").unlink()
    store = SqliteStore(str(small_disk / "new.db"))
    store.append("ann", [new_turn("hello")], NOW)
    store.close()


def test_opening_a_database_on_a_full_disk(small_disk: Path) -> None:
    path = str(small_disk / "memory.db")
    store = SqliteStore(path)
    store.append("ann", [new_turn("x" * 1000) for _ in range(50)], NOW)
    store.close()
    fill(small_disk)
    with pytest.raises(DiskFull):
        SqliteStore(path)
    (small_disk / "ballast").unlink()
    store = SqliteStore(path)
    try:
        assert_invariants(store)
        assert len(store.turns("ann")) == 50
    finally:
        store.close()


@pytest.mark.parametrize("free_pages", [0, 30, 100])
def test_erasure_on_a_full_disk_ends_as_its_result_says(small_disk: Path, free_pages: int) -> None:
    """After an error nothing is erased; after a result the rows are gone, and it says if bytes are left."""
    path = small_disk / "memory.db"
    store = SqliteStore(str(path))
    store.bind_embedder(EMBEDDER)
    add_thought(store, "ann", "a secret " * 1000)
    for n in range(12):
        add_thought(store, "ann", f"filler {n} " * 100)
    fill(small_disk)
    with (small_disk / "rest").open("rb+") as rest:
        rest.truncate((small_disk / "rest").stat().st_size - 4096 * free_pages)
    outcomes = Counter[str]()
    try:
        for turn in range(1, 12):
            try:
                result = store.erase("ann", turn=turn, now=NOW)
            except DiskFull as error:
                outcome, message = "nothing erased", str(error)
            else:
                outcome, message = "bytes pending" if result.bytes_pending else "done", result.pending_reason
            outcomes[outcome] += 1
            assert len(store.turns("ann", ids=[turn])) == (outcome == "nothing erased")
            assert message == {"done": "", "bytes pending": "the disk is full"}.get(outcome, message)
        (small_disk / "ballast").unlink()
        (small_disk / "rest").unlink()
        deadline = time.monotonic() + 30
        while store.finish_erasures():  # the thread finishes it, now that there is space
            assert time.monotonic() < deadline
            time.sleep(0.05)
        if store.turns("ann", ids=[1]):
            store.erase("ann", turn=1, now=NOW)
        assert_no_turn_is_half_erased(store)
        for file in small_disk.iterdir():
            assert b"a secret" not in file.read_bytes()
    finally:
        store.close()
    print(f"\nerasures with {free_pages} free pages: {dict(outcomes)}")
    assert outcomes["nothing erased" if free_pages == 0 else "bytes pending"]


def assert_no_turn_is_half_erased(store: SqliteStore) -> None:
    assert store.check() == []
    turns = {turn.id for turn in store.turns("ann")}
    assert {source.turn for thought in store.thoughts("ann") for source in thought.sources} == turns


LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000))
from tests.factories import NOW, new_turn
from thinkback.errors import DiskFull
from thinkback.storage.sqlite import SqliteStore
store = SqliteStore(sys.argv[1])
try:
    for n in range(10_000):
        store.append("ann", [new_turn(f"{n} " + "x" * 3000)], NOW)
        print(n, flush=True)
except DiskFull:
    print("full", flush=True)
assert store.check() == []
store.close()
"""


def test_a_file_size_limit_reads_as_a_full_disk(tmp_path: Path) -> None:
    path = str(tmp_path / "memory.db")
    done = subprocess.run([sys.executable, "-c", LIMITED, path], capture_output=True, text=True, check=True)
    *acknowledged, last = done.stdout.split()
    assert last == "full"
    assert len(acknowledged) > 10
    store = SqliteStore(path)
    try:
        assert store.check() == []
        assert [turn.query.split()[0] for turn in store.turns("ann")] == acknowledged
        store.append("ann", [new_turn("more")], NOW)
    finally:
        store.close()
