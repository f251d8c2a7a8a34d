"""Fixtures of the store contract: each test gets fresh stores."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.factories import EMBEDDER

from thinkback.protocols import Store
from thinkback.storage import connect

NewStore = Callable[[], Store]
MAX_OPEN = 4
NO_REWRITING = "&vacuum_limit_mb=0"  # of tables after an erasure; it is slow and has its own tests


@pytest.fixture(params=["sqlite file", "sqlite memory", "postgres"])
def new_store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[NewStore]:
    """Opens an empty store at each call."""
    opened: list[tuple[str, Store]] = []

    def open_one() -> Store:
        if request.param == "postgres":
            if len(opened) >= MAX_OPEN:  # a property test opens new ones for each example
                close(*opened.pop(0))
            url = request.getfixturevalue("postgres_stores").take()
        else:
            url = ":memory:" if request.param == "sqlite memory" else str(tmp_path / f"{len(opened)}.db")
        opened.append((url, connect(url + NO_REWRITING if request.param == "postgres" else url)))
        return opened[-1][1]

    def close(url: str, store: Store) -> None:
        store.close()
        if request.param == "postgres":
            request.getfixturevalue("postgres_stores").give_back(url)

    yield open_one
    for url, store in opened:
        close(url, store)


@pytest.fixture
def store(new_store: NewStore) -> Store:
    """An empty store that has its embedder."""
    made = new_store()
    made.bind_embedder(EMBEDDER)
    return made
