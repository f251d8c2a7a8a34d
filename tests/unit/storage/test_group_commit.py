"""Group commit: many threads, few commits, separate results and errors."""

from __future__ import annotations

import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest

from thinkback.errors import Conflict, DiskFull, StoreError, StoreUnavailable
from thinkback.storage.sqlite import SqliteStore
from thinkback.storage.sqlite.group_commit import _WriteRequest
from thinkback.types import NewTurn, Turn

NOW = datetime(2024, 5, 1, tzinfo=UTC)
MANY = 24


def said(text: str, key: str | None = None) -> NewTurn:
    return NewTurn(query=text, at=NOW, key=key)


@pytest.fixture
def store(tmp_path: Path) -> SqliteStore:
    return SqliteStore(str(tmp_path / "memory.db"))


def at_once(store: SqliteStore, works: list[tuple[str, list[NewTurn]]]) -> list[list[Turn] | Exception]:
    """Start all writes while the database is locked, so that they share the next commit."""
    with ThreadPoolExecutor(len(works)) as pool, store._db.write():
        asked = [pool.submit(store.append, space, items, NOW) for space, items in works]
        until = threading.Event()
        while len(store._group_commit._waiting) < len(works):
            assert not until.wait(0.005)
        store._db.run("meta.delete", ("nothing",))
    return [each.exception() or each.result() for each in asked]  # type: ignore[misc]


def test_concurrent_appends_share_one_commit(store: SqliteStore) -> None:
    before = store._db._commits
    done = at_once(store, [(f"u{n % 3}", [said(f"text {n}")]) for n in range(MANY)])
    assert store._db._commits == before + 2  # the lock's own commit, and one for all writes
    for number, turns in enumerate(done):
        assert isinstance(turns, list)
        assert [turn.query for turn in turns] == [f"text {number}"]
    for space in ("u0", "u1", "u2"):
        assert [turn.id for turn in store.turns(space)] == list(range(1, MANY // 3 + 1))
    store.close()


def test_conflict_rolls_back_only_its_own_request(store: SqliteStore) -> None:
    store.append("u", [said("first", key="k")], NOW)
    works = [
        ("u", [said("good")]),
        ("u", [said("half"), said("other words", key="k")]),
        ("u", [said("first", key="k")]),
    ]
    good, bad, again = at_once(store, works)
    assert isinstance(good, list)
    assert isinstance(bad, Conflict)
    assert isinstance(again, list)
    assert again[0].id == 1
    assert sorted(turn.query for turn in store.turns("u")) == ["first", "good"]
    store.close()


def test_failed_commit_fails_all_requests(store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    writer = store._db._writer

    class Full:
        def __getattr__(self, name: str) -> object:
            return getattr(writer, name)

        def execute(self, statement: str, *rest: object) -> object:
            if statement == "COMMIT" and "SELECT" not in statement and failing:
                raise sqlite3.OperationalError("disk I/O error")
            return writer.execute(statement, *rest)  # type: ignore[arg-type]

    failing: list[int] = []
    with monkeypatch.context() as patch:
        patch.setattr(store._db, "_writer", Full())
        store.append("u", [said("before")], NOW)
        failing.append(1)
        with ThreadPoolExecutor(4) as pool:
            asked = [pool.submit(store.append, "u", [said(f"lost {n}")], NOW) for n in range(4)]
            assert all(isinstance(each.exception(), StoreError) for each in asked)
        failing.clear()
        store.append("u", [said("after")], NOW)
    assert [turn.query for turn in store.turns("u")] == ["before", "after"]
    store.close()


def test_many_threads_lose_nothing(store: SqliteStore) -> None:
    with ThreadPoolExecutor(16) as pool:
        done = list(pool.map(lambda n: store.append("u", [said(f"t{n}")], NOW)[0], range(400)))
    assert sorted(turn.id for turn in done) == list(range(1, 401))
    assert {turn.query for turn in store.turns("u")} == {f"t{n}" for n in range(400)}
    assert not store._group_commit._has_leader
    store.close()


def test_interrupted_leader_wakes_the_next(store: SqliteStore) -> None:
    """Ctrl-C reaches a waiting thread after it was told to lead."""
    together = store._group_commit
    gone, next_ = _WriteRequest(lambda: None), _WriteRequest(lambda: None)
    together._waiting, together._has_leader = [gone, next_], True
    gone.ready.set()
    together._cancel(gone)
    assert next_.ready.is_set()
    together._waiting = [next_]
    together._cancel(next_)
    assert not together._has_leader
    assert store.append("u", [said("after")], NOW)[0].id == 1
    store.close()


def test_full_disk_fails_only_the_large_request(store: SqliteStore) -> None:
    pages = store._db._writer.execute("PRAGMA page_count").fetchone()[0]
    store._db._writer.execute(f"PRAGMA max_page_count={pages + 60}")
    works = [("u", [said("small")]), ("u", [said("x" * 3_000_000)]), ("u", [said("small too")])]
    first, large, last = at_once(store, works)
    assert isinstance(large, DiskFull)
    assert isinstance(first, list)
    assert isinstance(last, list)
    assert sorted(turn.query for turn in store.turns("u")) == ["small", "small too"]
    store.close()


def test_interrupt_concerns_only_its_thread(store: SqliteStore) -> None:
    def interrupted() -> None:
        raise KeyboardInterrupt

    other = _WriteRequest(lambda: None)
    store._group_commit._waiting = [other]
    with pytest.raises(KeyboardInterrupt):
        store._group_commit.write(interrupted)
    assert isinstance(other.error, StoreUnavailable)
    assert store.append("u", [said("after")], NOW)[0].id == 1
    store.close()
