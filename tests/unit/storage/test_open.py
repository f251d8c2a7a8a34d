"""Opening files that are foreign, too new, damaged or inaccessible; they are left unchanged."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from tests.factories import EMBEDDER, NOW, add_thought, append_turns, new_turn

from thinkback.errors import CorruptStore, NewerSchema, StoreError, StoreUnavailable
from thinkback.storage.sql_files import Migration
from thinkback.storage.sqlite import SqliteStore, connection


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A closed database with some memories."""
    made = tmp_path / "memory.db"
    store = SqliteStore(str(made))
    store.bind_embedder(EMBEDDER)
    for n in range(20):
        add_thought(store, "ann", f"thought {n} " * 30)
    store.close()
    return made


def open_files() -> int:
    return len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0


def assert_refused(path: Path, error: type[StoreError], match: str) -> None:
    """A ThinkbackError is raised; the file is unchanged and no file handle leaks."""
    before, handles = path.read_bytes() if path.is_file() else b"", open_files()
    with pytest.raises(error, match=match):
        SqliteStore(str(path))
    assert (path.read_bytes() if path.is_file() else b"") == before
    assert open_files() == handles


def test_newer_schema_is_rejected(path: Path) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA user_version=99")
    assert_refused(path, NewerSchema, r"schema 99.*upgrade")


def test_database_of_another_application_is_rejected(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE notes (text)")
    assert_refused(path, CorruptStore, "another application")


def test_other_file_is_rejected(tmp_path: Path) -> None:
    path = tmp_path / "letter.txt"
    path.write_bytes(b"Dear Ann,\n" * 1000)
    assert_refused(path, CorruptStore, "not a thinkback database")


@pytest.mark.parametrize("kept", [10, 99, 600, 4096, 20_000])
def test_truncated_database_is_rejected(path: Path, kept: int) -> None:
    path.write_bytes(path.read_bytes()[:kept])
    assert_refused(path, CorruptStore, "damaged")


def test_check_finds_damaged_pages(path: Path) -> None:
    damaged = bytearray(path.read_bytes())
    pages = len(damaged) // 4096
    for page in range(2, pages):
        damaged[page * 4096 + 3 : page * 4096 + 40] = b"\xff" * 37
    path.write_bytes(damaged)
    problems: list[str] = []
    try:
        store = SqliteStore(str(path))
        try:
            problems = store.check()
        finally:
            store.close()
    except CorruptStore as error:
        problems = [str(error)]
    assert problems


def test_an_empty_file_becomes_a_store(tmp_path: Path) -> None:
    path = tmp_path / "empty.db"
    path.touch()
    store = SqliteStore(str(path))
    try:
        assert append_turns(store, "ann", "a")[0].id == 1
    finally:
        store.close()


def test_missing_folder_is_reported(tmp_path: Path) -> None:
    assert_refused(tmp_path / "nowhere" / "memory.db", StoreUnavailable, "is not a folder: create it")
    assert not (tmp_path / "nowhere").exists()


def test_folder_instead_of_file_is_reported(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    assert_refused(tmp_path / "folder", StoreUnavailable, "cannot be opened")


@pytest.fixture
def read_only(path: Path) -> Iterator[Path]:
    """The database in a folder that is read-only, even for root."""
    folder = path.parent.parent / f"{path.parent.name}-ro"
    folder.mkdir()
    try:
        for options in (["--bind"], ["-o", "remount,ro,bind"]):
            done = subprocess.run(["mount", *options, str(path.parent), str(folder)], check=False)
            if done.returncode:
                pytest.skip("a read-only mount is not permitted here")
        yield folder / path.name
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=False, capture_output=True)


def test_read_only_folder_is_reported(read_only: Path) -> None:
    assert_refused(read_only, StoreUnavailable, "cannot be opened for writing")
    assert_refused(read_only.parent / "new.db", StoreUnavailable, "cannot be opened for writing")


HOLD = """
import sys
from thinkback.storage.sqlite import SqliteStore
store = SqliteStore(sys.argv[1])
with store._db.write():
    print("held", flush=True)
    sys.stdin.read()
store.close()
"""

HOLD_WITH_SQLITE_ALONE = """
import sqlite3, sys
db = sqlite3.connect(sys.argv[1], isolation_level=None)
db.execute("BEGIN IMMEDIATE")
print("held", flush=True)
sys.stdin.read()
db.close()
"""


@pytest.mark.parametrize("program", [HOLD, HOLD_WITH_SQLITE_ALONE])
def test_lock_timeout(path: Path, program: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "LOCK_TIMEOUT_SECONDS", 0.2)
    store = SqliteStore(str(path))
    command = [sys.executable, "-c", program, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(StoreUnavailable, match=r"another process.*try again later"):
            store.append("ann", [new_turn("a")], NOW)
        assert len(store.turns("ann")) == 20  # readers and the writer do not block each other
        holder.communicate()
    assert append_turns(store, "ann", "now it goes")[0].id == 21
    store.close()


SECOND = "CREATE TABLE extra (x);\n-- the last statement has no semicolon\nINSERT INTO extra VALUES (7)"


def test_old_schema_is_migrated(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    known = (*connection.MIGRATIONS, Migration(len(connection.MIGRATIONS) + 1, SECOND))
    monkeypatch.setattr(connection, "MIGRATIONS", known)
    store = SqliteStore(str(path))
    assert len(store.turns("ann")) == 20
    store.close()
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA user_version").fetchone() == (len(known),)
        assert db.execute("SELECT x FROM extra").fetchall() == [(7,)]


@pytest.mark.parametrize(
    "script", ["CREATE TABLE extra (x); INSERT INTO nowhere VALUES (1);", "ROLLBACK; oops;"]
)
def test_failed_migration_is_rolled_back(path: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    known = connection.MIGRATIONS
    bad = Migration(len(known) + 1, script.replace("; ", ";\n"))
    with monkeypatch.context() as patch:
        patch.setattr(connection, "MIGRATIONS", (*known, bad))
        with pytest.raises(StoreError, match=r"nowhere|oops"):
            SqliteStore(str(path))
    store = SqliteStore(str(path))
    try:
        assert store.check() == []
        assert len(store.turns("ann")) == 20
    finally:
        store.close()
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA user_version").fetchone() == (len(known),)
        assert db.execute("SELECT count(*) FROM sqlite_schema WHERE name = 'extra'").fetchone() == (0,)
