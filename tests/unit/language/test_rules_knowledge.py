"""Facts about the world and about values, stated by the user or assessed by the assistant."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from thinkback.think.rule_generator import RuleGenerator
from thinkback.types import ThoughtDraft, Turn

AT = datetime(2024, 5, 15, 12, tzinfo=UTC)


def read(query: str, response: str = "") -> list[ThoughtDraft]:
    return RuleGenerator().generate(Turn(id=1, query=query, response=response, at=AT, recorded_at=AT))


@pytest.mark.parametrize(
    ("text", "triple", "sentence"),
    [
        ("The capital of Peru is Lima.", ("Peru", "capital", "Lima"), "The capital of Peru is Lima."),
        ("Lima is the capital of Peru.", ("Peru", "capital", "Lima"), "The capital of Peru is Lima."),
        ("The author of Dune is Frank Herbert.", ("Dune", "author", "Frank Herbert"),
         "The author of Dune is Frank Herbert."),
        ("The platelet count was 150/nl.", ("platelet count", "is", "150/nl"), "Platelet count is 150/nl."),
        ("The creatinine came back at 1.4 mg/dL.", ("creatinine", "is", "1.4 mg/dL"),
         "Creatinine is 1.4 mg/dL."),
    ],
)  # fmt: skip
def test_world_fact_is_knowledge(text: str, triple: tuple[str, str, str], sentence: str) -> None:
    (draft,) = read(text)
    assert (draft.subject, draft.relation, draft.object) == triple
    assert (draft.sentence, draft.kind) == (sentence, "knowledge")


@pytest.mark.parametrize(
    "text",
    [
        "What is the capital of Peru?",
        "My friend says the capital of Australia is Sydney.",
        "If the capital of Peru is Cusco, I am lost.",
        "The name of my street is long.",
        "The meeting is 2 hours.",
        "The exchange rate is unfair.",
    ],
)
def test_other_sentence_is_no_knowledge(text: str) -> None:
    assert read(text) == []


@pytest.mark.parametrize(
    ("told", "answer", "judgement"),
    [
        ("My blood sugar is 7.8 mmol/L.", "That's a bit high. Do you feel thirsty?", ("7.8 mmol/L", "a"
        " bit high")),
        ("My blood pressure is 120/80.", "This is perfectly normal.", ("120/80", "perfectly normal")),
        ("My cholesterol is 190 mg/dL.", "It looks slightly elevated for your age.",
         ("190 mg/dL", "slightly elevated")),
        ("我的血糖是7.8mmol/L。", "这个数值偏高。", ("7.8mmol/L", "偏高")),
    ],
)  # fmt: skip
def test_assessment_is_attributed_to_the_assistant(
    told: str, answer: str, judgement: tuple[str, str]
) -> None:
    _, judged = read(told, answer)
    assert (judged.subject, judged.object, judged.kind) == (*judgement, "knowledge")
    assert [(source.speaker, source.side) for source in judged.sources] == [("assistant", "response")]


@pytest.mark.parametrize(
    ("told", "answer"),
    [
        ("My blood sugar is 7.8 mmol/L and my blood pressure is 120/80.", "That's high."),
        ("My blood sugar is 7.8 mmol/L.", "Is that high?"),
        ("My blood sugar is 7.8 mmol/L.", "That's a high bar to clear, my friend."),
        ("I'm 36.", "That's a good age."),
    ],
)
def test_unclear_assessment_is_ignored(told: str, answer: str) -> None:
    assert all(source.side == "query" for draft in read(told, answer) for source in draft.sources)
