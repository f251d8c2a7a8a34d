"""`storage.move`: to PostgreSQL and back, interrupted and repeated; both recall the same."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.conftest import FakeClock
from tests.factories import append_turns
from tests.postgres_server import requires_postgres

from thinkback import api_keys, storage
from thinkback.errors import Conflict, EmbedderMismatch, InvalidInput
from thinkback.memory import Memory
from thinkback.protocols import Store
from thinkback.storage.move import MoveResult, checksum, move

FACTS = (
    "My sister Anna lives in Berlin and works as a nurse.",
    "I moved to Lyon in March 2021.",
    "My dog is called Bruno. He is afraid of thunder.",
    "I am allergic to peanuts, please remember that.",
    "Anna has moved to Hamburg now.",
    "我喜欢喝龙井茶。",
)
QUESTIONS = ("Where does Anna live?", "What am I allergic to?", "What is my dog called?", "我喜欢喝什么？")


@pytest.fixture
def filled(tmp_path: Path, clock: FakeClock) -> str:
    """A database with two tenants, thoughts, an undone action, a hidden turn, metadata and a key."""
    path = str(tmp_path / "source.db")
    with Memory.open(path, embedder="hashing", background=False, clock=clock, user="ann") as memory:
        for fact in FACTS:
            memory.remember(fact)
        memory.post_think()
        action = memory.store.forget("ann", turns=[3], reason="test", actor="user", now=clock())
        memory.store.undo("ann", action.id, "user", clock())
        memory.store.forget("ann", turns=[6], reason="test", actor="user", now=clock())
        memory.store.set_metadata("ann", [1], {"from": "mem0", "n": 1})
        other = memory.store.for_tenant("acme")
        append_turns(other, "ann", "of another tenant")
        _, key = api_keys.create_key("acme", ["read"], now=clock())
        memory.store.add_key(key)
    return path


def contents(url: str) -> dict[tuple[str, str], str]:
    store = storage.connect(url)
    try:
        return {key: checksum(store.for_tenant(key[0]).read_space(key[1])) for key in store.spaces()}
    finally:
        store.close()


def recalled(url: str, clock: FakeClock) -> list[list[tuple[str, float]]]:
    with Memory.open(url, embedder="hashing", background=False, clock=clock, user="ann") as memory:
        return [
            [(str(item.ref), item.score.total) for item in memory.recall(question)] for question in QUESTIONS
        ]


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=requires_postgres)])
def target(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == "sqlite":
        yield str(tmp_path / "target.db")
    else:
        yield request.getfixturevalue("postgres_url")


def test_everything_is_moved_there_and_back(filled: str, target: str, tmp_path: Path) -> None:
    before = contents(filled)
    assert len(before) == 2
    result = move(filled, target)
    assert (result.spaces, result.already_there, result.turns, result.keys) == (2, 0, 7, 1)
    assert result.rows > result.turns + result.thoughts > result.turns
    assert contents(target) == before
    back = str(tmp_path / "back.db")
    assert move(target, back) == result
    assert contents(back) == before == contents(filled)
    store = storage.connect(target)
    assert store.verify() == []
    assert store.requires_keys()
    assert store.metadata("ann", [1]) == {1: {"from": "mem0", "n": 1}}
    store.close()


def test_a_moved_memory_recalls_the_same(filled: str, target: str, clock: FakeClock) -> None:
    expected = recalled(filled, clock)
    assert all(expected)
    move(filled, target)
    found = recalled(target, clock)
    assert [[ref for ref, _ in items] for items in found] == [[ref for ref, _ in items] for items in expected]
    for items, others in zip(found, expected, strict=True):
        assert [score for _, score in items] == pytest.approx([score for _, score in others], abs=1e-5)


def test_an_interrupted_move_is_resumed(filled: str, target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(done: int, total: int) -> None:
        assert total == 2
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        move(filled, target, interrupt)
    assert len(contents(target)) == 1
    reported: list[tuple[int, int]] = []
    result: MoveResult = move(filled, target, lambda done, total: reported.append((done, total)))
    assert (result.spaces, result.already_there) == (2, 1)
    assert reported == [(1, 2), (2, 2)]
    assert contents(target) == contents(filled)


def test_another_memory_of_the_same_user_is_not_overwritten(filled: str, target: str) -> None:
    store = storage.connect(target)
    append_turns(store, "ann", "something else")
    store.close()
    with pytest.raises(Conflict, match="'ann' has other memories"):
        move(filled, target)
    store = storage.connect(target)
    assert [turn.query for turn in store.turns("ann")] == ["something else"]
    store.close()


def test_a_write_during_the_move_is_reported(filled: str, target: str) -> None:
    source: Store = storage.connect(filled)

    def write(done: int, total: int) -> None:
        if done == total:
            append_turns(source, "ann", "too late")

    with pytest.raises(Conflict, match="1 users changed during the move"):
        move(filled, target, write)
    source.close()


def test_a_write_that_leaves_the_counters_as_they_are_is_reported(filled: str, target: str) -> None:
    source: Store = storage.connect(filled)

    def write(done: int, total: int) -> None:
        if done == total:
            source.set_metadata("ann", [1], {"from": "elsewhere"})

    with pytest.raises(Conflict, match="1 users changed during the move"):
        move(filled, target, write)
    source.close()


def test_a_key_that_is_added_during_the_move_is_reported(filled: str, target: str, clock: FakeClock) -> None:
    source: Store = storage.connect(filled)

    def write(done: int, total: int) -> None:
        if done == total:
            source.add_key(api_keys.create_key("acme", ["read"], now=clock())[1])

    with pytest.raises(Conflict, match="API keys changed"):
        move(filled, target, write)
    source.close()


def test_a_revocation_since_an_earlier_move_is_taken_over(filled: str, target: str, clock: FakeClock) -> None:
    move(filled, target)
    source = storage.connect(filled)
    (key,) = source.keys()
    revoked = source.revoke_key(key.id, clock())
    source.close()
    move(filled, target)
    store = storage.connect(target)
    assert store.keys() == [revoked]
    store.close()


def test_a_target_requires_keys_though_the_only_one_was_erased(
    filled: str, target: str, clock: FakeClock
) -> None:
    source = storage.connect(filled)
    source.erase_tenant("acme", clock())
    assert source.keys() == []
    source.close()
    move(filled, target)
    store = storage.connect(target)
    assert store.requires_keys()
    store.close()


def test_a_source_that_is_being_converted_is_refused(filled: str, target: str) -> None:
    source = storage.connect(filled)
    source.reembed_begin("another")
    source.close()
    with pytest.raises(EmbedderMismatch, match="being converted"):
        move(filled, target)


def test_moving_to_itself_is_refused(filled: str) -> None:
    with pytest.raises(InvalidInput, match="same database"):
        move(filled, filled)


def test_a_large_space_is_moved(target: str, tmp_path: Path) -> None:
    path = str(tmp_path / "large.db")
    store = storage.connect(path)
    append_turns(store, "ann", *(f"line {n}\twith a tab, a \\ and 中文" for n in range(500)))
    store.close()
    assert move(path, target).turns == 500
    assert contents(target) == contents(path)
