"""Import and thinking on a Ray cluster of two nodes, one of which is killed; one process does the same."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.acceptance.cli_runner import run
from tests.postgres_server import EmptyStores
from tests.ray_cluster import TwoNodes, requires_ray, two_nodes

from thinkback.bulk.cluster import Cluster
from thinkback.bulk.encoding import ClusterEncoder
from thinkback.bulk.thinking import think_users
from thinkback.config import Settings
from thinkback.errors import ClusterError
from thinkback.memory import Memory

pytestmark = requires_ray
NOW = datetime(2026, 1, 1, tzinfo=UTC)
USERS = ("ann", "bob", "cleo", "dan")
PLACES = ("Lyon", "Oslo", "Lima", "Pune", "Porto")


def lines(count: int, name: str = "Mia") -> list[str]:
    return [
        json.dumps(
            {
                "query": f"My friend {name}{number} lives in {PLACES[number % len(PLACES)]}.",
                "response": "Good to know.",
                "at": f"2025-03-{1 + number % 28:02}T10:00Z",
                "key": f"turn-{number}",
            }
        )
        for number in range(count)
    ]


def open_memory(url: str) -> Memory:
    return Memory.open(url, embedder="hashing", think="extractive", background=False, clock=lambda: NOW)


def kill_second_at(nodes: TwoNodes, count: int) -> Callable[[int, int], None]:
    """A progress callback that kills the second node once."""
    killed: list[int] = []

    def progress(done: int, total: int) -> None:
        if done >= count and not killed:
            killed.append(done)
            nodes.kill_second()

    return progress


@pytest.fixture(scope="module")
def nodes() -> Iterator[TwoNodes]:
    with two_nodes() as nodes:
        yield nodes


@pytest.fixture
def urls(postgres_stores: EmptyStores) -> Iterator[tuple[str, str]]:
    taken = postgres_stores.take(), postgres_stores.take()
    yield taken
    for url in taken:
        postgres_stores.give_back(url)


@pytest.fixture
def settings(urls: tuple[str, str]) -> Settings:
    return Settings(db=urls[1], embedder="hashing", llm="none", think="extractive")


def test_import_equals_that_of_one_process(
    nodes: TwoNodes, urls: tuple[str, str], settings: Settings
) -> None:
    turns = lines(1000)
    with open_memory(urls[0]) as memory:
        memory.import_(turns)
        expected = memory.store.read_space(memory.user)
    with Cluster(nodes.address) as cluster, open_memory(urls[1]) as memory:
        assert cluster.capacity() == 2
        encoder = ClusterEncoder(cluster, settings, embedder="hashing", name=memory.embedder.name)
        for progress in (kill_second_at(nodes, 400), None):  # importing again changes nothing
            count = memory.import_users({memory.user: turns}, encoder=encoder, progress=progress)
            assert count == len(turns)
            assert memory.store.read_space(memory.user) == expected
    nodes.add_second()


def test_thoughts_equal_those_of_one_process(
    nodes: TwoNodes, urls: tuple[str, str], settings: Settings
) -> None:
    turns = {user: lines(12, user.title()) for user in USERS}
    found = []
    for url in urls:
        with open_memory(url) as memory:
            memory.import_users(turns)
            if url == urls[0]:
                assert sum(memory.for_user(user).post_think().turns for user in USERS) == 48
            else:
                with Cluster(nodes.address) as cluster:
                    result = think_users(cluster, settings, progress=kill_second_at(nodes, 12))
                assert (result.users, result.turns, result.failed, result.pending) == (4, 48, 0, 0)
                assert result.actions >= 48
            found.append(
                [
                    (user, thought.id, thought.sentence, thought.current, thought.sources)
                    for user in USERS
                    for thought in memory.store.thoughts(user, current=False)
                ]
            )
    assert len(found[0]) >= 48
    assert found[0] == found[1]
    nodes.add_second()


def test_commands(nodes: TwoNodes, urls: tuple[str, str], tmp_path: Path) -> None:
    file = tmp_path / "turns.jsonl"
    file.write_text("\n".join(json.dumps({"query": f"I live in {place}."}) for place in PLACES))
    options = ("--db", urls[1], "--llm", "none", "--think", "extractive", "--json")
    ray = ("--ray", nodes.address)
    imported = ("import", str(file), "--embedder", "hashing", "--user", "ann", *ray, *options)
    for _ in range(2):  # the lines have no keys, and yet nothing is stored twice
        shown = run(*imported).ok().json
        assert (shown["turns"], shown["pending"]) == (5, 0)
    assert len(run("turns", "--db", urls[1], "--user", "ann", "--json").ok().json) == 5
    run(*imported[:4], "--user", "bob", "--later", *options).ok()
    shown = run("think", *ray, *options).ok().json
    assert (shown["users"], shown["turns"], shown["pending"]) == (1, 5, 0)
    shown = run("reembed", "--db", urls[1], "--embedder", "hashing", *ray, "--json").ok().json
    assert shown == {"converted": 0, "embedder": "hashing"}


def test_error_of_a_node_is_reported(nodes: TwoNodes, settings: Settings) -> None:
    with Cluster(nodes.address) as cluster:
        other = ClusterEncoder(cluster, settings, embedder="hashing", name="another-embedder")
        with pytest.raises(ClusterError, match=r"EmbedderMismatch on node .*'hashing-256', not 'another-"):
            list(other.encode([[("one",)], [("two",)]]))


def test_cluster_that_does_not_answer_is_an_error() -> None:
    with pytest.raises(ClusterError, match="no Ray cluster answers"), Cluster("127.0.0.1:1"):
        pass
