"""Judging and applying proposed changes, through Memory: one by one, journalled, reversible."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from tests.conftest import OpenMemory
from tests.scripted_reader import Propose, ScriptedReader, add, fact, known

from thinkback.memory import Memory
from thinkback.think.contract import ChangeKind, ProposedChange, ReadRequest
from thinkback.types import ThinkResult, Turn

LEEDS = fact("Leeds", "The user lives in Leeds.", relation="lives in")
YORK = fact("York", "The user lives in York.", relation="lives in")


def tell(memory: Memory, *texts: str, response: str = "") -> ThinkResult:
    """Remember the turns and think after each; the result is that of the last one."""
    result = ThinkResult()
    for text in texts:
        memory.remember(text, response)
        result = memory.post_think()
        assert result.failed == 0
    return result


def sentences(memory: Memory) -> list[str]:
    return [thought.sentence for thought in memory.thoughts()]


def change_known(action: ChangeKind, words: str, quote: str) -> Propose:
    def propose(turn: Turn, request: ReadRequest) -> list[ProposedChange]:
        return [ProposedChange(action=action, turn=0, quote=quote, targets=(known(request, words).id,))]

    return propose


def replace_known(words: str, quote: str, new: ProposedChange) -> Propose:
    def propose(turn: Turn, request: ReadRequest) -> list[ProposedChange]:
        return [replace(new, action="replace", quote=quote, targets=(known(request, words).id,))]

    return propose


def test_one_bad_change_does_not_cost_the_others(open_memory: OpenMemory) -> None:
    text = "im in leeds btw, and she hates it. got a whippet called Otto"
    reader = ScriptedReader(
        {
            text: [
                add("she hates it", fact("Leeds", "She hates Leeds.", about="she", relation="hates")),
                add("im in leeds", LEEDS),
                add("a castle in Spain", fact("a castle", "The user has a castle.")),
                add("got a whippet", fact("a yacht in Monaco", "The user owns a yacht in Monaco.")),
                add("a whippet called Otto", fact("Otto", "The user has a whippet called Otto.")),
            ]
        }
    )
    memory = open_memory(think=reader)
    result = tell(memory, text)
    assert sentences(memory) == ["The user lives in Leeds.", "The user has a whippet called Otto."]
    assert [problem.rpartition(": ")[2] for problem in result.problems] == [
        "its subject is the pronoun 'she'",
        "the quote does not stand in the turn",
        "'a yacht in Monaco' was not said",
    ]


def test_quote_may_differ_in_case_width_and_punctuation(open_memory: OpenMemory) -> None:
    text = "ＯＫ so…  I'm   in LEEDS now!!"
    memory = open_memory(think=ScriptedReader({text: [add("i’m in leeds now", LEEDS)]}))
    tell(memory, text)
    (source,) = memory.thoughts()[0].sources
    assert text[source.start : source.end] == "I'm   in LEEDS now"


def test_replacement_retires_the_old_value_and_can_be_undone(open_memory: OpenMemory) -> None:
    reader = ScriptedReader(
        {
            "i live in leeds": [add("i live in leeds", LEEDS)],
            "moved to york": replace_known("Leeds", "moved to york", add("", YORK)),
        }
    )
    memory = open_memory(think=reader)
    tell(memory, "i live in leeds")
    (action,) = tell(memory, "moved to york").actions
    assert (action.action, action.actor) == ("supersede", "scripted")
    assert sentences(memory) == ["The user lives in York."]
    memory.undo(action)
    assert sentences(memory) == ["The user lives in Leeds."]


def test_ended_fact_is_past_and_has_no_successor(open_memory: OpenMemory) -> None:
    reader = ScriptedReader(
        {
            "i have a dog, Rex": [add("a dog, Rex", fact("Rex", "The user has a dog, Rex."))],
            "rex died on sunday": change_known("end", "Rex", "rex died"),
        }
    )
    memory = open_memory(think=reader)
    tell(memory, "i have a dog, Rex", "rex died on sunday")
    assert sentences(memory) == []
    assert [action.action for action in memory.store.journal(memory.user)] == ["insert", "end"]


def test_forgetting_needs_the_words_of_the_user(open_memory: OpenMemory) -> None:
    debt = [add("tom owes me 200", fact("200", "Tom owes the user 200.", about="Tom", relation="owes"))]
    reader = ScriptedReader(
        {
            "tom owes me 200": debt,
            "tom is nice": change_known("forget", "200", "tom is nice"),
            "forget what i said about tom": change_known("forget", "200", "forget what i said"),
        }
    )
    memory = open_memory(think=reader)
    tell(memory, "tom owes me 200", "tom is nice")
    assert sentences(memory) == ["Tom owes the user 200."]
    tell(memory, "forget what i said about tom")
    assert sentences(memory) == []


def test_replacement_of_another_matter_becomes_an_addition(open_memory: OpenMemory) -> None:
    reader = ScriptedReader(
        {
            "i live in leeds": [add("i live in leeds", LEEDS)],
            "bought a kayak": replace_known(
                "Leeds",
                "bought a kayak",
                add("", fact("a kayak", "The user bought a kayak.", relation="bought")),
            ),
        }
    )
    memory = open_memory(think=reader)
    result = tell(memory, "i live in leeds", "bought a kayak")
    assert sentences(memory) == ["The user lives in Leeds.", "The user bought a kayak."]
    assert "is about another matter" in result.problems[0]


def test_replacement_of_a_fact_about_another_one_becomes_an_addition(open_memory: OpenMemory) -> None:
    rome = fact("Rome", "Mia lives in Rome.", about="Mia", relation="lives in")
    reader = ScriptedReader(
        {
            "tom lives in leeds": [
                add("tom lives in leeds", replace(LEEDS, about="Tom", sentence="Tom lives in Leeds."))
            ],
            "mia lives in rome": replace_known("Leeds", "mia lives in rome", add("", rome)),
        }
    )
    memory = open_memory(think=reader)
    tell(memory, "tom lives in leeds", "mia lives in rome")
    assert sentences(memory) == ["Tom lives in Leeds.", "Mia lives in Rome."]


def test_values_of_one_relation_stay_apart(open_memory: OpenMemory) -> None:
    def takes(drug: str) -> ProposedChange:
        return add(drug, fact(drug, f"The user takes {drug}.", relation="takes"))

    text = "im on metformin and ramipril"
    memory = open_memory(think=ScriptedReader({text: [takes("metformin"), takes("ramipril")]}))
    tell(memory, text)
    assert sentences(memory) == ["The user takes metformin.", "The user takes ramipril."]
    memory.forget(memory.thoughts()[0], "not any more")
    assert sentences(memory) == ["The user takes ramipril."]


def test_unknown_relation_is_kept_as_said(open_memory: OpenMemory) -> None:
    text = "the barn holds 40 bales"
    stated = fact("40 bales", "The user's barn holds 40 bales.", about="user's barn", relation="holds")
    memory = open_memory(think=ScriptedReader({text: [add(text, stated)]}))
    tell(memory, text)
    (thought,) = memory.thoughts()
    assert (thought.subject, thought.relation, thought.objects) == ("user's barn", "holds", ("40 bales",))


def test_words_of_the_assistant_are_facts_only_by_assent(open_memory: OpenMemory) -> None:
    dose = fact("BG80 at 25", "The user strings the racket with BG80 at 25.", relation="uses")
    reader = ScriptedReader(
        {
            "which string?": [add("BG80 at 25", dose)],
            "ok 25 it is": [add("ok 25 it is", dose)],
        }
    )
    memory = open_memory(think=reader)
    result = tell(memory, "which string?", response="Try BG80 at 25 pounds.")
    assert sentences(memory) == []
    assert "the assistant said it" in result.problems[0]
    tell(memory, "ok 25 it is")
    (thought,) = memory.thoughts()
    sources = [(source.turn, source.side) for source in thought.sources]
    assert sources[0] == (2, "query")
    assert (1, "response") in sources


def test_secret_does_not_become_a_thought(open_memory: OpenMemory) -> None:
    text = "my password is hunter2!x and i live in leeds"
    reader = ScriptedReader(
        {
            text: [
                add("my password is hunter2!x", fact("hunter2!x", "The user's password is hunter2!x.")),
                add("i live in leeds", LEEDS),
            ]
        }
    )
    memory = open_memory(think=reader)
    tell(memory, text)
    assert sentences(memory) == ["The user lives in Leeds."]


def test_repeated_fact_gets_a_second_source(open_memory: OpenMemory) -> None:
    reader = ScriptedReader(
        {
            "i live in leeds": [add("i live in leeds", LEEDS)],
            "still in leeds": change_known("same", "Leeds", "still in leeds"),
            "leeds is where i live": [add("leeds is where i live", LEEDS)],
        }
    )
    memory = open_memory(think=reader)
    tell(memory, "i live in leeds")
    tell(memory, "still in leeds")
    tell(memory, "leeds is where i live")
    (thought,) = memory.thoughts()
    assert [source.turn for source in thought.sources] == [1, 2, 3]


def test_backlog_is_read_at_once_and_later_turns_may_correct_earlier_ones(open_memory: OpenMemory) -> None:
    reader = ScriptedReader(
        {
            "i live in leeds": [add("i live in leeds", LEEDS)],
            "no wait, york": [add("no wait, york", YORK, action="replace", new_targets=(0,))],
        }
    )
    memory = open_memory(think=reader)
    memory.remember("i live in leeds")
    memory.remember("no wait, york")
    assert memory.post_think().turns == 2
    assert len(reader.requests) == 1
    assert [thought.sentence for thought in memory.thoughts(current=False)] == [LEEDS.sentence, YORK.sentence]
    assert sentences(memory) == ["The user lives in York."]


def test_event_and_state_keep_their_times(open_memory: OpenMemory) -> None:
    friday = datetime(2024, 5, 3, tzinfo=UTC)
    party = replace(fact("party", "The user's party is on 2024-05-03.", kind="event"), valid_from=friday)
    memory = open_memory(think=ScriptedReader({"party on friday": [add("party on friday", party)]}))
    tell(memory, "party on friday")
    assert memory.thoughts()[0].valid_from == friday


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ("Ana is the user's sister.", "Anna is the user's friend.", False),
        ("Joan is the user's boss.", "Joann is the user's aunt.", False),
    ],
)
def test_similar_names_are_two_people(open_memory: OpenMemory, first: str, second: str, same: bool) -> None:
    def relation(sentence: str) -> ProposedChange:
        name, _, role = sentence.rstrip(".").partition(" is ")
        return add(sentence, fact(role, sentence, about=name, relation="is", kind="relationship"))

    memory = open_memory(think=ScriptedReader({first: [relation(first)], second: [relation(second)]}))
    tell(memory, first, second)
    assert len({entity.name for entity in memory.entities()} - {"user"}) == (1 if same else 2)


def test_role_and_name_mean_one_person_once_it_is_said(open_memory: OpenMemory) -> None:
    rome = fact("Rome", "The user's sister lives in Rome.", about="user's sister", relation="lives in")
    oslo = fact("Oslo", "Mia lives in Oslo.", about="Mia", relation="lives in")
    mia = fact(
        "the user's sister", "Mia is the user's sister.", about="Mia", relation="is", kind="relationship"
    )
    reader = ScriptedReader(
        {
            "my sister lives in rome": [add("my sister lives in rome", rome)],
            "mia is my sister": [add("mia is my sister", mia)],
            "mia moved to oslo": replace_known("Rome", "mia moved to oslo", add("", oslo)),
        }
    )
    memory = open_memory(think=reader)
    tell(memory, "my sister lives in rome")
    tell(memory, "mia is my sister")
    assert [thought.object for thought in memory.thoughts(subject="Mia", relation="lives in")] == ["Rome"]
    tell(memory, "mia moved to oslo")
    assert [thought.object for thought in memory.thoughts(subject="my sister", relation="lives in")] == [
        "Oslo"
    ]
