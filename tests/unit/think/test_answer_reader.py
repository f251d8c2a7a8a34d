"""Reading answers as triples, and conflicts between statements and thoughts."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from thinkback.think.answer_reader import AnswerReader, are_comparable, may_be_same_object

AT = datetime(2024, 5, 1, tzinfo=UTC)
READER = AnswerReader()

Triple = tuple[str, str, tuple[str, ...], bool]


def read(answer: str, query: str = "") -> list[Triple]:
    return [(d.subject, d.relation, d.objects, d.negated) for d in READER.read_answer(answer, query, AT)]


def lives(place: str, *, negated: bool = False) -> list[Triple]:
    return [("user", "lives in", (place,), negated)]


@pytest.mark.parametrize(
    "answer",
    [
        "You live in Paris.",
        "Since you live in Paris, you could visit the Louvre.",
        "I remember that you live in Paris.",
        "You told me you live in Paris.",
        "As far as I know, you live in Paris.",
        "In Paris, where you live, it is raining.",
        "Your home is in Paris.",
        "The user lives in Paris.",
        "You live in Paris, so you would need a car.",
    ],
)
def test_english_answer_phrasings_are_read(answer: str) -> None:
    assert read(answer) == lives("Paris")


@pytest.mark.parametrize(
    "answer",
    [
        "你住在上海。",
        "既然你住在上海，可以去外滩。",
        "我记得您住在上海。",
        "你说过你住在上海。",
        "用户住在上海。",
    ],
)
def test_chinese_answer_phrasings_are_read(answer: str) -> None:
    assert read(answer) == lives("上海")


@pytest.mark.parametrize(
    ("answer", "query", "found"),
    [
        ("Paris.", "Where do I live?", lives("Paris")),
        ("In Paris", "Where do I live?", lives("Paris")),
        ("35", "How old am I?", [("user", "is aged", ("35",), False)]),
        ("Bob", "What's my name?", [("user", "is named", ("Bob",), False)]),
        ("上海。", "我住在哪里？", lives("上海")),
        ("Sure.", "Where do I live?", []),
        ("Paris.", "What is the capital of France?", []),
        ("I do not know.", "Where do I live?", []),
    ],
)
def test_bare_reply_is_completed_by_its_question(answer: str, query: str, found: list[Triple]) -> None:
    assert read(answer, query) == found


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        ("You don't like coffee.", [("user", "likes", ("coffee",), True)]),
        ("You have no cats.", [("user", "has", ("cats",), True)]),
        ("Your name is not Anna.", [("user", "is named", ("Anna",), True)]),
        ("You weren't born in Cairo.", [("user", "was born in", ("Cairo",), True)]),
        ("You have no peanut allergy.", [("user", "is allergic to", ("peanut",), True)]),
        ("你不喜欢咖啡。", [("user", "likes", ("咖啡",), True)]),
    ],
)
def test_denials_are_read(answer: str, found: list[Triple]) -> None:
    assert read(answer) == found


@pytest.mark.parametrize(
    "answer",
    [
        "I live in the cloud.",
        "My name is Bot.",
        "我叫小助手。",
        "If you lived in Paris, you would love it.",
        "Do you live in Paris?",
        "You could live in Paris.",
        "你明年31岁。",
    ],
)
def test_statements_not_about_the_user_are_ignored(answer: str) -> None:
    assert read(answer) == []


def conflict(told: str, answer: str) -> str:
    (held,) = READER.read_statements(told, AT)
    return "".join(READER.find_conflict(stated, held) for stated in READER.read_answer(answer, "", AT))


@pytest.mark.parametrize(
    ("told", "answer", "why"),
    [
        ("I live in Lyon.", "You live in Paris.", "same subject and relation, another object"),
        ("I live in Lyon.", "You do not live in Lyon.", "the answer denies it"),
        ("I have a cat named Luna.", "You don't have a cat.", "the answer denies it"),
        ("我的职业是律师。", "你的职业不是律师。", "the answer denies it"),
        ("I hate mushrooms.", "You like mushrooms.", "the answer states what was denied"),
        (
            "I take metformin 500 mg.",
            "You take metformin 1000 mg.",
            "same subject and relation, another amount",
        ),
        ("My birthday is May 6.", "Your birthday is June 6.", "same subject and relation, another object"),
    ],
)
def test_conflicts_are_found(told: str, answer: str, why: str) -> None:
    assert conflict(told, answer) == why


@pytest.mark.parametrize(
    ("told", "answer"),
    [
        ("I live in Lyon.", "You live in Lyon, France."),
        ("I live in Lyon.", "You live in France."),
        ("I live in Lyon.", "你住在里昂。"),
        ("I live in Lyon.", "You don't live in Paris."),
        ("I live in Lyon.", "Bob lives in Paris."),
        ("I like coffee.", "You like tea."),
        ("I have a cat named Luna.", "You don't have a dog."),
        ("I have a cat named Luna.", "You have a cat."),
        ("I speak French.", "You speak German."),
        ("I weigh 70 kg.", "You weigh 70 kilograms."),
        ("My birthday is May 6.", "Your birthday is soon."),
        ("My name is Anna.", "Your name is lovely."),
    ],
)
def test_compatible_statements_do_not_conflict(told: str, answer: str) -> None:
    assert conflict(told, answer) == ""


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("NYC", "New York City"),
        ("34", "thirty-four"),
        ("6 May 1990", "May 6"),
        ("上海市浦东", "上海"),
        ("a dog", "dogs"),
    ],
)
def test_may_be_same_object(one: str, other: str) -> None:
    assert may_be_same_object(one, other)
    assert may_be_same_object(other, one)


@pytest.mark.parametrize(
    ("one", "other"), [("Lyon", "Paris"), ("34", "43"), ("May 6", "June 6"), ("北京", "上海")]
)
def test_different_objects_are_not_the_same(one: str, other: str) -> None:
    assert not may_be_same_object(one, other)
    assert are_comparable(one, other)


@pytest.mark.parametrize(
    ("one", "other"), [("Lyon", "里昂"), ("May 6", "in two weeks"), ("Anna", "lovely"), ("北京", "海淀区")]
)
def test_incomparable_objects(one: str, other: str) -> None:
    assert not are_comparable(one, other)
