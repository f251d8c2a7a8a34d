"""Cached rows and derived data stay equal to the stored ones, whoever changes them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from thinkback import Memory
from thinkback.recall.cache import MAX_ROWS, MAX_TEXT_CHARS, RecallCache
from thinkback.types import IndexDelta, Recollection, Thought, Turn, ValidityPeriod, VersionStamp

AT = datetime(2024, 5, 1, tzinfo=UTC)
ASKED = ("Where do I live?", "Where did I live before?", "What is my sister called?", "What do I like?")


def opened(path: Path) -> Memory:
    return Memory.open(path / "memory.db", embedder="hashing", background=False, clock=lambda: AT)


def told(memory: Memory) -> None:
    for place in ("Rome", "Oslo", "Lima", "Cairo"):
        memory.remember(f"I live in {place} now. My sister Anna came along.", "I see.")
    memory.remember("I like tea.", "Noted.")
    memory.post_think()


def less_time(found: Recollection) -> Recollection:
    return replace(found, usage=type(found.usage)())


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with opened(tmp_path) as memory:
        told(memory)
        yield memory


def test_cached_reader_sees_the_same_as_a_new_reader(memory: Memory, tmp_path: Path) -> None:
    """After every change that another makes to the same file."""
    with opened(tmp_path) as writer:
        changes: Sequence[Callable[[], object]] = (
            lambda: writer.remember("I moved to Quito.", "Nice."),
            writer.post_think,
            lambda: writer.forget(writer.thoughts()[-1], "a mistake"),
            lambda: writer.undo(writer.journal()[-1]),
            lambda: writer.undo(next(a for a in reversed(writer.journal()) if a.action == "supersede")),
            lambda: writer.undo(writer.journal()[-1]),
            writer.organise,
            lambda: writer.erase(turn=2),
            writer.post_think,
            lambda: writer.erase(user="default"),
            lambda: told(writer),
        )
        seen = set()
        for change in changes:
            change()
            for query in ASKED:
                kept = less_time(memory.recall(query, explain=True))
                with opened(tmp_path) as fresh:
                    assert kept == less_time(fresh.recall(query, explain=True))
                seen.add(repr(kept.items))
        assert len(seen) > len(ASKED)  # the changes did change what is recalled


def test_concurrent_recalls_equal_sequential_ones(memory: Memory) -> None:
    alone = {query: less_time(memory.recall(query)) for query in ASKED}
    wrong: list[str] = []

    def ask() -> None:
        wrong.extend(
            query for _ in range(10) for query in ASKED if less_time(memory.recall(query)) != alone[query]
        )

    with_us = [threading.Thread(target=ask) for _ in range(4)]
    for each in with_us:
        each.start()
    for each in with_us:
        each.join()
    assert not wrong


def test_second_recall_reads_nothing_from_the_store(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    for query in ASKED:
        memory.recall(query)

    def unread(*args: object, **options: object) -> list[object]:
        raise AssertionError(f"read again: {options}")

    for name in ("thoughts", "turns", "journal"):
        monkeypatch.setattr(memory.store, name, unread)
    for query in ASKED:
        assert memory.recall(query).items


def test_erased_user_leaves_nothing_in_the_cache(memory: Memory) -> None:
    memory.recall(ASKED[0])
    memory.erase(user="default")
    assert not memory._indexer._cache


def turn(number: int, thought_at: datetime | None = AT) -> Turn:
    return Turn(id=number, session="s", query="q", response="", at=AT, recorded_at=AT, thought_at=thought_at)


def test_cache_is_bounded_and_rereads_pending_turns_after_a_change() -> None:
    kept = RecallCache()
    asked: list[int] = []

    def read(ids: Sequence[int]) -> list[Turn]:
        asked.extend(ids)
        return [turn(id_, None if id_ == 1 else AT) for id_ in ids]

    assert [each.id for each in kept.turns([3, 1, 2], read)] == [1, 2, 3]
    kept.turns([1, 2, 3], read)
    assert asked == [3, 1, 2]
    kept.invalidate(IndexDelta(VersionStamp(1, 1)))
    kept.turns([1, 2, 3], read)
    assert asked == [3, 1, 2, 1]
    kept.turns(list(range(1, MAX_ROWS + 10)), read)
    asked.clear()
    kept.turns([MAX_ROWS, 3], read)
    assert asked == [3]


def test_a_new_turn_leaves_the_other_rows_in_the_cache() -> None:
    kept = RecallCache()
    asked: list[int] = []

    def read(ids: Sequence[int]) -> list[Turn]:
        asked.extend(ids)
        return [turn(id_, None) for id_ in ids]

    kept.turns([1, 2], read)
    new = ValidityPeriod(3, 3, AT, None, AT, None, kind="turn")
    kept.invalidate(IndexDelta(VersionStamp(1, 1), periods=(new,)))
    kept.turns([1, 2, 3], read)
    assert asked == [1, 2, 3]
    kept.invalidate(IndexDelta(VersionStamp(1, 2), periods=(new, replace(new, kind="thought"))))
    kept.turns([1, 2, 3], read)
    assert asked == [1, 2, 3, 1, 2, 3]


def test_row_is_kept_with_what_is_derived_from_it() -> None:
    kept = RecallCache()
    first, long = turn(1), replace(turn(2), query="q" * (MAX_TEXT_CHARS + 1))
    rows = kept.turns([1, 2], lambda ids: [first, long])
    assert rows[0].terms is rows[0].terms
    again = kept.turns([1, 2], lambda ids: [long])
    assert again[0] is rows[0]
    assert again[1] is not rows[1]  # long texts are not cached


def test_unknown_row_is_not_cached() -> None:
    none: list[Thought] = []
    assert RecallCache().thoughts([7], lambda ids: none) == []
