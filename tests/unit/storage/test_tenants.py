"""Migration to tenants, and erasure of a tenant."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from tests.factories import EMBEDDER, NOW, add_thought, append_turns, index_all

from thinkback import api_keys
from thinkback.storage.sqlite import SqliteStore, connection

OLD = 4  # the last schema without tenants
INSERT = """
INSERT INTO spaces (name, last_turn, last_thought, last_action, last_entity, indexed_turn, indexed_thought,
                    version, epoch) VALUES (?, ?, 2, 3, 4, 5, 6, 7, 8)
"""
TURN = """
INSERT INTO turns (space, id, session, asker, answerer, at, recorded_at, recalled, query, response)
VALUES (3, 1, 's', 'user', 'assistant', 0, 0, '[]', 'said long ago', '')
"""


def old_file(path: Path) -> sqlite3.Connection:
    """A database with the old schema, still open."""
    db = sqlite3.connect(path, isolation_level=None)
    for migration in connection.MIGRATIONS[:OLD]:
        db.executescript(migration.script)
    db.execute(f"PRAGMA application_id={connection.APPLICATION_ID}")
    db.execute(f"PRAGMA user_version={OLD}")
    return db


def opened(path: Path) -> SqliteStore:
    store = SqliteStore(str(path))
    store.bind_embedder(EMBEDDER)
    return store


def test_migration_keeps_all_spaces(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    with closing(old_file(path)) as db:
        for n, name in enumerate(("ann", "bob", "cleo", "dan")):
            db.execute(INSERT, (name, n))
        db.execute("DELETE FROM spaces WHERE name IN ('bob', 'dan')")
        db.execute(TURN)
        before = db.execute("SELECT * FROM spaces ORDER BY id").fetchall()
    store = opened(path)
    try:
        assert store.users() == ["ann", "cleo"]
        assert store.for_tenant("acme").users() == []
        assert [turn.query for turn in store.turns("cleo")] == ["said long ago"]
        assert store.pending("cleo") == 1
        assert store.check() == []
    finally:
        store.close()
    with closing(sqlite3.connect(path)) as db:
        after = db.execute("SELECT * FROM spaces ORDER BY id").fetchall()
        assert [(row[0], *row[2:]) for row in after] == before
        assert {row[1] for row in after} == {""}
        assert db.execute("PRAGMA user_version").fetchone() == (len(connection.MIGRATIONS),)


@pytest.mark.parametrize("kept", [("ann",), ()])
def test_migration_does_not_reuse_space_ids(tmp_path: Path, kept: tuple[str, ...]) -> None:
    path = tmp_path / "old.db"
    with closing(old_file(path)) as db:
        for name in (*kept, "gone", "gone too"):
            db.execute(INSERT, (name, 1))
        db.execute("DELETE FROM spaces WHERE name LIKE 'gone%'")
    store = opened(path)
    try:
        append_turns(store, "new", "hello")
    finally:
        store.close()
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("SELECT id FROM spaces WHERE name = 'new'").fetchone() == (len(kept) + 3,)


def test_first_space_after_migration_of_an_empty_database(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    old_file(path).close()
    store = opened(path)
    try:
        append_turns(store, "ann", "hello")
        assert store.users() == ["ann"]
    finally:
        store.close()


def test_an_erased_tenant_leaves_no_byte_of_its_spaces_and_keys(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    store = opened(path)
    acme = store.for_tenant("CanaryTenant")
    for number in range(40):
        add_thought(acme, f"CanaryUser{number}", f"CanaryWord{number} " * 20)
        index_all(acme, f"CanaryUser{number}")
        add_thought(store, "ann", f"what stays {number} " * 20)
    _, key = api_keys.create_key("CanaryTenant", ["read"], NOW, label="CanaryLabel", user="CanaryUser1")
    _, other = api_keys.create_key("umbra", ["read"], NOW, label="of another")
    store.add_key(key)
    store.add_key(other)
    store.erase_tenant("CanaryTenant", NOW)
    for closed in (False, True):
        if closed:
            store.close()
        files = b"".join(file.read_bytes() for file in sorted(tmp_path.iterdir()))
        assert b"what stays 7" in files
        for needle in (b"Canary", b"canary", key.digest, key.id.encode()):
            assert needle not in files
        assert other.digest in files


def plan_of(store: SqliteStore, query: str, parameters: tuple[object, ...]) -> list[str]:
    return [
        row[3]
        for row in store._db._reader.execute(f"EXPLAIN QUERY PLAN {connection.QUERIES[query]}", parameters)
    ]


@pytest.mark.parametrize(
    ("query", "parameters"),
    [
        ("space.find", ("acme", "ann")),
        ("space.stamp", ("acme", "ann")),
        ("space.names", ("acme",)),
        ("queue.head", ("acme", "ann", 0)),
        ("queue.pending", ("acme", "ann")),
        ("queue.pending_of_tenant", ("acme",)),
        ("keys.find", ("one",)),
    ],
)
def test_lookups_use_indexes(tmp_path: Path, query: str, parameters: tuple[object, ...]) -> None:
    store = opened(tmp_path / "memory.db")
    try:
        assert not [step for step in plan_of(store, query, parameters) if step.startswith("SCAN")]
    finally:
        store.close()
