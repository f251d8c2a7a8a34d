"""Paging through thoughts, turns, journal and history."""

from __future__ import annotations

from typing import Any

import pytest
from tests.factories import add_thought

from thinkback.errors import InvalidInput
from thinkback.memory import Memory
from thinkback.types import Thought


@pytest.fixture
def told(memory: Memory) -> Memory:
    for said in (
        "My name is Ann.",
        "My sister Anna lives in Lyon.",
        "My sister is also called Annie.",
        "I like tea.",
        "I like tea no more.",
        "Annie works as a nurse.",
        "I live in Paris.",
        "I live in Lyon now.",
    ):
        memory.remember(said)
    memory.post_think()
    return memory


@pytest.mark.parametrize("limit", [1, 2, 3, 100])
@pytest.mark.parametrize("choice", [{}, {"current": False}, {"subject": "user"}, {"kind": "relationship"}])
def test_pages_of_thoughts_add_up(told: Memory, limit: int, choice: dict[str, object]) -> None:
    whole = told.thoughts(**choice)  # type: ignore[arg-type]
    assert whole
    seen: list[Thought] = []
    while page := told.thoughts(**choice, limit=limit, after=seen[-1].id if seen else 0):  # type: ignore[arg-type]
        assert len(page) <= limit
        seen += page
    assert seen == whole


def test_reading_a_page_does_not_read_everything(told: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[Thought] = []
    original = told.store.thoughts

    def counted(*args: Any, **choices: Any) -> list[Thought]:
        found = original(*args, **choices)
        read.extend(found)
        return found

    monkeypatch.setattr(told.store, "thoughts", counted)
    told.thoughts(limit=2)
    assert len(read) < len(original(told.user))


def test_paging_of_turns_and_actions(told: Memory) -> None:
    turns, actions = told.turns(), told.journal()
    assert told.turns(after=turns[2].id, limit=2) == turns[3:5]
    assert told.journal(after=actions[1].id, limit=1) == actions[2:3]
    of_turn = told.journal(turn=turns[-1].id)
    assert of_turn
    assert of_turn == [action for action in actions if action.turn == turns[-1].id]


def test_pages_of_history_add_up(told: Memory) -> None:
    whole = told.history("user")
    assert [*told.history("user", limit=1), *told.history("user", skip=1)] == whole


def test_journal_takes_a_thought_or_a_turn(memory: Memory) -> None:
    add_thought(memory.store, memory.user, "tea")
    with pytest.raises(InvalidInput, match="not both"):
        memory.journal(thought=1, turn=1)
