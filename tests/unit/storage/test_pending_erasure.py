"""An erasure whose bytes cannot be removed at once: what it reports, and who finishes it."""

from __future__ import annotations

import os
import sqlite3
import stat
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from tests.factories import EMBEDDER, NOW, add_thought, append_turns

from thinkback.errors import DiskFull, StoreError
from thinkback.memory import Memory
from thinkback.storage.sqlite import SqliteStore, connection, scrubber
from thinkback.storage.sqlite.connection import Connection

SECRET = b"canary-7391"


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A database with a secret in turn 1."""
    monkeypatch.setattr(connection, "SCRUB_WAIT_SECONDS", 0.1)
    monkeypatch.setattr(scrubber, "MAX_PAUSE_SECONDS", 0.2)
    made = tmp_path / "memory.db"
    with closing(SqliteStore(str(made))) as store:
        store.bind_embedder(EMBEDDER)
        add_thought(store, "ann", f"{SECRET.decode()} " * 40)
        for number in range(5):
            add_thought(store, "ann", f"thought {number} " * 30)
    return made


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Another connection with an open read transaction."""
    with closing(sqlite3.connect(path, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM turns").fetchone()
        yield


def remaining(path: Path) -> list[str]:
    return [file.name for file in path.parent.iterdir() if SECRET in file.read_bytes()]


def wait_until_scrubbed(path: Path, store: SqliteStore, seconds: float = 10) -> float:
    started = time.monotonic()
    while store._db.needs_scrub():
        assert time.monotonic() - started < seconds, remaining(path)
        time.sleep(0.02)
    return time.monotonic() - started


def test_erase_beside_a_reader_succeeds_and_says_that_bytes_are_pending(path: Path) -> None:
    with closing(SqliteStore(str(path))) as store:
        with reading(path):
            result = store.erase("ann", turn=1, now=NOW)
            assert (result.turns, result.thoughts, result.bytes_pending) == (1, 1, True)
            assert result.pending_reason == "another process is using the database"
            assert store.turns("ann", ids=[1]) == []
            assert remaining(path)
            assert store.finish_erasures()
        wait_until_scrubbed(path, store)  # without any further call
        assert remaining(path) == []
        assert not store.finish_erasures()


def test_erase_without_a_reader_is_done(path: Path) -> None:
    with closing(SqliteStore(str(path))) as store:
        result = store.erase("ann", turn=1, now=NOW)
        assert (result.bytes_pending, result.pending_reason) == (False, "")
        assert remaining(path) == []


def test_second_erasure_beside_a_reader_succeeds_too(path: Path) -> None:
    with closing(SqliteStore(str(path))) as store:
        with reading(path):
            assert store.erase("ann", turn=1, now=NOW).bytes_pending
            assert store.erase("ann", turn=2, now=NOW).bytes_pending
            assert store.erase_tenant("", NOW).bytes_pending
            assert store.users() == []
        wait_until_scrubbed(path, store)
        assert remaining(path) == []


def test_writers_are_not_blocked_while_an_erasure_waits(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A checkpoint that waits for a reader inside SQLite would hold the lock for its whole timeout."""
    monkeypatch.setattr(connection, "SCRUB_WAIT_SECONDS", 0.0)
    with closing(SqliteStore(str(path))) as store, reading(path):
        started = time.monotonic()
        assert store.erase("ann", turn=1, now=NOW).bytes_pending
        add_thought(store, "ann", "written meanwhile")
        assert time.monotonic() - started < 5


def test_pending_bytes_are_removed_by_the_next_process_once_the_reader_has_gone(path: Path) -> None:
    with reading(path):
        with closing(SqliteStore(str(path))) as store:
            assert store.erase("ann", turn=1, now=NOW).bytes_pending
        with closing(SqliteStore(str(path))) as store:  # opens without waiting for the reader
            assert store.finish_erasures()
        assert remaining(path)
    with closing(SqliteStore(str(path))) as store:
        assert not store.finish_erasures()
        assert remaining(path) == []


def test_disk_full_while_scrubbing_is_a_result_and_disk_full_while_deleting_an_error(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise DiskFull("no space left on the device")

    with closing(SqliteStore(str(path))) as store:
        with monkeypatch.context() as patch:
            patch.setattr(Connection, "mark_for_scrub", fail)
            with pytest.raises(DiskFull):
                store.erase("ann", turn=1, now=NOW)
            assert len(store.turns("ann", ids=[1])) == 1
        with monkeypatch.context() as patch:
            patch.setattr(Connection, "scrub", fail)
            result = store.erase("ann", turn=1, now=NOW)
            assert (result.bytes_pending, result.pending_reason) == (True, "the disk is full")
            assert store.turns("ann", ids=[1]) == []
        wait_until_scrubbed(path, store)
        assert remaining(path) == []


def test_erasure_committed_during_a_scrub_is_scrubbed_too(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mark of the second erasure must survive the end of the first scrub."""
    empty_wal, calls = Connection._empty_wal, []

    def erase_meanwhile(db: Connection, wait_seconds: float = 0) -> None:
        empty_wal(db, wait_seconds)
        calls.append(1)
        if len(calls) == 2:  # the first scrub is done but for its mark
            with db.write():
                db.run("turns.delete", (1, "[1]"))
                db.mark_for_scrub()

    with closing(SqliteStore(str(path))) as store:
        monkeypatch.setattr(Connection, "_empty_wal", erase_meanwhile)
        store.erase("ann", turn=2, now=NOW)
        assert store._db.needs_scrub()


def test_memory_reports_a_committed_erasure_even_if_the_database_fails_afterwards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Memory(tmp_path / "memory.db", embedder="hashing", background=False) as memory:
        memory.remember("I live in Lyon.")

        def fail(space: str) -> bool:
            raise StoreError("the database failed")

        monkeypatch.setattr(memory._indexer, "regroup_if_needed", fail)
        assert memory.erase(turn=1).turns == 1
        assert memory.turns() == []


def test_memory_reports_a_stored_turn_even_if_its_command_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Memory(tmp_path / "memory.db", embedder="hashing", background=False) as memory:

        def fail(*_: object) -> list[object]:
            raise StoreError("the database failed")

        monkeypatch.setattr(memory._commands, "run", fail)
        assert memory.remember("Always answer in German.").id == 1
        assert memory.remember_messages([{"role": "user", "content": "Forget that."}])[0].id == 2
        assert len(memory.turns()) == 2


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.skipif(os.name == "nt", reason="file modes of POSIX")
@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_all_files_of_a_database_are_private(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        with closing(SqliteStore(str(tmp_path / "memory.db"))) as store:
            append_turns(store, "ann", "a")
            names = {file.name: mode(file) for file in tmp_path.iterdir()}
            store.backup(str(tmp_path / "copy.db"))
    finally:
        os.umask(before)
    assert set(names) == {"memory.db", "memory.db-wal", "memory.db-shm", "memory.db-lock"}
    assert set(names.values()) == {0o600}
    assert mode(tmp_path / "copy.db") == 0o600


@pytest.mark.skipif(os.name == "nt", reason="file modes of POSIX")
def test_files_of_an_earlier_version_become_private(path: Path) -> None:
    for suffix in ("", "-lock"):
        os.chmod(f"{path}{suffix}", 0o644)
    Path(f"{path}-wal").touch(0o666)
    with closing(SqliteStore(str(path))):
        assert {mode(file) for file in path.parent.iterdir()} == {0o600}


@pytest.mark.skipif(os.name == "nt", reason="file modes of POSIX")
def test_files_of_other_applications_keep_their_mode(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE notes (text)")
    os.chmod(path, 0o644)
    with pytest.raises(StoreError):
        SqliteStore(str(path))
    assert mode(path) == 0o644
