"""Fixtures of the store contract: each test gets fresh stores."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.factories import EMBEDDER

from thinkback.protocols import Store
from thinkback.storage import connect

NewStore = Callable[[], Store]


@pytest.fixture(params=["sqlite file", "sqlite memory", "postgres"])
def new_store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[NewStore]:
    """Opens an empty store at each call."""
    opened: list[tuple[str, Store]] = []

    def open_one() -> Store:
        if request.param == "postgres":
            url = request.getfixturevalue("postgres_stores").take()
        else:
            url = ":memory:" if request.param == "sqlite memory" else str(tmp_path / f"{len(opened)}.db")
        opened.append((url, connect(url)))
        return opened[-1][1]

    yield open_one
    for url, store in opened:
        store.close()
        if request.param == "postgres":
            request.getfixturevalue("postgres_stores").give_back(url)


@pytest.fixture
def store(new_store: NewStore) -> Store:
    """An empty store that has its embedder."""
    made = new_store()
    made.bind_embedder(EMBEDDER)
    return made
