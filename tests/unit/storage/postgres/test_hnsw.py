"""HNSW in the database, with a threshold that small spaces reach."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import psycopg
import pytest
from benchmarks.postgres_data import sentence
from tests.factories import NOW, new_turn
from tests.postgres_server import requires_postgres

from thinkback.memory import Memory
from thinkback.storage.postgres import PostgresStore, hnsw
from thinkback.types import NearestRows

if TYPE_CHECKING:
    from thinkback.types import Vector

pytestmark = requires_postgres

TURNS = 150
LIMIT = 20


@pytest.fixture
def extension(postgres_server_url: str) -> None:
    with psycopg.connect(postgres_server_url, autocommit=True) as admin:
        admin.execute("CREATE EXTENSION IF NOT EXISTS vector SCHEMA public")


@pytest.fixture
def memory(postgres_url: str, extension: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[Memory]:
    monkeypatch.setattr(hnsw, "EXTEND_ROWS", 10)
    url = f"{postgres_url}&hnsw_min_rows={TURNS // 2}"
    with Memory.open(url, user="ann", embedder="hashing", background=False) as opened:
        yield opened


def fill(memory: Memory, turns: int = TURNS) -> None:
    memory.store.append("ann", [new_turn(sentence(number)) for number in range(turns)], NOW)


def store_of(memory: Memory) -> PostgresStore:
    assert isinstance(memory.store, PostgresStore)
    return memory.store


def nearest(memory: Memory, vector: Vector, user: str = "ann") -> NearestRows | None:
    return store_of(memory).nearest(user, "turn", vector, LIMIT, TURNS)


def query(memory: Memory, number: int) -> Vector:
    vector: Vector = memory.embedder.embed([sentence(number)])[0]
    return vector


def test_finds_what_an_exact_search_finds(memory: Memory) -> None:
    fill(memory)
    assert nearest(memory, query(memory, 0)) is None, "the index was not built yet"
    memory.organise()
    vectors = memory.embedder.embed([sentence(number) for number in range(TURNS)])
    found = wanted = 0
    for number in range(0, TURNS, 5):
        rows = nearest(memory, query(memory, number))
        assert rows is not None
        assert rows.covered == TURNS
        exact = set((np.argsort(-(vectors @ query(memory, number)), kind="stable")[:LIMIT] + 1).tolist())
        worst = min(float(vectors[id_ - 1] @ query(memory, number)) for id_ in exact)
        found += sum(float(vectors[id_ - 1] @ query(memory, number)) >= worst - 1e-6 for id_ in rows.ids)
        wanted += LIMIT
    assert found / wanted >= 0.95


def test_the_search_uses_the_index(memory: Memory, postgres_url: str) -> None:
    fill(memory)
    memory.organise()
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("SET thinkback.scope = 'all'")
        scans = (
            "SELECT sum(idx_scan) FROM pg_stat_user_indexes"
            " WHERE schemaname = current_schema() AND indexrelname ~ '^dense_[0-9]+_turn_'"
        )
        before: Any = connection.execute(scans).fetchone()
        assert nearest(memory, query(memory, 3)) is not None
        deadline = time.monotonic() + 20
        while connection.execute(scans).fetchone() == before and time.monotonic() < deadline:
            nearest(memory, query(memory, 3))
            time.sleep(0.2)  # statistics are reported with a delay
        assert connection.execute(scans).fetchone() != before


def test_recall_uses_it_and_finds_the_same(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(memory)
    questions = ["Where does Anna0 live?", "Who is allergic to nuts?", "What did I do in May 1995?"]
    before = [[item.ref for item in memory.recall(question).items] for question in questions]
    memory.organise()
    calls: list[NearestRows | None] = []
    search = PostgresStore.nearest

    def counted(store: PostgresStore, *arguments: object) -> NearestRows | None:
        calls.append(search(store, *arguments))  # type: ignore[arg-type]
        return calls[-1]

    monkeypatch.setattr(PostgresStore, "nearest", counted)
    assert [[item.ref for item in memory.recall(question).items] for question in questions] == before
    assert any(calls)


def test_rows_that_came_later_are_recalled(memory: Memory) -> None:
    fill(memory)
    memory.organise()
    turn = memory.remember("Zanzibar is where my kayak was stolen.")
    assert turn.ref in [item.ref for item in memory.recall("Where was my kayak stolen?").items]
    rows = nearest(memory, query(memory, 0))
    assert rows is not None
    assert rows.covered == TURNS
    fill(memory, 20)
    memory.organise()
    rows = nearest(memory, memory.embedder.embed([turn.query])[0])
    assert rows is not None
    assert turn.id in rows.ids


def test_erasing_removes_the_rows_and_the_index(memory: Memory, postgres_url: str) -> None:
    fill(memory)
    memory.organise()
    memory.store.erase("ann", turn=1, now=NOW)
    rows = nearest(memory, query(memory, 0))
    assert rows is not None
    assert 1 not in rows.ids
    memory.store.erase("ann", now=NOW)
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("SET thinkback.scope = 'all'")
        assert connection.execute("SELECT count(*) FROM dense_vectors").fetchone() == (0,)
        indexes = connection.execute(
            "SELECT count(*) FROM pg_indexes WHERE schemaname = current_schema() AND indexdef LIKE '%hnsw%'"
        ).fetchone()
    assert indexes == (0,)


def test_other_tenants_see_nothing(memory: Memory, postgres_url: str) -> None:
    fill(memory)
    memory.organise()
    other = store_of(memory).for_tenant("other")
    assert other.nearest("ann", "turn", query(memory, 0), LIMIT, TURNS) is None
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        for scope, count in (("tenant:other", 0), ("", 0), ("tenant:", TURNS)):
            connection.execute("SELECT set_config('thinkback.scope', %s, false)", (scope,))
            assert connection.execute("SELECT count(*) FROM dense_vectors").fetchone() == (count,)


def test_converting_vectors_removes_the_copies(memory: Memory, postgres_url: str) -> None:
    fill(memory)
    memory.organise()
    memory.store.reembed_begin("other")
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("SET thinkback.scope = 'all'")
        connection.execute("UPDATE entries SET embedder = 'other'")
        memory.store.reembed_finish("other")
        assert connection.execute("SELECT count(*) FROM dense_vectors").fetchone() == (0,)


def test_small_spaces_are_searched_in_memory(memory: Memory) -> None:
    fill(memory, 20)
    memory.organise()
    assert store_of(memory).nearest("ann", "turn", query(memory, 0), LIMIT, 20) is None
