"""Bulk work without a cluster: tasks run in this process."""

from __future__ import annotations

import os
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any, cast

import pytest
from tests.acceptance.cli_runner import run

from thinkback.bulk import thinking
from thinkback.bulk.cluster import Cluster, import_ray
from thinkback.bulk.encoding import FIRST_TASK_TEXTS, ClusterEncoder
from thinkback.bulk.tasks import ThinkReport
from thinkback.bulk.thinking import RequestBudget, think_users
from thinkback.cli.cluster import complete_ray_options
from thinkback.config import Settings
from thinkback.embedders.hashing import HashingEmbedder
from thinkback.errors import InvalidInput, MissingExtra
from thinkback.indexing import LocalEncoder
from thinkback.think.leases import LEASE_SECONDS

SETTINGS = Settings(db="", embedder="hashing")
RAY_VARIABLES = (
    "RAY_AUTH_MODE",
    "RAY_AUTH_TOKEN",
    "RAY_AUTH_TOKEN_PATH",
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER",
    "RAY_USAGE_STATS_ENABLED",
    "RAY_DEDUP_LOGS_SKIP_REGEX",
)


class InProcess:
    """Stands for a cluster; counts the tasks."""

    def __init__(self) -> None:
        self.calls: list[Sequence[Any]] = []

    def map(self, function: Callable[..., Any], calls: Iterable[Sequence[Any]]) -> Iterator[Any]:
        for arguments in calls:
            self.calls.append(arguments)
            yield function(*arguments)


@pytest.mark.parametrize("terms", [True, False])
def test_encoder_gives_the_results_of_one_process_in_order(terms: bool) -> None:
    batches = [[(f"text {batch} {number}",) for number in range(1 + batch % 60)] for batch in range(100)]
    cluster = InProcess()
    encoder = ClusterEncoder(cast("Cluster", cluster), SETTINGS, embedder="hashing", name="hashing-256")
    expected = list(LocalEncoder(HashingEmbedder()).encode(batches, terms=terms))
    found = list(encoder.encode(batches, terms=terms))
    assert [each.vectors.tolist() for each in found] == [each.vectors.tolist() for each in expected]
    assert [[t.tolist() for t in each.terms] for each in found] == [
        [t.tolist() for t in each.terms] for each in expected
    ]
    assert [texts for call in cluster.calls for texts in call[2]] == batches
    sizes = [sum(map(len, call[2])) for call in cluster.calls]
    assert sizes[0] <= FIRST_TASK_TEXTS
    assert max(sizes) > FIRST_TASK_TEXTS  # this embedder is fast: tasks grow


def test_nodes_that_encode_get_no_database() -> None:
    cluster = InProcess()
    settings = Settings(db="postgresql://me:secret@db/x", embedder="hashing")
    list(
        ClusterEncoder(cast("Cluster", cluster), settings, embedder="hashing", name="hashing-256").encode(
            [[("a",)]]
        )
    )
    assert "secret" not in repr(cluster.calls)


def test_budget_spreads_requests() -> None:
    budget = RequestBudget(per_minute=60, now=0.0)
    assert budget.reserve(10, now=0.0)
    assert not budget.reserve(1, now=9.9)
    budget.correct(10, 4)
    assert budget.reserve(1, now=4.0)
    budget.correct(1, 3)
    assert not budget.reserve(1, now=6.9)
    assert budget.reserve(1, now=7.0)


class ScriptedCluster:
    """A cluster whose tasks give the next report of their user; time passes while it waits."""

    def __init__(self, reports: dict[str, list[ThinkReport]], monkeypatch: pytest.MonkeyPatch) -> None:
        self.reports = {user: deque(script) for user, script in reports.items()}
        self.submitted: list[tuple[float, str, int]] = []
        self.now = 0.0
        monkeypatch.setattr(time, "monotonic", lambda: self.now)

    def capacity(self, cpus: float) -> int:
        return 2

    def submit(
        self, function: object, settings: Settings, user: str, limit: int, *, cpus: float
    ) -> tuple[int, str]:
        self.submitted.append((self.now, user, limit))
        return len(self.submitted), user

    def wait(self, tasks: Sequence[object], seconds: float) -> list[object]:
        self.now += seconds
        return list(tasks[:1])

    def result(self, task: tuple[int, str]) -> ThinkReport:
        script = self.reports[task[1]]
        return script.popleft() if len(script) > 1 else script[0]


def run_scripted(
    reports: dict[str, list[ThinkReport]],
    pending: dict[str, int],
    monkeypatch: pytest.MonkeyPatch,
    rate: float | None = None,
) -> tuple[ScriptedCluster, list[tuple[int, int]]]:
    cluster, progress = ScriptedCluster(reports, monkeypatch), list[tuple[int, int]]()
    thinking._run(cast("Cluster", cluster), SETTINGS, pending, rate, lambda *step: progress.append(step))
    return cluster, progress


def test_users_are_worked_on_until_nothing_is_pending(monkeypatch: pytest.MonkeyPatch) -> None:
    reports = {
        "ann": [ThinkReport(turns=50, pending=30), ThinkReport(turns=30, pending=0)],
        "bob": [ThinkReport(turns=2, pending=0)],
    }
    cluster, progress = run_scripted(reports, {"ann": 80, "bob": 2, "cleo": 0}, monkeypatch)
    assert sorted((user, limit) for _, user, limit in cluster.submitted) == [
        ("ann", 30),
        ("ann", 50),
        ("bob", 2),
    ]
    assert progress[-1] == (82, 82)


def test_turns_claimed_by_a_dead_node_are_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    claimed = ThinkReport(pending=3)
    unknown = ThinkReport(problems=("StoreUnavailable: restarting",))
    reports = {"ann": [claimed, claimed, unknown, ThinkReport(turns=3, pending=0)]}
    cluster, progress = run_scripted(reports, {"ann": 3}, monkeypatch)
    assert progress[-1] == (3, 3)
    times = [at for at, _, _ in cluster.submitted]
    assert all(later - earlier >= thinking.RETRY_SECONDS for earlier, later in pairwise(times))


def test_user_without_progress_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster, progress = run_scripted({"ann": [ThinkReport(failed=1, pending=3)]}, {"ann": 3}, monkeypatch)
    assert progress[-1] == (0, 3)
    assert LEASE_SECONDS < cluster.now < 2 * thinking.GIVE_UP_SECONDS


def test_rate_limits_turns_per_task_and_tasks_per_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    reports = {
        user: [
            *(ThinkReport(turns=5, pending=left, llm_calls=5) for left in range(95, 0, -5)),
            ThinkReport(turns=5, pending=0, llm_calls=5),
        ]
        for user in ("ann", "bob")
    }
    cluster, _ = run_scripted(reports, {"ann": 100, "bob": 100}, monkeypatch, rate=30)
    assert {limit for _, _, limit in cluster.submitted} == {5}
    assert cluster.now >= 195 * 60 / 30


def test_thinking_on_sqlite_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"needs a database that all nodes can open: postgresql://"):
        think_users(Cluster(), Settings(db=str(tmp_path / "memory.db")))


def test_commands_refuse_sqlite_before_anything_is_written(tmp_path: Path) -> None:
    file = tmp_path / "turns.jsonl"
    file.write_text('{"query": "I live in Paris."}')
    db = str(tmp_path / "memory.db")
    assert "--later" in run("import", str(file), "--ray", "--db", db).failed().err
    assert "postgresql://" in run("think", "--ray", "--db", db).failed().err
    assert not (tmp_path / "memory.db").exists()
    run("think", "--ray", "--limit", "3").failed(2)


@pytest.mark.parametrize(
    ("given", "completed"),
    [
        (["--ray"], ["--ray", "local"]),
        (["--ray", "turns.jsonl"], ["--ray", "local", "turns.jsonl"]),
        (["--ray", "--json"], ["--ray", "local", "--json"]),
        (["--ray", "10.0.0.1:6379", "a"], ["--ray", "10.0.0.1:6379", "a"]),
        (["--ray", "local", "a"], ["--ray", "local", "a"]),
        (["a", "--", "--ray"], ["a", "--", "--ray"]),
    ],
)
def test_ray_option_may_stand_without_address(given: list[str], completed: list[str]) -> None:
    assert complete_ray_options(given) == completed


def test_running_cluster_keeps_its_token(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Ray reads the token of a running cluster from a file, unless the variable is set."""
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    monkeypatch.setitem(sys.modules, "ray", ModuleType("ray"))
    monkeypatch.setitem(sys.modules, "ray.exceptions", ModuleType("ray.exceptions"))
    for name in RAY_VARIABLES:
        monkeypatch.setenv(name, "")  # so that it is restored
        monkeypatch.delenv(name)
    (tmp_path / ".ray").mkdir()
    (tmp_path / ".ray" / "auth_token").write_text("0123")
    import_ray(loopback=True)
    assert os.environ["RAY_AUTH_MODE"] == "token"
    assert "RAY_AUTH_TOKEN" not in os.environ
    import_ray(loopback=True, new=True)
    assert len(os.environ["RAY_AUTH_TOKEN"]) == 64


@pytest.mark.parametrize("address", ["", "host", "host:", ":1", "ray://host", "two words:1", "host:1a"])
def test_invalid_address_is_refused(address: str) -> None:
    with pytest.raises(InvalidInput, match="HOST:PORT"):
        Cluster(address)


def test_missing_ray_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in RAY_VARIABLES:
        monkeypatch.setenv(name, "disabled")  # restored afterwards
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtra, match=r"pip install 'thinkback\[ray\]'"), Cluster():
        pass
