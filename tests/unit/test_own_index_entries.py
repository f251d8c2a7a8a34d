"""A process applies the index entries that it writes to its own view, without reading them again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.conftest import OpenMemory

from thinkback.memory import Memory
from thinkback.storage.relational.index_rows import IndexMixin
from thinkback.types import IndexDelta, UnindexedPage, VersionStamp

STATEMENTS = ("I live in Lyon.", "My sister Anna is a nurse.", "I like tea.")


@pytest.fixture
def deltas(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The spaces whose changes were read from the database, in order."""
    read: list[str] = []
    original = IndexMixin.delta

    def delta(store: IndexMixin, space: str, since: VersionStamp) -> IndexDelta:
        read.append(space)
        return original(store, space, since)

    monkeypatch.setattr(IndexMixin, "delta", delta)
    return read


def found(memory: Memory, query: str) -> list[tuple[str, str, float]]:
    return [(str(item.ref), item.text, item.score.total) for item in memory.recall(query)]


def test_own_entries_are_not_read_again(open_memory: OpenMemory, deltas: list[str]) -> None:
    memory = open_memory()
    memory.remember(STATEMENTS[0])
    memory.recall("Where do I live?")
    deltas.clear()
    for statement in STATEMENTS[1:]:
        memory.remember(statement)
        assert statement in memory.recall(f"Did I say this: {statement}").items[0].text
    assert not deltas


@pytest.mark.parametrize("thinks", [False, True])
def test_the_own_view_is_the_one_that_another_process_reads(
    open_memory: OpenMemory, tmp_path: Path, thinks: bool
) -> None:
    path = tmp_path / "memory.db"
    with open_memory(path) as memory:
        for statement in (*STATEMENTS, "I moved to Porto."):
            memory.remember(statement, "Noted.")
            memory.recall("Where do I live?")
            if thinks:
                memory.post_think()
        own = [found(memory, question) for question in ("Where do I live?", "Who is Anna?", "tea")]
    with open_memory(path) as memory:
        assert own == [found(memory, question) for question in ("Where do I live?", "Who is Anna?", "tea")]


def test_what_another_process_wrote_meanwhile_is_read(
    open_memory: OpenMemory, tmp_path: Path, deltas: list[str]
) -> None:
    path = tmp_path / "memory.db"
    with open_memory(path) as one, open_memory(path) as other:
        one.remember(STATEMENTS[0])
        one.recall("Where do I live?")
        other.remember(STATEMENTS[1])
        other.recall("Who is Anna?")  # indexes it
        one.remember(STATEMENTS[2])
        deltas.clear()
        assert STATEMENTS[1] in one.recall("Who is my sister Anna?").items[0].text
        assert deltas


def test_a_turn_hidden_before_it_was_indexed_is_not_recalled(open_memory: OpenMemory) -> None:
    memory = open_memory()
    memory.remember(STATEMENTS[0])
    memory.recall("tea")
    turn = memory.remember(STATEMENTS[2])
    memory.forget(turn.ref, "a test")
    assert not any("tea" in item.text for item in memory.recall("What do I like to drink? Tea?"))


@pytest.mark.parametrize("is_behind", [False, True])
@pytest.mark.parametrize("change", ["forget", "erase", "think"])
def test_a_change_while_items_are_indexed_is_not_undone(
    open_memory: OpenMemory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: str, is_behind: bool
) -> None:
    """Another process changes what was read without an index entry before its entry is written."""
    path = tmp_path / "memory.db"
    original = IndexMixin.unindexed
    with open_memory(path) as one, open_memory(path) as other:
        one.remember(STATEMENTS[0])
        one.recall("Where do I live?")
        if is_behind:
            other.remember(STATEMENTS[1])
            other.recall("Who is Anna?")
        turn = one.remember(STATEMENTS[2])
        changes: dict[str, Callable[[], object]] = {
            "forget": lambda: other.forget(turn.ref, "a test"),
            "erase": lambda: other.erase(turn=turn.id),
            "think": other.post_think,
        }

        def unindexed(store: IndexMixin, space: str, limit: int) -> UnindexedPage:
            page = original(store, space, limit)
            if change in changes:
                changes.pop(change)()
            return page

        monkeypatch.setattr(IndexMixin, "unindexed", unindexed)
        one.recall("anything")
        own = found(one, "What do I like to drink? Tea?")
    with open_memory(path) as memory:
        assert own == found(memory, "What do I like to drink? Tea?")
    assert any("tea" in text for _, text, _ in own) == (change == "think")


def test_standing_wishes_follow_the_last_recall(open_memory: OpenMemory) -> None:
    memory = open_memory()
    memory.remember("Please always answer in German.")
    memory.post_think()
    memory.recall("hello")
    wishes = memory.cached_instructions()
    assert [wish.sentence for wish in wishes] == [wish.sentence for wish in memory.instructions()] != []
    memory.forget(wishes[0].ref, "a test")
    memory.recall("hello")
    assert not memory.cached_instructions()
