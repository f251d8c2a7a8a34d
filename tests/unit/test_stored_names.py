"""Names that were stored before names were normalised: what still reaches them, and how to move them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from thinkback.memory import Memory
from thinkback.server.processes.think_worker import ThinkWorker
from thinkback.server.services import MemoryRegistry
from thinkback.server.telemetry import Telemetry
from thinkback.types import NewTurn

NFC, NFD = "Zo\u00eb", "Zoe\u0308"
NOW = datetime(2026, 1, 2, tzinfo=UTC)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    """A database whose only user and session have decomposed names."""
    with Memory(tmp_path / "m.db", embedder="hashing", background=False) as memory:
        memory.store.append(NFD, [NewTurn(query="I live in Lyon.", at=NOW, session=NFD)], NOW)
        yield memory


@pytest.mark.parametrize("name", [NFC, NFD])
def test_no_name_of_a_caller_reaches_the_old_user(memory: Memory, name: str) -> None:
    assert memory.for_user(name).user == NFC
    assert memory.for_user(name).turns() == []


def test_old_user_can_be_moved(memory: Memory) -> None:
    """The recipe of docs/server.md."""
    old, new = memory.for_space(NFD), memory.for_user(NFD)
    assert new.import_(old.export()) == 1
    assert [turn.query for turn in new.turns()] == ["I live in Lyon."]


@pytest.mark.parametrize("name", [NFC, NFD])
def test_erasing_a_user_erases_every_form_of_the_name(memory: Memory, name: str) -> None:
    memory.for_user(name).remember("I live in Rome.")
    assert memory.erase(user=name).turns == 2
    assert memory.store.users() == []


def test_old_session_is_found_by_its_exact_name(memory: Memory) -> None:
    old = memory.for_space(NFD)
    assert len(old.turns(session=NFD)) == 1
    assert old.turns(session=NFC) == []
    assert old.erase(session=NFD).turns == 1


def test_worker_thinks_for_old_users(memory: Memory) -> None:
    worker = ThinkWorker(MemoryRegistry(memory), Telemetry(), {})
    assert worker.run_round()
    assert not worker.run_round()
    assert memory.for_space(NFD).stats().pending == 0
    assert memory.store.users() == [NFD]
