"""Damaged rows whose text is no known kind are reported as damage, not as another error later."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from thinkback.errors import CorruptStore
from thinkback.memory import Memory
from thinkback.storage.relational.rows import ids_to_json


@pytest.mark.parametrize(
    "damage", ["UPDATE thoughts SET kind = 'prof\x07le'", "UPDATE actions SET action = 'in'"]
)
def test_unknown_kind_is_damage(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "memory.db"
    with Memory(path, embedder="hashing", background=False) as memory:
        memory.remember("I live in Lyon.")
        memory.post_think()
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(damage)
    with Memory(path, embedder="hashing", background=False) as memory:
        read = memory.thoughts if "thoughts" in damage else memory.journal
        with pytest.raises(CorruptStore, match="damaged"):
            read()


def test_id_that_is_no_number_is_damage() -> None:
    assert ids_to_json([2, 1]) == "[1, 2]"
    with pytest.raises(CorruptStore, match="an id is damaged"):
        ids_to_json(["secret words", 1])  # type: ignore[list-item]


def test_journal_without_the_later_action_is_damage(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with Memory(path, embedder="hashing", background=False) as memory:
        memory.remember("I live in Lyon.")
        memory.post_think()
        action = memory.journal()[0]
        memory.forget(action.after[0].ref, "moved")
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("DELETE FROM touched")
    with (
        Memory(path, embedder="hashing", background=False) as memory,
        pytest.raises(CorruptStore, match="a row of table touched is missing"),
    ):
        memory.undo(action.id)
