"""A "yes" or "no" of the user takes its meaning from a plain question at the end of the previous response."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from thinkback.language.yes_no_answers import find_yes_no_answer
from thinkback.think.rule_generator import RuleGenerator
from thinkback.types import Turn

AT = datetime(2024, 5, 15, 12, tzinfo=UTC)


def turn(query: str, response: str = "", id_: int = 1) -> Turn:
    return Turn(id=id_, query=query, response=response, at=AT, recorded_at=AT)


def read_triples(question: str, answer: str) -> list[str]:
    drafts = RuleGenerator().generate(turn(answer, id_=2), (turn("Hello.", question),))
    return [f"{d.subject} | {'not ' if d.negated else ''}{d.relation} | {d.object}" for d in drafts]


@pytest.mark.parametrize(
    ("question", "answer", "triples"),
    [
        ("Are you getting headaches?", "Yes, most evenings.", ["user | has condition | headaches"]),
        ("I see. Do you live in Leeds?", "Yes.", ["user | lives in | Leeds"]),
        ("Do you still live in Oslo?", "I do.", ["user | lives in | Oslo"]),
        ("So you work at Bosch?", "Correct.", ["user | works at | Bosch"]),
        ("Have you been diagnosed with asthma?", "Yeah, years ago", ["user | has condition | asthma"]),
        ("Is your name Tom?", "yep", ["user | is named | Tom"]),
        ("Is your blood pressure 120/80?", "Yes.", ["user | blood pressure | 120/80"]),
        ("Can you speak French?", "Yes!", ["user | speaks | French"]),
        ("Do you like jazz?", "Nope.", ["user | not likes | jazz"]),
        ("Are you a teacher?", "Not really.", ["user | not works as | teacher"]),
        ("Do you live in Leeds?", "No, I live in York.",
         ["user | not lives in | Leeds", "user | lives in | York"]),
        ("你住在北京吗？", "是的。", ["user | lives in | 北京"]),
        ("你对花生过敏吗？", "对", ["user | is allergic to | 花生"]),
    ],
)  # fmt: skip
def test_answer_confirms_or_denies_the_question(question: str, answer: str, triples: list[str]) -> None:
    assert read_triples(question, answer) == triples


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Do you live in Leeds or York?", "Yes."),
        ("Do you live in Leeds? It is lovely there.", "Yes."),
        ("Where do you live?", "Yes."),
        ("Would you like to live in Leeds?", "Yes."),
        ("Do you live in Leeds?", "Yes, but only in summer."),
        ("Do you live in Leeds?", "Yes, what should I see there?"),
        ("Are you allergic to nuts?", "No problem with them."),
        ("Are you looking for a job at Bosch?", "Yes please."),
        ("Do you think your sister lives in Rome?", "Yes"),
        ("Do you want to hear a joke?", "Yes"),
        ("You live in Leeds.", "Yes."),
        ("你住在北京还是上海？", "是的"),
    ],
)
def test_unclear_exchange_yields_no_fact(question: str, answer: str) -> None:
    assert read_triples(question, answer) == []


def test_source_is_the_answer_of_the_user() -> None:
    now = turn("Yes, for years. Any tips?", id_=2)
    (draft,) = RuleGenerator().generate(now, (turn("Hi.", "Do you live in Leeds?"),))
    (source,) = draft.sources
    assert (source.turn, source.side, source.speaker) == (2, "query", "user")
    assert now.query[source.start : source.end] == "Yes, for years."


def test_only_the_previous_turn_is_answered() -> None:
    recent = (turn("Hi.", "Do you live in Leeds?"), turn("It rains.", "Take an umbrella.", id_=2))
    assert find_yes_no_answer(turn("Yes.", id_=3), recent) is None
    assert find_yes_no_answer(turn("Yes.", id_=3), ()) is None
