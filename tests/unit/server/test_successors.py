"""Successors of a thought: superseded, merged, corrected repeatedly, or none."""

from __future__ import annotations

from thinkback.memory import Memory
from thinkback.server.turn_status import find_successors
from thinkback.types import Thought, Turn


def told(memory: Memory, text: str) -> Thought:
    memory.remember(text)
    memory.post_think()
    return memory.thoughts()[-1]


def texts(found: tuple[Thought | Turn, ...]) -> list[str]:
    return [each.sentence if isinstance(each, Thought) else each.text for each in found]


def again(memory: Memory, thought: Thought) -> Thought:
    (found,) = memory.store.thoughts(memory.user, ids=[thought.id], current=False)
    return found


def test_current_thought_has_no_successor(memory: Memory) -> None:
    assert find_successors(memory, told(memory, "I live in Lyon.")) == ()


def test_superseding_thought_is_successor(memory: Memory) -> None:
    lyon = told(memory, "I live in Lyon.")
    told(memory, "I live in Paris.")
    told(memory, "I live in Rome.")
    assert texts(find_successors(memory, again(memory, lyon))) == ["The user lives in Rome."]


def test_corrections_are_followed_to_the_last(memory: Memory) -> None:
    lyon = told(memory, "I live in Lyon.")
    memory.correct(lyon, "I live in Paris.", "a slip")
    memory.post_think()
    memory.correct(memory.thoughts()[-1], "I live in Rome.", "another")
    memory.post_think()
    assert texts(find_successors(memory, again(memory, lyon))) == ["The user lives in Rome."]


def test_correction_without_thought_is_the_turn(memory: Memory) -> None:
    lyon = told(memory, "I live in Lyon.")
    memory.correct(lyon, "Nowhere in particular", "a slip")
    assert texts(find_successors(memory, again(memory, lyon))) == ["Nowhere in particular"]
    memory.post_think()
    assert texts(find_successors(memory, again(memory, lyon))) == ["Nowhere in particular"]


def test_forgotten_thought_has_no_successor(memory: Memory) -> None:
    lyon = told(memory, "I live in Lyon.")
    memory.forget(lyon, "corrected in turn:x: a reason that only looks like ours")
    assert find_successors(memory, again(memory, lyon)) == ()
