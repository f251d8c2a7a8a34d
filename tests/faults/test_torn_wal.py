"""Torn or corrupted WAL files: the store opens in an earlier committed state and is writable.

THINKBACK_TORN_WALS sets their number.
"""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.factories import EMBEDDER, append_turns
from tests.faults.crash_child import Life
from tests.faults.fault_seed import FAULT_SEED
from tests.faults.invariants import assert_invariants

from thinkback.protocols import Store
from thinkback.storage.sqlite import SqliteStore
from thinkback.storage.sqlite.connection import Connection
from thinkback.types import VersionStamp

TAILS = int(os.environ.get("THINKBACK_TORN_WALS", "200"))
Damage = Callable[[bytes, random.Random], bytes]


def cut(wal: bytes, rng: random.Random) -> bytes:
    return wal[: rng.randrange(len(wal))]


def flip(wal: bytes, rng: random.Random) -> bytes:
    damaged = bytearray(wal)
    for _ in range(rng.choice((1, 1, 8))):
        damaged[rng.randrange(len(damaged))] ^= 1 << rng.randrange(8)
    return bytes(damaged)


def garbage_tail(wal: bytes, rng: random.Random) -> bytes:
    start = rng.randrange(len(wal))
    return wal[:start] + rng.randbytes(len(wal) - start)


def garbage_after(wal: bytes, rng: random.Random) -> bytes:
    return wal + rng.randbytes(rng.randrange(1, 10_000))


def zero_tail(wal: bytes, rng: random.Random) -> bytes:
    start = rng.randrange(len(wal))
    return wal[:start] + bytes(len(wal) - start)


def old_frames_after(wal: bytes, rng: random.Random) -> bytes:
    """Old frames that were not overwritten: a torn write in a reused WAL."""
    start = 32 + 4120 * rng.randrange((len(wal) - 32) // 4120)
    return wal[:start] + wal[32 : rng.randrange(32, len(wal))]


DAMAGES: tuple[Damage, ...] = (cut, flip, garbage_tail, garbage_after, zero_tail, old_frames_after)


def state(store: Store) -> str:
    """Everything a reader can see in a store."""
    return repr(
        [
            (
                space,
                store.turns(space),
                store.thoughts(space, current=False),
                store.journal(space),
                [
                    (e.kind, e.id, e.group, e.vector.tobytes())
                    for e in store.delta(space, VersionStamp()).entries
                ],
                store.failures(space),
            )
            for space in store.users()
        ]
    )


@dataclass
class Lived:
    """Files of a store before and after a checkpoint, and all its committed states."""

    files: list[tuple[bytes, bytes]]
    states: set[str]


@pytest.fixture
def lived(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lived:
    path, states, write = tmp_path / "lived.db", set(), Connection.write

    @contextmanager
    def noted_write(db: Connection, **options: bool) -> Iterator[None]:
        with write(db, **options):
            yield
        states.add(state(store))

    store = SqliteStore(str(path))
    states.add(state(store))
    with monkeypatch.context() as patch:
        patch.setattr(Connection, "write", noted_write)
        store.bind_embedder(EMBEDDER)
        life, files = Life(store, seed=5 + FAULT_SEED), []
        for _ in range(2):
            for _ in range(25):
                life.step()
            files.append((path.read_bytes(), Path(f"{path}-wal").read_bytes()))
            store._db._empty_wal()
    store.close()
    return Lived(files, states)


@pytest.mark.slow
@pytest.mark.timeout(max(300, TAILS))
def test_torn_wal_opens_in_an_earlier_committed_state(
    lived: Lived, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rng, found, damages = random.Random(11 + FAULT_SEED), Counter[str](), Counter[str]()
    for number in range(TAILS):
        damage = DAMAGES[number % len(DAMAGES)]
        database, wal = lived.files[number // len(DAMAGES) % 2]
        path = tmp_path / f"{number}.db"
        path.write_bytes(database)
        Path(f"{path}-wal").write_bytes(damage(wal, rng))
        store = SqliteStore(str(path))
        try:
            assert_invariants(store)
            now = state(store)
            assert now in lived.states, damage.__name__
            before = len(store.turns("ann"))
            assert append_turns(store, "ann", "still here")[0].id == before + 1
        finally:
            store.close()
        found[now] += 1
        damages[damage.__name__] += 1
        for file in tmp_path.glob(f"{number}.db*"):
            file.unlink()
    with capsys.disabled():
        print(
            f"\ntorn WAL tails {TAILS} ({', '.join(damages)}): every one opened as one of the "
            f"{len(lived.states)} states that had been committed, {len(found)} of them were seen"
        )
    assert len(found) > min(20, TAILS // 20)
