"""Consolidation through Memory: true duplicates always, the model's proposals with preset `tim`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

import pytest
from tests.conftest import FakeClock, OpenMemory
from tests.scripted_reader import add, fact

from thinkback.errors import BadReply
from thinkback.language.safety import scan
from thinkback.llms.scripted import ScriptedLLM
from thinkback.memory import Memory
from thinkback.think.consolidate import is_consolidation_due
from thinkback.think.contract import ProposedChange, ReadRequest
from thinkback.types import Message


class TripleReader:
    """Reads turns of the form "subject|relation|object"; a fourth part is the kind."""

    name = "notes"
    max_turns = 1
    needs_related = False

    def prepare(self) -> None:
        pass

    def read(self, request: ReadRequest) -> list[ProposedChange]:
        (turn,) = request.turns
        subject, relation, value, *kind = turn.query.split("|")
        stated = fact(value, f"{subject} {relation} {value}.", about=subject, relation=relation)
        if kind:
            stated = replace(stated, kind="relationship")
        return [replace(add(turn.query, stated), turn=turn.id)]


def tell(memory: Memory, clock: FakeClock, *turns: str) -> None:
    for turn in turns:
        clock.advance(60)
        memory.remember(turn)
        assert memory.post_think().failed == 0


def objects(memory: Memory) -> list[str]:
    return [thought.object for thought in memory.thoughts()]


def proposals(*replies: object) -> list[str]:
    return [json.dumps(reply) for reply in replies]


def test_duplicates_under_two_names_of_one_person_are_merged(
    open_memory: OpenMemory, clock: FakeClock
) -> None:
    memory = open_memory(think=TripleReader())
    tell(memory, clock, "Anna|likes|tea", "user's sister|likes|tea", "user's sister|likes|jazz")
    assert memory.organise().actions == ()
    tell(memory, clock, "Anna|is|the user's sister|relationship")
    (action,) = memory.organise().actions
    assert (action.action, action.actor) == ("merge", "duplicates")
    assert sorted(objects(memory)) == ["jazz", "tea", "the user's sister"]
    (tea,) = [thought for thought in memory.thoughts() if thought.object == "tea"]
    assert [source.turn for source in tea.sources] == [1, 2]
    memory.undo(action)
    assert sorted(objects(memory)) == ["jazz", "tea", "tea", "the user's sister"]


def test_erasing_the_turn_that_joined_two_names_restores_the_duplicates(
    open_memory: OpenMemory, clock: FakeClock
) -> None:
    memory = open_memory(think=TripleReader())
    tell(memory, clock, "Anna|likes|tea", "user's sister|likes|tea", "Anna|is|the user's sister|relationship")
    memory.organise()
    assert len(memory.thoughts(relation="likes")) == 1
    memory.erase(turn=3)
    memory.post_think()
    assert {thought.subject for thought in memory.thoughts()} == {"Anna", "user's sister"}


def test_erased_name_disappears_from_all_thoughts(open_memory: OpenMemory, clock: FakeClock) -> None:
    """The second turn is stored under a name that only the first turn mentioned."""
    memory = open_memory(think=TripleReader())
    tell(memory, clock, "Xanthippe|is|the user's sister|relationship", "user's sister|likes|tea")
    assert {thought.subject for thought in memory.thoughts()} == {"Xanthippe"}
    assert memory.erase(turn=1).requeued == 1
    assert "Xanthippe" not in "".join(memory.export())
    memory.post_think()
    assert {thought.subject for thought in memory.thoughts()} == {"user's sister"}


def test_different_values_are_never_merged_without_a_model(
    open_memory: OpenMemory, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scan, "find_cross_encoder", lambda: None)  # "a-tea" looks like a password to it
    memory = open_memory(think=TripleReader())
    tell(memory, clock, *(f"user|likes|{letter}-tea" for letter in "abcdefghijklmnop"))
    assert memory.stats().thoughts == 16
    assert {action.action for action in memory.journal()} == {"insert"}


def test_groups_are_due_when_they_have_doubled_in_size() -> None:
    assert [size for size in range(70) if is_consolidation_due(size)] == [8, 16, 32, 64]


def test_model_organises_groups_only_with_a_preset_that_asks_for_it(
    open_memory: OpenMemory, clock: FakeClock
) -> None:
    tell(open_memory(think=TripleReader()), clock, "Mary|sails|red boats", "Mary|sails|blue boats")
    merge = {"merges": [{"ids": [1, 2], "sentence": "Mary sails red boats and blue boats."}]}
    llm = ScriptedLLM(proposals(merge, {"forget": []}))
    assert open_memory(llm=llm).organise().actions == ()
    assert llm.calls == []
    memory = open_memory(llm=llm, preset="tim")
    (action,) = memory.organise().actions
    assert action.action == "merge"
    (merged,) = memory.thoughts()
    assert merged.objects == ("red boats", "blue boats")


def test_model_proposes_and_unjustified_proposals_change_nothing(
    open_memory: OpenMemory, clock: FakeClock
) -> None:
    tell(open_memory(think=TripleReader()), clock, "Mary|lives in|Oslo", "Tom|lives in|Rome")
    merge = {"merges": [{"ids": [1, 2], "sentence": "They live."}]}
    forget = {"forget": [{"id": 1, "against": 2, "reason": "one home is enough"}]}
    llm = ScriptedLLM(proposals(merge, forget))
    memory = open_memory(llm=llm, preset="tim")
    before = memory.thoughts()
    assert memory.organise().actions == ()
    assert "1. Mary lives in Oslo.\n2. Tom lives in Rome." in llm.calls[0][-1].content
    assert memory.thoughts() == before


def test_unreadable_reply_is_reported(open_memory: OpenMemory, clock: FakeClock) -> None:
    tell(open_memory(think=TripleReader()), clock, "Mary|lives in|Oslo", "Tom|lives in|Rome")
    memory = open_memory(
        llm=ScriptedLLM(proposals({"merges": [{"ids": "all", "sentence": 7}]})), preset="tim"
    )
    with pytest.raises(BadReply, match="merge"):
        memory.organise()


def test_erasing_a_contradiction_restores_the_thought(open_memory: OpenMemory, clock: FakeClock) -> None:
    said = {"forget": [{"id": 1, "against": 2, "reason": "it sails under blue now"}]}
    memory = open_memory(think=TripleReader(), llm=ScriptedLLM(proposals({"merges": []}, said)), preset="tim")
    tell(memory, clock, "Argo|sails under|red", "Argo|sails under|blue")
    memory.organise()
    assert objects(memory) == ["blue"]
    memory.erase(turn=2)
    assert objects(memory) == ["red"]
    assert "blue" not in "".join(memory.export())


def test_thought_erased_during_the_model_call_is_skipped(open_memory: OpenMemory, clock: FakeClock) -> None:
    other = open_memory(think=TripleReader())

    def erases(messages: Sequence[Message]) -> str:
        other.erase(turn=1)
        return json.dumps({"forget": [{"id": 1, "against": 2, "reason": "newer"}]})

    llm = ScriptedLLM([json.dumps({"merges": []}), erases])
    memory = open_memory(think=TripleReader(), llm=llm, preset="tim")
    tell(memory, clock, "Argo|sails under|red", "Argo|sails under|blue")
    memory.organise()
    assert objects(memory) == ["blue"]
