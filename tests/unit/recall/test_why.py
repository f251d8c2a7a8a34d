"""Why a thought is held and why an answer was given, from the journal alone."""

from __future__ import annotations

import pytest
from tests.conftest import FakeClock

from thinkback.errors import NotFound
from thinkback.memory import Memory


def test_a_thought_tells_its_source_its_time_and_its_history(memory: Memory, clock: FakeClock) -> None:
    memory.remember("Hello. I live in Lyon. Bye.")
    clock.advance(3600)
    memory.post_think()
    (thought,) = memory.thoughts()
    why = memory.why(thought)
    assert why.lines[:4] == (
        "thought:1: The user lives in Lyon.",
        "(user, lives in, Lyon)",
        'from turn:1, 2024-05-01 12:00, user said: "I live in Lyon."',
        "holds since 2024-05-01, learned 2024-05-01 13:00",
    )
    assert why.lines[4].startswith("action:1 insert by rules: ")
    assert [turn.id for turn in why.sources] == [1]
    clock.advance(86400)
    memory.forget(1, "a joke")
    memory.undo(2)
    lines = memory.why("thought:1").lines
    assert lines[-2] == "action:2 forget by user: a joke, undone by action:3"
    assert lines[-1].startswith("action:3 undo by user: ")


def test_a_superseded_thought_tells_until_when_it_held(memory: Memory, clock: FakeClock) -> None:
    memory.remember("I live in Lyon.")
    memory.post_think()
    clock.advance(3 * 86400)
    memory.remember("I live in Oslo.")
    memory.post_think()
    assert "held from 2024-05-01 to 2024-05-04, retired 2024-05-04 12:00" in memory.why(1).lines
    assert "holds since 2024-05-04, learned 2024-05-04 12:00" in memory.why(2).lines


def test_an_answer_tells_what_it_was_given_and_what_came_of_it(memory: Memory) -> None:
    memory.remember("I live in Lyon.")
    memory.post_think()
    memory.remember("The cathedral of Lyon is old, I live beside it.")
    answer = memory.chat("Is the user living in Lyon, the old cathedral city? I like tea.")
    memory.post_think()
    memory.forget(1, "moved")
    why = memory.why(answer.turn)
    assert (
        why.lines[0]
        == "turn:3, 2024-05-01 12:00, user: Is the user living in Lyon, the old cathedral city? I like tea."
    )
    assert any("thought:1 'The user lives in Lyon.' [retired since]: score" in line for line in why.lines)
    assert any("turn:2 'The cathedral of Lyon" in line for line in why.lines)
    assert any(line.startswith("then action:") for line in why.lines)
    assert why.used == answer.turn.recalled


def test_a_turn_that_recalled_nothing_says_so(memory: Memory) -> None:
    turn = memory.remember("Hello.")
    assert memory.why(turn).lines == (
        "turn:1, 2024-05-01 12:00, user: Hello.",
        "nothing was recalled for it",
    )


@pytest.mark.parametrize("name", ["thought:7", "turn:7", "7"])
def test_what_is_not_there_cannot_be_explained(memory: Memory, name: str) -> None:
    with pytest.raises(NotFound, match=":7"):
        memory.why(name)
