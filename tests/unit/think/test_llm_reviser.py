"""A small model brings held thoughts up to date: told through the whole memory."""

from __future__ import annotations

import json

import pytest
from tests.conftest import FakeClock, OpenMemory

from thinkback.memory import Memory
from thinkback.models.scripted import ScriptedLLM

UNREAD = "gave my badge back on friday, monday is day one for me over at Bosch"


def chose(fact: int, new: str) -> str:
    return json.dumps({"fact": fact, "new": new})


def answered(word: str) -> str:
    return json.dumps({"answer": word})


def told(open_memory: OpenMemory, clock: FakeClock, *replies: str) -> tuple[Memory, ScriptedLLM]:
    llm = ScriptedLLM(list(replies), extracts=False, judges=True)
    memory = open_memory(":memory:", llm=llm)
    memory.remember("I work at Siemens.")
    memory.post_think()
    clock.advance(3600)
    memory.remember(UNREAD)
    memory.post_think()
    return memory, llm


def employer(memory: Memory) -> list[str]:
    return [thought.object for thought in memory.thoughts(relation="works at")]


def test_a_line_no_rule_reads_brings_a_thought_up_to_date(open_memory: OpenMemory, clock: FakeClock) -> None:
    memory, llm = told(open_memory, clock, chose(1, "Bosch"), answered("yes"))
    assert employer(memory) == ["Bosch"]
    assert "1. The user works at Siemens." in llm.calls[0][-1].content
    assert f"Message: {UNREAD}\nSentence: The user works at Bosch." in llm.calls[1][-1].content
    (change,) = [action for action in memory.journal() if action.action == "supersede"]
    assert change.actor.startswith("scripted revise@")
    (held,) = memory.thoughts(relation="works at")
    assert [source.turn for source in held.sources] == [2]


@pytest.mark.parametrize(
    "replies",
    [
        [chose(0, "")],
        [chose(1, "Bosch"), answered("no")],  # the second look does not confirm it
        [chose(1, "Leeds")],  # not in the message
        [chose(1, "")],
        [chose(1, UNREAD)],  # the message itself
    ],
)
def test_what_is_not_certain_changes_nothing(
    open_memory: OpenMemory, clock: FakeClock, replies: list[str]
) -> None:
    memory, llm = told(open_memory, clock, *replies)
    assert employer(memory) == ["Siemens"]
    assert (len(llm.calls), memory.failures()) == (len(replies), [])


def test_a_name_does_not_take_a_numbers_place(open_memory: OpenMemory) -> None:
    llm = ScriptedLLM([chose(1, "Bosch")], extracts=False, judges=True)
    memory = open_memory(":memory:", llm=llm)
    memory.remember("I weigh 82 kg.")
    memory.remember(UNREAD)
    memory.post_think()
    assert [thought.object for thought in memory.thoughts(relation="weighs")] == ["82 kg"]


def test_it_is_not_asked_where_rules_read_or_nothing_is_held(open_memory: OpenMemory) -> None:
    llm = ScriptedLLM([], extracts=False, judges=True)
    memory = open_memory(":memory:", llm=llm)
    for turn in (UNREAD, "I like tea.", "I moved to Lyon.", "How are you?"):
        memory.remember(turn)
    assert memory.post_think().failed == 0
    assert llm.calls == []


def test_a_reply_that_cannot_be_read_is_tried_again_later(open_memory: OpenMemory, clock: FakeClock) -> None:
    memory, _ = told(open_memory, clock, chose(99, "Bosch"))
    assert memory.stats().pending == 1
    assert len(memory.recall("Where do I start on Monday?")) > 0
