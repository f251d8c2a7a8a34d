"""The changes that the rule reader proposes, given what is known."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from tests.conftest import OpenMemory

from thinkback.language.names import normalise_name
from thinkback.language.relations import canonical_relation
from thinkback.think.contract import ProposedChange, ReadRequest
from thinkback.think.reader_rules import RuleReader
from thinkback.types import Kind, Thought, Turn

START = datetime(2024, 3, 4, 9, tzinfo=UTC)


def read(*messages: str, known: tuple[Thought, ...] = ()) -> list[ProposedChange]:
    turns = tuple(
        Turn(id=number, query=message, at=START + timedelta(days=30 * number), recorded_at=START)
        for number, message in enumerate(messages, start=1)
    )

    def find(subject: str, relation: str) -> list[Thought]:
        return [
            thought
            for thought in known
            if normalise_name(thought.subject) == normalise_name(subject)
            and canonical_relation(thought.relation) == canonical_relation(relation)
        ]

    return RuleReader().read(ReadRequest(turns=turns, relationships=known, find=find))


def thought(
    relation: str, value: str, *, subject: str = "user", negated: bool = False, id_: int = 7
) -> Thought:
    kind: Kind = "relationship" if relation.startswith("has ") else "profile"
    return Thought(
        id=id_, subject=subject, relation=relation, objects=(value,),
        sentence=f"{subject} {relation} {value}.",
        kind=kind, sources=(), negated=negated, recorded_at=START,
    )  # fmt: skip


def test_a_new_value_is_added_with_its_quote() -> None:
    (change,) = read("Morning! I live in Tucson now, third floor.")
    assert change.action == "add"
    assert change.quote == "I live in Tucson now"
    assert change.fact is not None
    assert change.fact.sentence == "The user lives in Tucson."


def test_one_value_is_replaced_with_the_date_of_the_change() -> None:
    (change,) = read("I moved to Lyon last week.", known=(thought("lives in", "Paris"),))
    assert (change.action, change.targets) == ("replace", (7,))
    assert change.ended_at is not None
    assert change.ended_at < START + timedelta(days=30)


def test_many_values_stay_side_by_side() -> None:
    (change,) = read("I like hiking.", known=(thought("likes", "tea"),))
    assert (change.action, change.targets) == ("add", ())


def test_a_known_value_is_the_same() -> None:
    (change,) = read("As I said, I live in Turin.", known=(thought("lives in", "Turin"),))
    assert (change.action, change.targets) == ("same", (7,))


@pytest.mark.parametrize(
    ("old", "message"),
    [
        (thought("lives in", "Paris"), "I live in Montmartre, Paris."),
        (thought("lives in", "Lyon"), "I moved to Paris in 2010 for my studies."),
        (thought("lives in", "Scotland"), "I live in Glasgow."),
        (thought("lives in", "Paris"), "My sister lives in Lille."),
        (thought("works at", "Bosch"), "I also work at Lidl on weekends."),
        (thought("works at", "Lidl"), "If I worked at Google I would earn more."),
        (thought("lives in", "Rome", subject="Anna"), "Ana lives in Porto."),
        (thought("lives in", "北京"), "我住在北京海淀区。"),
        (thought("lives in", "北京"), "我2010年搬到上海。"),
    ],
)
def test_compatible_facts_are_not_retired(old: Thought, message: str) -> None:
    assert not any(change.targets for change in read(message, known=(old,)) if change.action != "same")


@pytest.mark.parametrize(
    ("old", "message"),
    [
        (thought("works at", "Siemens"), "I no longer work at Siemens."),
        (thought("likes", "black coffee"), "I don't like coffee anymore."),
        (thought("takes", "sertraline 50 mg"), "I stopped taking sertraline."),
        (thought("has dog", "Rex"), "Rex died last week"),
        (thought("lives in", "广州"), "我已经不在广州住了"),
        (thought("has girlfriend", "Carla"), "Carla and I broke up a month ago."),
    ],
)
def test_a_denial_ends_the_known_fact(old: Thought, message: str) -> None:
    (change,) = [change for change in read(message, known=(old,)) if change.action == "end"]
    assert change.targets == (7,)
    assert change.fact is None


def test_a_denial_of_something_unknown_proposes_nothing() -> None:
    assert read("I no longer work at Siemens.", known=(thought("works at", "Bosch"),)) == []


def test_a_dose_replaces_only_the_dose_of_the_same_medicine() -> None:
    known = (thought("takes", "metformin 500 mg"), thought("takes", "lithium 400 mg", id_=8))
    (change,) = read("I take metformin 1000 mg now.", known=known)
    assert (change.action, change.targets) == ("replace", (7,))


def test_a_negation_replaces_the_affirmed_fact() -> None:
    (change,) = read("I hate running", known=(thought("likes", "running"),))
    assert (change.action, change.targets) == ("replace", (7,))
    assert change.fact is not None
    assert change.fact.negated


def test_an_update_within_one_reading_names_the_earlier_change() -> None:
    first, second = read("I live in Oslo.", "I moved to Bergen.")
    assert (first.action, second.action, second.new_targets) == ("add", "replace", (0,))


def test_the_assistant_is_not_read() -> None:
    turn = Turn(id=1, query="ok", response="I live in Paris.", at=START, recorded_at=START)
    assert RuleReader().read(ReadRequest(turns=(turn,))) == []


def test_fact_said_again_in_a_backlog_is_proposed_for_both_turns() -> None:
    first, second = read("I like tea.", "As I said, I like tea. I like tea!")
    assert [(change.action, change.turn) for change in (first, second)] == [("add", 1), ("add", 2)]
    assert (second.targets, second.new_targets) == ((), ())


def test_denied_relationship_is_ended_without_a_model(open_memory: OpenMemory) -> None:
    memory = open_memory(think="extractive")
    for text in ("My dog is called Rex.", "Rex died last week."):
        memory.remember(text)
        memory.post_think()
    assert [thought for thought in memory.thoughts() if "Rex" in thought.objects] == []
    assert "end" in {action.action for action in memory.journal()}
