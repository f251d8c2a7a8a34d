"""A memory with several tenants: one database, one embedder, one worker, strict isolation."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.conftest import OpenMemory

from thinkback.embedders.hashing import HashingEmbedder
from thinkback.errors import InvalidInput, StoreError
from thinkback.memory import Memory
from thinkback.types import VersionStamp


def test_tenants_are_isolated(memory: Memory) -> None:
    acme, umbra = memory.for_tenant("acme"), memory.for_tenant("umbra")
    acme.remember("I live in Lyon.")
    umbra.remember("I live in Oslo.")
    assert (memory.tenant, acme.tenant, umbra.tenant) == ("", "acme", "umbra")
    assert acme.post_think().turns == umbra.post_think().turns == 1
    assert memory.post_think().turns == 0
    assert "Lyon" in acme.recall("Where do I live?", k=1)[0].text
    assert "Oslo" in umbra.recall("Where do I live?", k=1)[0].text
    assert len(memory.recall("Where do I live?")) == 0
    assert [turn.query for turn in memory.for_tenant("acme").turns()] == ["I live in Lyon."]


def test_aliases_are_separate_per_tenant(memory: Memory) -> None:
    acme, umbra = memory.for_tenant("acme"), memory.for_tenant("umbra")
    for tenant, sister, home in ((acme, "Mia", "Rome"), (umbra, "Zoe", "Bern")):
        tenant.remember(f"My sister {sister} lives in {home}.")
        tenant.post_think()
    for _ in range(2):
        assert "Rome" in acme.recall("Where does my sister live?", k=1)[0].text
        assert "Bern" in umbra.recall("Where does my sister live?", k=1)[0].text


def test_same_user_name_in_two_tenants(memory: Memory) -> None:
    ann = memory.for_tenant("acme").for_user("ann")
    ann.remember("I collect stamps.")
    assert ann.store.users() == ["ann"]
    assert memory.for_user("ann").turns() == []
    assert memory.for_tenant("acme").for_user("ann").for_tenant("umbra").turns() == []
    memory.for_tenant("umbra").for_user("ann").remember("I sail.")
    memory.for_tenant("umbra").erase(user="ann")
    assert len(ann.turns()) == 1


def test_empty_tenant_is_the_default(memory: Memory) -> None:
    memory.remember("I live in Lyon.")
    assert len(memory.for_tenant("acme").for_tenant("").turns()) == 1


@pytest.mark.parametrize("name", ["  ", "a\nb", "x" * 257, None, 7])
def test_tenant_name_is_validated(memory: Memory, name: str) -> None:
    with pytest.raises(InvalidInput, match="tenant"):
        memory.for_tenant(name)


def test_derived_memory_is_closed_with_its_parent(open_memory: OpenMemory) -> None:
    root = open_memory()
    acme = root.for_tenant("acme")
    acme.close()
    acme.remember("still here")
    root.close()
    with pytest.raises(StoreError):
        acme.turns()


def test_a_memory_opened_for_a_tenant_closes_its_database(open_memory: OpenMemory) -> None:
    acme = open_memory(tenant="acme")
    acme.remember("I live in Lyon.")
    acme.close()
    with pytest.raises(StoreError):
        acme.turns()
    assert open_memory().turns() == []
    assert [turn.query for turn in open_memory(tenant="acme").turns()] == ["I live in Lyon."]
    with pytest.raises(InvalidInput, match="tenant"):
        open_memory(tenant=" ")


def test_one_worker_serves_all_tenants(open_memory: OpenMemory) -> None:
    root = open_memory(background=True)
    for tenant in ("", "acme", "umbra"):
        root.for_tenant(tenant).remember(f"I live in {tenant or 'Lyon'}.")
    assert root.wait(60)
    assert root.store.pending_spaces(root._clock()) == []
    assert [len(root.for_tenant(tenant).thoughts()) for tenant in ("", "acme", "umbra")] == [1, 1, 1]


def test_a_conversion_converts_and_groups_the_spaces_of_every_tenant(
    open_memory: OpenMemory, tmp_path: Path
) -> None:
    with open_memory() as root:
        for tenant in ("", "acme"):
            memory = root.for_tenant(tenant)
            memory.remember("I live in Lyon.")
            memory.recall("Where?")
    assert Memory.reembed(tmp_path / "memory.db", HashingEmbedder(64)) == 2
    root = open_memory(embedder=HashingEmbedder(64))
    for tenant in ("", "acme"):
        memory = root.for_tenant(tenant)
        hashing = memory.store.hashing("default")
        assert hashing is not None
        assert hashing.matrix.shape[0] == 64
        assert {len(entry.vector) for entry in memory.store.delta("default", VersionStamp()).entries} == {64}
        assert "Lyon" in memory.recall("Where do I live?", k=1)[0].text


def test_recall_after_cache_eviction(open_memory: OpenMemory) -> None:
    tight, roomy = open_memory(cache_bytes=1), open_memory()
    towns = {("", "ann"): "Lyon", ("acme", "ann"): "Oslo", ("acme", "bob"): "Rome", ("umbra", "ann"): "Bern"}
    for (tenant, user), town in towns.items():
        mine = tight.for_tenant(tenant).for_user(user)
        mine.remember(f"My sister Mia lives in {town}.")
        mine.remember("I like tea.")
        mine.post_think()
    for _ in range(2):
        for (tenant, user), town in towns.items():
            found = tight.for_tenant(tenant).for_user(user).recall("Where does my sister live?")
            assert town in found[0].text
            expected = roomy.for_tenant(tenant).for_user(user).recall("Where does my sister live?")
            assert [(item.ref, item.score) for item in found] == [(item.ref, item.score) for item in expected]
            assert len(tight._components.cache) == 1
    assert len(roomy._components.cache) == len(towns)


def test_concurrent_recall_with_cache_eviction(open_memory: OpenMemory) -> None:
    root = open_memory(cache_bytes=1)
    people = {(tenant, user): f"{user}{tenant}ville" for tenant in ("", "acme") for user in ("ann", "bob")}
    for (tenant, user), town in people.items():
        root.for_tenant(tenant).for_user(user).remember(f"I live in {town}.")

    def ask(place: tuple[str, str]) -> set[str]:
        mine = root.for_tenant(place[0]).for_user(place[1])
        found = [item for _ in range(25) for item in mine.recall("Where do I live?")]
        return {item.turn.query for item in found if item.turn}

    with ThreadPoolExecutor(4) as pool:
        found = dict(zip(people, pool.map(ask, people), strict=True))
    assert found == {place: {f"I live in {town}."} for place, town in people.items()}


def test_entity_graph_is_rebuilt_after_changes(open_memory: OpenMemory) -> None:
    memory = open_memory()
    memory.remember("My sister Mia lives in Rome.")
    memory.post_think()
    assert "Rome" in memory.recall("Where does my sister live?", k=1)[0].text
    memory.remember("My sister Mia lives in Bern.")
    memory.post_think()
    assert "Bern" in memory.recall("Where does my sister live?", k=1)[0].text
