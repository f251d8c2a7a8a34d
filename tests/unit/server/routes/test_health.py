"""`/health`, `/ready` with the state of each part, and `/metrics`."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families
from starlette.applications import Starlette
from starlette.testclient import TestClient
from tests.conftest import OpenMemory

from thinkback.errors import ModelUnavailable, StoreUnavailable
from thinkback.memory import Memory
from thinkback.server.routes import health
from thinkback.server.services import Backlog, MemoryRegistry, Options, Services
from thinkback.server.telemetry import Telemetry
from thinkback.server.thread_pool import ThreadPool


@pytest.fixture
def memory(open_memory: OpenMemory) -> Memory:
    return open_memory()


@pytest.fixture
def services(memory: Memory) -> Iterator[Services]:
    pool = ThreadPool(2)
    yield Services(Options(), MemoryRegistry(memory), pool, Telemetry(), Backlog(memory.store.backlog))
    pool.close()


def client(services: Services) -> TestClient:
    return TestClient(Starlette(routes=health.create_routes(services)))


def parts(services: Services) -> tuple[int, dict[str, str]]:
    answer = client(services).get("/ready")
    return answer.status_code, answer.json()["parts"]


def test_health_is_ok_even_if_parts_fail(services: Services, memory: Memory) -> None:
    memory.close()
    services.stopping.set()
    assert client(services).get("/health").json() == {"status": "ok"}


def test_ready_if_all_parts_are_ready(services: Services) -> None:
    assert parts(services) == (200, {"database": "ok", "embedder": "ok", "serving": "ok"})


def test_stopping_server_is_not_ready(services: Services) -> None:
    services.stopping.set()
    assert parts(services) == (503, {"database": "ok", "embedder": "ok", "serving": "not ready"})


def raising(error: Exception) -> Callable[..., Any]:
    def fail(*_: object) -> None:
        raise error

    return fail


def test_failed_database_is_reported_without_path(
    services: Services, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory.store, "embedder", raising(StoreUnavailable("/secret/memory.db is locked")))
    answer = client(services).get("/ready")
    assert (answer.status_code, answer.json()["parts"]["database"]) == (503, "not ready")
    assert "secret" not in answer.text


def test_slow_database_is_not_ready(
    services: Services, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(health, "CHECK_TIMEOUT_SECONDS", 0.05)
    monkeypatch.setattr(memory.store, "embedder", lambda: time.sleep(1))
    started = time.monotonic()
    assert parts(services)[1]["database"] == "not ready"
    assert time.monotonic() - started < 1


def test_unloaded_embedder_is_retried(
    services: Services, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = client(services)
    with monkeypatch.context() as broken:
        broken.setattr(memory.embedder, "embed", raising(ModelUnavailable("no weights")))
        assert asked.get("/ready").status_code == 503
    assert asked.get("/ready").json()["parts"]["embedder"] == "ok"
    monkeypatch.setattr(memory.embedder, "embed", raising(AssertionError("asked again")))
    assert asked.get("/ready").status_code == 200


def test_metrics_include_pending_turns(services: Services, memory: Memory) -> None:
    memory.remember("I live in Lyon.")
    answer = client(services).get("/metrics")
    families = {family.name: family for family in text_string_to_metric_families(answer.text)}
    assert families["thinkback_pending_turns"].samples[0].value == 1
    assert answer.headers["content-type"].startswith("text/plain")
    assert "Lyon" not in answer.text


def test_metrics_work_without_database(services: Services) -> None:
    services.telemetry.count("thinkback_turns_late_total")
    without = replace(services, backlog=Backlog(raising(StoreUnavailable("locked"))))
    answer = client(without).get("/metrics")
    assert answer.status_code == 200
    assert "thinkback_turns_late_total 1.0" in answer.text
