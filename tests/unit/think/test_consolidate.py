"""Consolidation of groups, through Memory."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest
from tests.conftest import FakeClock, OpenMemory

from thinkback.errors import BadReply
from thinkback.llms.scripted import ScriptedLLM
from thinkback.memory import Memory
from thinkback.think.consolidate import is_consolidation_due
from thinkback.types import Message, Source, ThoughtDraft, Turn


def tell(memory: Memory, clock: FakeClock, *turns: str) -> None:
    for turn in turns:
        clock.advance(60)
        memory.remember(turn)
        assert memory.post_think().failed == 0


def test_joined_names_are_consolidated_immediately(memory: Memory, clock: FakeClock) -> None:
    tell(memory, clock, "Anna lives in Oslo.", "My sister lives in Rome. She likes tea.", "Anna likes jazz.")
    assert len(memory.thoughts(relation="lives in")) == 2
    tell(memory, clock, "My sister is called Anna.")
    (lives,) = memory.thoughts(relation="lives in")
    (likes,) = memory.thoughts(relation="likes")
    assert lives.object == "Rome"
    assert sorted(likes.objects) == ["jazz", "tea"]
    assert {action.actor for action in memory.journal()} == {"rules"}


def test_undone_merge_is_repeated_on_request(memory: Memory, clock: FakeClock) -> None:
    tell(memory, clock, "I like tea.", "I like jazz.")
    memory.undo(memory.journal()[-1])
    clock.advance(60)
    memory.remember("I like golf.")  # joins the first: jazz is retired, tea and golf are one
    memory.post_think()
    (merged,) = memory.thoughts()
    assert merged.objects == ("tea", "golf")


def test_groups_are_due_when_they_have_doubled_in_size() -> None:
    assert [size for size in range(70) if is_consolidation_due(size)] == [8, 16, 32, 64]


def proposals(*replies: object) -> list[str]:
    return [json.dumps(reply) for reply in replies]


def test_model_proposes_and_guard_decides(open_memory: OpenMemory, clock: FakeClock) -> None:
    tell(open_memory(), clock, "Mary lives in Oslo and Tom lives in Rome.")
    merge = {"merges": [{"ids": [1, 2], "sentence": "They live."}]}
    forget = {"forget": [{"id": 1, "against": 2, "reason": "one home is enough"}]}
    llm = ScriptedLLM(proposals(merge, forget))
    memory = open_memory(llm=llm)
    before = memory.thoughts()
    assert memory.organise().actions == ()
    assert len(llm.calls) == 2
    assert "1. Mary lives in Oslo.\n2. Tom lives in Rome." in llm.calls[0][-1].content
    assert memory.thoughts() == before


def test_unreadable_reply_is_reported(open_memory: OpenMemory, clock: FakeClock) -> None:
    tell(open_memory(), clock, "Mary lives in Oslo and Tom lives in Rome.")
    memory = open_memory(llm=ScriptedLLM(proposals({"merges": [{"ids": "all", "sentence": 7}]})))
    with pytest.raises(BadReply, match="merge"):
        memory.organise()


def test_consolidated_group_does_not_change(memory: Memory, clock: FakeClock) -> None:
    names = [f"Person{chr(65 + n % 26)}{chr(97 + n // 26)}" for n in range(50)]
    tell(memory, clock, *(f"{name} lives in Rome." for name in names))
    assert memory.stats().thoughts == 50
    assert memory.organise().actions == ()


def test_erasing_an_alias_restores_what_it_merged(memory: Memory, clock: FakeClock) -> None:
    tell(memory, clock, "Anna lives in Oslo.", "My sister lives in Rome.", "My sister is called Anna.")
    assert [thought.object for thought in memory.thoughts(relation="lives in")] == ["Rome"]
    memory.erase(turn=3)
    memory.post_think()
    lives = {thought.subject: thought.object for thought in memory.thoughts(relation="lives in")}
    assert lives == {"Anna": "Oslo", "user's sister": "Rome"}


def test_consolidated_thought_names_all_aliases(memory: Memory, clock: FakeClock) -> None:
    tell(memory, clock, "Anna lives in Oslo.", "My sister lives in Rome.", "My sister is called Anna.")
    (lives,) = memory.thoughts(relation="lives in")
    assert "Anna" in lives.sentence
    assert "sister" in lives.sentence


def test_erased_name_disappears_from_all_thoughts(memory: Memory, clock: FakeClock) -> None:
    """The second turn is stored under a name that only the first turn mentioned."""
    tell(memory, clock, "My sister is called Xanthippe.", "My sister lives in Rome.", "My sister likes tea.")
    assert {thought.subject for thought in memory.thoughts()} == {"user", "Xanthippe"}
    assert memory.erase(turn=1).requeued == 2
    assert "Xanthippe" not in "".join(memory.export())
    memory.post_think()
    assert {thought.subject for thought in memory.thoughts()} == {"user's sister"}
    assert "Xanthippe" not in "".join(memory.export())


class TripleGenerator:
    """Reads turns of the form "subject|relation|object"."""

    name = "notes"

    def generate(self, turn: Turn, recent: Sequence[Turn] = ()) -> list[ThoughtDraft]:
        subject, relation, item = turn.query.split("|")
        return [
            ThoughtDraft(
                subject=subject,
                relation=relation,
                objects=(item,),
                sentence=f"{subject} {relation} {item}.",
                kind="knowledge",
                sources=(Source(turn.id, turn.asker, "query", 0, len(turn.query)),),
                valid_from=turn.at,
            )
        ]


def test_erasing_a_contradiction_restores_the_thought(open_memory: OpenMemory, clock: FakeClock) -> None:
    said = {"forget": [{"id": 1, "against": 2, "reason": "it sails under blue now"}]}
    memory = open_memory(think=TripleGenerator(), llm=ScriptedLLM(proposals({"merges": []}, said)))
    tell(memory, clock, "Argo|sails under|red", "Argo|sails under|blue")
    assert [thought.object for thought in memory.thoughts()] == ["blue"]
    (version, _) = memory.history("Argo")
    assert [action.action for action in version.actions] == ["insert", "forget"]
    memory.erase(turn=2)
    assert [thought.object for thought in memory.thoughts()] == ["red"]
    assert "blue" not in "".join(memory.export())


def test_thought_erased_during_the_model_call_is_skipped(open_memory: OpenMemory, clock: FakeClock) -> None:
    other = open_memory()

    def erases(messages: Sequence[Message]) -> str:
        other.erase(turn=1)
        return json.dumps({"forget": [{"id": 1, "against": 2, "reason": "newer"}]})

    memory = open_memory(think=TripleGenerator(), llm=ScriptedLLM([json.dumps({"merges": []}), erases]))
    tell(memory, clock, "Argo|sails under|red", "Argo|sails under|blue")
    assert [thought.object for thought in memory.thoughts()] == ["blue"]
