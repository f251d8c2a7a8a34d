"""What only PostgreSQL has: row-level security, the pool, migrations, notifications, erased bytes."""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from threading import Event, Thread
from urllib.parse import quote

import pytest
from tests.factories import EMBEDDER, NOW, add_thought, append_turns, index_entry, new_turn
from tests.postgres_server import is_available, new_schema_url, requires_postgres

from thinkback import storage
from thinkback.errors import (
    Conflict,
    DiskFull,
    InvalidInput,
    NewerSchema,
    StoreBusy,
    StoreError,
    StoreUnavailable,
)
from thinkback.memory import Memory
from thinkback.protocols import Store
from thinkback.storage.relational.index_rows import write_entry
from thinkback.types import RecalledItem, VersionStamp

if is_available():
    import psycopg

    from thinkback.storage.postgres import PostgresStore, scrub
    from thinkback.storage.postgres.connection import QUERIES, PostgresDatabase
    from thinkback.storage.postgres.migrate import MIGRATIONS
    from thinkback.storage.postgres.url import parse_url

pytestmark = requires_postgres

TEXTS = ("one", "two", "three")


@pytest.fixture
def store(postgres_url: str) -> Iterator[Store]:
    opened = storage.connect(postgres_url)
    opened.bind_embedder(EMBEDDER)
    yield opened
    opened.close()


def visible_turns(url: str, scope: str | None) -> list[str]:
    with psycopg.connect(url, autocommit=True) as connection:
        if scope is not None:
            connection.execute("SELECT set_config('thinkback.scope', %s, false)", (scope,))
        return [row[0] for row in connection.execute("SELECT query FROM turns ORDER BY query").fetchall()]


def test_a_connection_sees_the_rows_of_its_tenant_only(store: Store, postgres_url: str) -> None:
    append_turns(store.for_tenant("a"), "ann", "of a")
    append_turns(store.for_tenant("b"), "ann", "of b")
    append_turns(store, "ann", "of nobody")
    for scope in (None, "", "tenant", "another"):
        assert visible_turns(postgres_url, scope) == []
    assert visible_turns(postgres_url, "tenant:a") == ["of a"]
    assert visible_turns(postgres_url, "tenant:") == ["of nobody"]
    assert visible_turns(postgres_url, "all") == ["of a", "of b", "of nobody"]


def test_reembed_finish_counts_the_entries_of_a_writer_that_has_not_committed(store: Store) -> None:
    """The writer has checked the former embedder, so its entry is one to convert."""
    assert isinstance(store, PostgresStore)
    append_turns(store, "ann", "hello")
    store.reembed_begin("other")
    refused: list[Conflict] = []

    def finish() -> None:
        try:
            store.reembed_finish("other")
        except Conflict as error:
            refused.append(error)

    finisher = Thread(target=finish)
    with store._db.write():
        space_id = store._require_space("ann")
        store._check_embedder(store._db.run("meta.lock", ("embedder",)))
        finisher.start()
        finisher.join(0.5)
        write_entry(store._db, space_id, index_entry("turn", 1, "hello"), 1)
    finisher.join(30)
    assert len(refused) == 1
    assert store.embedder() == EMBEDDER


def test_a_row_of_another_tenant_cannot_be_written(store: Store, postgres_url: str) -> None:
    append_turns(store.for_tenant("a"), "ann", "of a")
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("SET thinkback.scope = 'tenant:b'")
        assert connection.execute("UPDATE turns SET query = 'changed'").rowcount == 0
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("INSERT INTO spaces (tenant, name) VALUES ('a', 'eve')")


def test_a_rollback_does_not_leave_the_scope_of_another_tenant(store: Store) -> None:
    append_turns(store.for_tenant("a"), "ann", "of a")
    other = store.for_tenant("b")
    other.load("ann", [], [], [])
    with pytest.raises(Conflict, match="already"):
        other.load("ann", [], [], [])
    assert [turn.query for turn in store.for_tenant("a").turns("ann")] == ["of a"]
    assert store.for_tenant("b").turns("ann") == []


def test_tenants_append_turns_on_one_connection(postgres_url: str) -> None:
    with closing(PostgresStore(postgres_url + "&pool_size=1")) as store:
        a, b = store.for_tenant("a"), store.for_tenant("b")
        for text in TEXTS:
            for tenant in (a, b):
                append_turns(tenant, "ann", f"{text} of {tenant.tenant}")
            with pytest.raises(StoreError):
                a.append("ann", [new_turn("not a text of PostgreSQL: \0")], NOW)
        for tenant in (a, b):
            found = [(turn.id, turn.query) for turn in tenant.turns("ann")]
            assert found == [(n, f"{text} of {tenant.tenant}") for n, text in enumerate(TEXTS, start=1)]


def test_a_turn_is_appended_once_after_the_server_closed_idle_connections(
    store: Store, postgres_url: str
) -> None:
    append_turns(store, "ann", "before")
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity"
            " WHERE application_name = 'thinkback' AND state = 'idle' AND datname = current_database()"
        )
    append_turns(store, "ann", "after")
    assert [turn.query for turn in store.turns("ann")] == ["before", "after"]


def test_an_appended_turn_is_returned_as_it_is_read(store: Store) -> None:
    recalled = (RecalledItem("turn", 3, 0.5, 0.4, 0.3, 1),)
    (turn,) = store.append("ann", [replace(new_turn("where?", "in Lyon"), recalled=recalled)], NOW)
    assert store.turns("ann") == [turn]


def test_an_exhausted_pool_is_a_named_error_after_a_bounded_wait(postgres_url: str) -> None:
    busy = PostgresStore(postgres_url + "&pool_size=1&pool_timeout=0.3")
    holding, done = Event(), Event()

    def hold() -> None:
        with busy._db.write():
            holding.set()
            done.wait(60)

    thread = Thread(target=hold)
    thread.start()
    holding.wait(60)
    started = time.monotonic()
    with pytest.raises(StoreBusy, match="all 1 connections") as caught:
        busy.turns("ann")
    assert caught.value.retry_after > 0
    assert time.monotonic() - started < 20
    done.set()
    thread.join()
    assert busy.turns("ann") == []
    busy.close()


def test_many_threads_share_few_connections(postgres_url: str) -> None:
    shared = PostgresStore(postgres_url + "&pool_size=2&pool_timeout=60")
    threads = [Thread(target=append_turns, args=(shared, f"user {n % 4}", f"turn {n}")) for n in range(40)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(len(shared.turns(user)) for user in shared.users()) == 40
    assert all([t.id for t in shared.turns(u)] == list(range(1, 11)) for u in shared.users())
    shared.close()


def test_the_same_key_in_many_threads_stores_one_turn(store: Store) -> None:
    found: list[int] = []

    def append() -> None:
        (turn,) = store.append("ann", [new_turn("hello", key="k")], NOW)
        found.append(turn.id)

    threads = [Thread(target=append) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [1] * 8
    assert len(store.turns("ann")) == 1


def test_processes_that_open_a_new_database_together_migrate_it_once(postgres_server_url: str) -> None:
    url = new_schema_url(postgres_server_url)
    opened: list[Store] = []
    threads = [Thread(target=lambda: opened.append(storage.connect(url))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(opened) == 4
    for each in opened:
        assert each.verify() == []
        each.close()


@pytest.mark.parametrize(("compatible_from", "accepted"), [(1, True), (1000, False)])
def test_a_newer_schema_is_accepted_if_it_is_compatible(
    postgres_server_url: str, compatible_from: int, accepted: bool
) -> None:
    url = new_schema_url(postgres_server_url)
    storage.connect(url).close()
    newer = len(MIGRATIONS) + 1
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            "UPDATE schema_version SET version = %s, compatible_from = %s", (newer, compatible_from)
        )
    if accepted:
        storage.connect(url).close()
    else:
        with pytest.raises(NewerSchema, match="nothing was changed"):
            storage.connect(url)


def test_a_worker_is_woken_by_a_new_turn(store: Store) -> None:
    woken = Event()

    def wait() -> None:
        store.wait_for_turns(60, Event())
        woken.set()

    thread = Thread(target=wait, daemon=True)
    thread.start()
    deadline = time.monotonic() + 50
    while not woken.is_set() and time.monotonic() < deadline:  # the first ones may come before it listens
        append_turns(store, "ann", "hello")
        woken.wait(0.5)
    assert woken.is_set()
    thread.join()


def test_backup_says_what_to_use(store: Store, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="pg_dump"):
        store.backup(str(tmp_path / "copy.db"))


def test_commands_for_files_say_what_to_use(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="pg_dump"):
        storage.restore(str(tmp_path / "copy.db"), "postgresql:///memory")


def test_a_server_that_does_not_answer_is_a_named_error(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match="not available") as caught:
        storage.connect(f"postgresql://ann:secret@/memory?host={tmp_path}&pool_timeout=0.3")
    assert "secret" not in str(caught.value)


def test_options_of_a_url() -> None:
    url = parse_url("postgresql://ann:secret@db:5433/memory?sslmode=require&pool_size=3&pool_timeout=0.5")
    assert url.conninfo == "postgresql://ann:secret@db:5433/memory?sslmode=require"
    assert (url.name, url.pool_size, url.pool_timeout) == ("postgresql://db:5433/memory", 3, 0.5)
    assert parse_url(
        "postgresql:///memory?read_url=postgresql%3A%2F%2Freplica%2Fmemory"
    ).read_url == parse_url("postgresql://replica/memory")
    for bad in ("pool_size=0", "pool_size=x", "pool_timeout=0", "pool_timeout=1e9"):
        with pytest.raises(InvalidInput, match="pool_"):
            parse_url(f"postgresql:///memory?{bad}")


def test_only_recall_reads_from_the_replica(postgres_url: str, postgres_server_url: str) -> None:
    """The replica here is another schema, so it never catches up."""
    behind = new_schema_url(postgres_server_url)
    storage.connect(behind).close()  # creates the tables
    url = f"{postgres_url}&read_url={quote(behind, safe='')}"
    with Memory.open(url, embedder="hashing", background=False, user="ann") as memory:
        memory.remember("My sister Anna lives in Berlin.")
        memory.post_think()
        assert [turn.query for turn in memory.store.turns("ann", ids=[1])] == [
            "My sister Anna lives in Berlin."
        ]
        ids = [thought.id for thought in memory.thoughts()]
        assert ids
        assert [thought.id for thought in memory.store.thoughts("ann", ids=ids)] == ids
        stamp = memory.store.stamp("ann")
        assert stamp.version
        assert memory.store.delta("ann", VersionStamp()).stamp == stamp
        assert memory.store.hashing("ann") is not None
        assert any(line for line in memory.export())
        recalling = memory.store.for_recall()
        assert recalling.stamp("ann") == recalling.delta("ann", VersionStamp()).stamp == VersionStamp()
        assert recalling.hashing("ann") is None
        assert not list(memory.recall("Where does Anna live?"))


def test_recall_from_a_replica_that_has_caught_up(postgres_url: str) -> None:
    """The replica here is the same database through sessions that cannot write."""
    replica = postgres_url.replace("search_path", "default_transaction_read_only%3Don%20-csearch_path", 1)
    url = f"{postgres_url}&read_url={quote(replica, safe='')}"
    with Memory.open(url, embedder="hashing", background=False, user="ann") as memory:
        for city in ("Berlin", "Lyon"):
            memory.remember(f"My sister Anna lives in {city}.")
            found = [item.text for item in memory.recall("Where does Anna live?")]
            assert any(city in text for text in found)
        memory.erase(user="ann")
        assert not list(memory.recall("Where does Anna live?"))


def test_without_a_replica_recall_uses_the_same_store(store: Store) -> None:
    assert store.for_recall() is store


def test_verify_returns_the_damage_that_ends_its_transaction(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    append_turns(store, "ann", "hello")
    damaged = QUERIES["verify.counters"]._replace(text="SELECT count(*) FROM lost_table")
    monkeypatch.setitem(QUERIES, "verify.counters", damaged)
    first, second = store.verify()
    assert first.startswith("verify.counters cannot be checked")
    assert second.startswith("the rest was not checked")


def files_with(text: str, server_url: str) -> list[Path]:
    """The relation files that contain a text, after a checkpoint."""
    with psycopg.connect(server_url, autocommit=True) as connection:
        connection.execute("CHECKPOINT")
        row = connection.execute("SHOW data_directory").fetchone()
    folder = Path(row[0]) if row else Path()
    if not os.access(folder / "base", os.R_OK | os.X_OK):
        pytest.skip("the files of the server cannot be read")
    found = []
    for path in (folder / "base").rglob("*"):
        with suppress(FileNotFoundError):
            if path.is_file() and text.encode() in path.read_bytes():
                found.append(path)
    return found


@pytest.mark.parametrize("whole_space", [True, False])
def test_no_byte_of_an_erased_turn_is_left_in_the_relation_files(
    postgres_url: str, postgres_server_url: str, whole_space: bool
) -> None:
    store = storage.connect(postgres_url)
    store.bind_embedder(EMBEDDER)
    canary = f"canary{secrets.token_hex(8)}"
    append_turns(store, "bob", "I like figs")
    store.append("ann", [new_turn(f"{canary} I like it", session=canary, key=canary)], NOW)
    store.set_metadata("ann", [1], {"note": canary})
    add_thought(store, "ann", canary)
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("SET thinkback.scope = 'all'")
        connection.execute("ANALYZE")
        connection.execute("UPDATE turns SET attempts = 0")  # leaves an old version of each row
    assert files_with(canary, postgres_server_url)
    if whole_space:
        erased = store.erase("ann", now=NOW)
    else:
        for turn in store.turns("ann"):
            erased = store.erase("ann", turn=turn.id, now=NOW)
    assert not erased.bytes_pending, erased.pending_reason
    assert files_with(canary, postgres_server_url) == []
    assert not store.finish_erasures()
    assert len(store.turns("bob")) == 1
    store.close()


def test_an_erasure_waits_for_a_transaction_of_another_role(
    store: Store, postgres_server_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """This role does not see what other roles do, only that they do something."""
    monkeypatch.setattr(scrub, "WAIT_SECONDS", 0.2)
    append_turns(store, "ann", "hello")
    with psycopg.connect(postgres_server_url) as other:
        other.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
        other.execute("SELECT 1")
        erased = store.erase("ann", now=NOW)
        assert erased.bytes_pending
        assert erased.pending_reason == "another transaction can still see the deleted rows"
    monkeypatch.setattr(scrub, "RETRY_SECONDS", 0.0)
    assert store.erasures_pending()
    assert store.erasures_pending()  # looking removes nothing


def test_the_reason_why_bytes_are_pending_is_that_of_the_error(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(self: object, statement: str, **_: object) -> None:
        raise DiskFull("no space left")

    monkeypatch.setattr(PostgresDatabase, "autocommit", fail)
    append_turns(store, "ann", "hello")
    assert store.erase("ann", now=NOW).pending_reason == "no space left"


def test_a_large_database_is_not_rewritten_while_in_use(postgres_url: str) -> None:
    store = storage.connect(postgres_url + "&vacuum_limit_mb=0")
    append_turns(store, "ann", "I like figs")
    erased = store.erase("ann", now=NOW)
    assert erased.bytes_pending
    assert "VACUUM FULL" in (erased.pending_reason or "")
    assert store.finish_erasures()
    assert store.turns("ann") == []
    store.close()
