"""Shared fixtures: a clock that stands still, and memories without models."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from tests import postgres_server

from thinkback.memory import Memory

settings.register_profile("busy", deadline=None)  # no deadlines: the machine may be busy
settings.load_profile("busy")

OpenMemory = Callable[..., Memory]

# Slow tests that run the same code very often, or in other processes. Measuring their coverage would take
# minutes and add little, so `make test-all` and CI run them without it.
REPEATING = (
    "acceptance/test_server_",
    "acceptance/test_tui.py",
    "contract/test_llms.py",
    "contract/test_store_properties.py",
    "faults/",
    "lab/test_consult_",
    "lab/test_determinism.py",
    "lab/test_recorded_thinking.py",
    "lab/test_scenarios_regression.py",
    "unit/llms/test_local.py",
    "unit/server/processes/",
)

# Tests that take more than a few seconds: they start processes, run a local model, or repeat many times.
# `make test` leaves them out; `make test-all` and CI run them. Single slow tests are marked where they stand.
SLOW = (
    *REPEATING,
    "acceptance/",
    "lab/test_record.py",
    "lab/test_report.py",
    "lab/test_runs.py",
    "lab/test_training.py",
    "lab/test_worlds_",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    root = Path(__file__).parent
    for item in items:
        path = item.path.relative_to(root).as_posix()
        if path.startswith(SLOW) or "linear" in item.name:
            item.add_marker(pytest.mark.slow)
        if path.startswith(REPEATING) or "linear" in item.name:
            item.add_marker(pytest.mark.repeating)


@pytest.fixture(scope="session")
def postgres_server_url() -> Iterator[str]:
    """The URL of the PostgreSQL server of this session; tests that need it are skipped without one."""
    if not postgres_server.is_available():
        pytest.skip(postgres_server.MISSING)
    with postgres_server.running_server() as url:
        yield url


@pytest.fixture(scope="session")
def postgres_stores(postgres_server_url: str) -> postgres_server.EmptyStores:
    return postgres_server.EmptyStores(postgres_server_url)


@pytest.fixture
def postgres_url(postgres_stores: postgres_server.EmptyStores) -> Iterator[str]:
    """The URL of an empty store."""
    url = postgres_stores.take()
    yield url
    postgres_stores.give_back(url)


class FakeClock:
    """A clock that only moves by `advance`."""

    def __init__(self) -> None:
        self.now = datetime(2024, 5, 1, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def advance(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def open_memory(tmp_path: Path, clock: FakeClock) -> Iterator[OpenMemory]:
    """Opens memories on one file, by default without a model and without a background thread."""
    opened: list[Memory] = []

    def open_one(path: str | Path = tmp_path / "memory.db", **options: Any) -> Memory:
        chosen = {"embedder": "hashing", "background": False, "clock": clock, **options}
        opened.append(Memory.open(path, **chosen))
        return opened[-1]

    yield open_one
    for memory in opened:
        memory.close()


@pytest.fixture
def memory(open_memory: OpenMemory) -> Memory:
    return open_memory(":memory:")
