"""The preset `careful` with the real network: abstention, order, outdated items, explanations."""

from __future__ import annotations

import pytest
from tests.conftest import FakeClock, OpenMemory
from tests.scripted_reader import ScriptedReader, add, fact

from thinkback.errors import ModelTimeout
from thinkback.llms.scripted import ScriptedLLM
from thinkback.memory import Memory
from thinkback.network.cross_encoder import find_cross_encoder
from thinkback.presets import CAREFUL

pytestmark = pytest.mark.skipif(find_cross_encoder() is None, reason="thinkback-reranker is not installed")
DAY = 86_400.0
TOLD = (
    "Anna, my sister, moved to Leeds last week",
    "my sister Anna started at the bakery on monday",
    "i cycle to work every morning",
    "the blood test is on the 14th",
    "my bike got stolen so i take the bus to work now",
    "we had pasta with anna and it was lovely",
)


@pytest.fixture
def careful(open_memory: OpenMemory, clock: FakeClock) -> Memory:
    memory = open_memory(":memory:", preset="careful")
    for text in TOLD:
        memory.remember(text)
        memory.post_think()
        clock.advance(4 * DAY)
    return memory


@pytest.mark.parametrize(
    "question",
    [
        "what's my blood type?",
        "what's my shoe size?",
        "what's the name of my dentist?",
    ],
)
def test_a_question_that_was_never_told_recalls_nothing(careful: Memory, question: str) -> None:
    found = careful.recall(question, explain=True)
    assert not found
    assert found.confidence is not None
    assert found.confidence < CAREFUL.min_confidence
    assert any(
        item.reason.startswith(f"no answer: {found.confidence:.2f} < {CAREFUL.min_confidence:.2f}")
        for item in found.dropped
    )


def open_with(open_memory: OpenMemory, llm: ScriptedLLM) -> Memory:
    memory = open_memory(":memory:", preset="careful", llm=llm, think="extractive")
    for text in TOLD:
        memory.remember(text)
        memory.post_think()
    return memory


def test_a_capable_model_is_given_also_what_is_uncertain(open_memory: OpenMemory) -> None:
    llm = ScriptedLLM(['{"known": false, "answer": "", "used": []}'])
    memory = open_with(open_memory, llm)
    question = "what's my blood type?"
    assert not memory.recall(question)
    answer = memory.ask(question)
    assert (answer.known, answer.by) == (False, "llm")
    assert "blood test" in llm.calls[0][-1].content
    assert "blood test" in str(memory.context(question).messages)


def test_what_is_uncertain_is_no_answer_if_the_model_fails(open_memory: OpenMemory) -> None:
    memory = open_with(open_memory, ScriptedLLM([ModelTimeout("too slow")] * 5))
    answer = memory.ask("what's my blood type?")
    assert (answer.known, answer.by) == (False, "rules")
    assert "too slow" in answer.note


@pytest.mark.parametrize(
    ("question", "answer"), [("what is my sister's job?", "bakery"), ("where does anna live", "Leeds")]
)
def test_an_answer_comes_before_memories_of_the_same_topic(
    careful: Memory, question: str, answer: str
) -> None:
    found = careful.recall(question)
    assert answer in found[0].text
    assert sum("anna" in item.text.lower() for item in found) > 1
    assert found.confidence is not None
    assert found.confidence >= CAREFUL.min_confidence


def test_an_outdated_memory_is_marked_and_comes_after_the_newer_one(careful: Memory) -> None:
    first, second, *_ = careful.recall("how do i get to work?")
    assert "bus" in first.text
    assert first.outdated is None
    assert "cycle" in second.text
    assert second.outdated is not None
    assert not second.outdated.certain


def test_a_question_makes_nothing_outdated(open_memory: OpenMemory) -> None:
    memory = open_memory(":memory:", preset="careful")
    for text in ("my daughter mia cant have dairy", "jess has a dog called pip", "can mia have cheese"):
        memory.remember(text)
        memory.post_think()
    told = next(item for item in memory.recall("what cant mia eat") if "dairy" in item.text)
    assert told.outdated is None


STATED = (
    ("started at the tannery in feb", "The user started to work at the tannery in February 2025."),
    ("callum passed his driving test", "Callum passed the driving test."),
    ("i can't stand coriander", "The user cannot stand coriander."),
    ("i swapped the van for a caddy", "The user swapped the van for a Caddy."),
    ("the physio put me on two sessions a week", "The user has two physiotherapy sessions a week."),
    ("our wifi box is under the stairs", "The user's wifi router is under the stairs."),
    ("moira says the choir tour is off", "Moira told the user that the choir tour is cancelled."),
    ("we put in an offer on a house in Perth", "The user put in an offer on a house in Perth."),
    ("gran turns ninety in august", "The user's grandmother turns ninety in August 2025."),
    ("bailey got his second jab", "Bailey, the user's dog, got the second vaccination."),
)


@pytest.fixture
def stated(open_memory: OpenMemory) -> Memory:
    """A memory whose thoughts were stated by a model."""
    reader = ScriptedReader(
        {text: [add(text, fact(sentence.rstrip("."), sentence))] for text, sentence in STATED}
    )
    memory = open_memory(":memory:", preset="careful", think=reader)
    for text, _ in STATED:
        memory.remember(text)
        memory.post_think()
    return memory


@pytest.mark.parametrize(
    ("question", "answer"),
    [("does callum have a licence?", "driving test"), ("where can i find the modem?", "wifi")],
)
def test_among_stated_thoughts_a_weak_answer_is_recalled(stated: Memory, question: str, answer: str) -> None:
    found = stated.recall(question)
    assert answer in found[0].text
    assert found.confidence is not None
    assert found.confidence < CAREFUL.min_confidence


@pytest.mark.parametrize("question", ["what's my shoe size?", "what does Callum do?"])
def test_among_stated_thoughts_what_was_never_told_recalls_nothing(stated: Memory, question: str) -> None:
    assert not stated.recall(question)


def test_statements_are_not_silenced(careful: Memory) -> None:
    found = careful.recall("I get to work by tram these days")
    assert found
    assert found.confidence is None


def test_the_explanation_says_how_likely_a_memory_answers_that_changed_its_place(careful: Memory) -> None:
    first, second, *_ = careful.recall("where does anna live", explain=True)
    for item, probability in ((first, 0.99), (second, 0.23)):
        assert item.score.breakdown is not None
        label, _, number = item.score.breakdown.adjustments[-1].why.rpartition(" ")
        assert label == "answers the question:"
        assert float(number) == pytest.approx(probability, abs=0.03)  # it differs a little by processor


def test_the_other_presets_do_not_read_the_candidates(careful: Memory) -> None:
    found = careful.recall("what's my blood type?", preset="hybrid")
    assert found
    assert found.confidence is None


def test_an_empty_memory_recalls_nothing(open_memory: OpenMemory) -> None:
    found = open_memory(":memory:", preset="careful").recall("where do I live?")
    assert not found
    assert found.confidence is None
