"""Queries by valid time and by recorded time."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conftest import FakeClock, OpenMemory
from tests.scripted_reader import Propose, ScriptedReader, add, fact, known

from thinkback.history import replay
from thinkback.memory import Memory
from thinkback.think.contract import ProposedChange, ReadRequest
from thinkback.types import Turn


def day(month: int, day: int) -> datetime:
    return datetime(2024, month, day, tzinfo=UTC)


def replace_home(turn: Turn, request: ReadRequest) -> list[ProposedChange]:
    lyon = fact("Lyon", "The user lives in Lyon.", relation="lives in")
    change = add("I moved to Lyon", replace(lyon, valid_from=day(6, 3)))
    return [replace(change, action="replace", targets=(known(request, "Paris").id,))]


@pytest.fixture
def moved(open_memory: OpenMemory, clock: FakeClock) -> Memory:
    """Said in May: lives in Paris. Said in July: lives in Lyon since June."""
    paris = fact("Paris", "The user lives in Paris.", relation="lives in")
    script: dict[str, Propose | list[ProposedChange]] = {
        "I live in Paris.": [add("I live in Paris", paris)],
        "I moved to Lyon on June 3rd.": replace_home,
    }
    memory = open_memory(":memory:", think=ScriptedReader(script))
    for month, words in zip((5, 7), script, strict=True):
        clock.now = day(month, 10)
        memory.remember(words)
        memory.post_think()
    clock.now = day(9, 1)
    return memory


def test_as_of_and_known_at_are_independent(moved: Memory) -> None:
    memory = moved

    def places(**when: Any) -> list[str]:
        return [thought.object for thought in memory.thoughts(relation="lives in", **when)]

    def recalled(**when: Any) -> str:
        thoughts = [item.thought for item in memory.recall("Where do I live?", **when) if item.thought]
        return thoughts[0].sentence.rstrip(".")

    assert places() == ["Lyon"]
    assert places(as_of=day(5, 20)) == ["Paris"]
    assert places(as_of=day(6, 20)) == ["Lyon"]
    assert places(known_at=day(6, 20)) == ["Paris"]
    assert places(as_of=day(6, 20), known_at=day(6, 20)) == ["Paris"]
    assert places(as_of=day(5, 20), known_at=day(8, 1)) == []
    assert places(known_at=day(5, 1)) == []
    assert recalled() == "The user lives in Lyon"
    assert recalled(as_of=day(5, 20)) == "The user lives in Paris"
    assert recalled(known_at=day(6, 20)) == "The user lives in Paris"
    assert recalled(as_of=day(6, 20), known_at=day(6, 20)) == "The user lives in Paris"
    assert len(memory.recall("Where do I live?", known_at=day(5, 1))) == 0


def test_known_at_includes_actions_undone_later(moved: Memory, clock: FakeClock) -> None:
    memory = moved
    memory.undo(memory.journal()[-1])
    clock.now = day(10, 1)
    (held,) = memory.thoughts(relation="lives in")
    assert held.object == "Paris"
    assert [t.object for t in memory.thoughts(relation="lives in", known_at=day(8, 1))] == ["Lyon"]


def test_history_lists_all_values_with_reasons(moved: Memory) -> None:
    paris, lyon = moved.history("me", "lives in")
    assert (paris.thought.object, lyon.thought.object) == ("Paris", "Lyon")
    assert [action.action for action in paris.actions] == ["insert", "supersede"]
    assert paris.thought.valid_to == lyon.thought.valid_from == day(6, 3)
    assert moved.history("nobody") == []


SAID = (
    "I live in Paris.",
    "I moved to Lyon.",
    "I like tea.",
    "I don't like tea.",
    "My sister Anna is a cook.",
    "My sister Eve is a vet.",
    "I am allergic to nuts.",
    "My cousin Anna lives in Oslo.",
    "Please forget where I live.",
)


@settings(max_examples=40)
@given(st.lists(st.sampled_from((*SAID, "undo")), max_size=12))
def test_replaying_the_journal_gives_the_space(steps: list[str]) -> None:
    clock = FakeClock()
    with Memory.open(":memory:", embedder="hashing", background=False, clock=clock) as memory:
        snapshots = {}
        for step in steps:
            clock.advance(60)
            if step != "undo":
                memory.remember(step)
                memory.post_think()
            elif undoable := [action for action in memory.journal() if not action.undone_by]:
                memory.undo(undoable[-1])
            snapshots[clock.now] = memory.store.thoughts(memory.user, current=False)
        for at, thoughts in snapshots.items():
            assert list(replay(memory.journal(), at).values()) == thoughts
        copied = memory.for_user("copy")
        copied.import_(list(memory.export()))
        all_of = memory.store.thoughts
        assert all_of("copy", current=False) == all_of(memory.user, current=False)
