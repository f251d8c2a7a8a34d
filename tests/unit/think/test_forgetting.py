"""A request to forget hides the sentences about its topic, and keeps the other facts of the message."""

from __future__ import annotations

import pytest
from tests.conftest import OpenMemory

from thinkback.errors import Conflict
from thinkback.memory import Memory
from thinkback.think.forgetting import RemainderKeeper, blank_topic


@pytest.mark.parametrize(
    ("topic", "text", "rest"),
    [
        ("salary", "My salary is 5200 euros. It went up in May. I live in Lyon.", "I live in Lyon."),
        (
            "salary",
            "I live in Lyon, my salary is 5200 euros and my dog is Rex.",
            "I live in Lyon, and my dog is Rex.",
        ),
        ("address", "My address is 14 Elm Street, Springfield. I have two cats.", "I have two cats."),
        ("address", "My address is 14 Elm Street, and the flat number is 5.", ""),
        (
            "password",
            "The password of the club is Tulip. Five letters. I play chess there.",
            "I play chess there.",
        ),
        ("工资", "我的工资是五千。我住在里昂。", "我住在里昂。"),
        ("前男友", "我前男友叫马超，他住北京。不过我最近喜欢上了种花。", "不过我最近喜欢上了种花。"),
        ("chess", "I have two cats.", "I have two cats."),
    ],
)
def test_blank_topic(topic: str, text: str, rest: str) -> None:
    blanked = blank_topic(text, lambda words: topic in words)
    assert len(blanked) == len(text)
    assert " ".join(blanked.split()) == rest


def test_a_topic_spread_over_the_sentences_blanks_all() -> None:
    text = "My boss called. He mentioned the merger."
    blanked = blank_topic(text, lambda words: "boss" in words and "merger" in words)
    assert blanked.strip() == ""


@pytest.fixture
def memory(open_memory: OpenMemory) -> Memory:
    return open_memory(":memory:", think="extractive")


def recalled(memory: Memory, query: str) -> str:
    return "\n".join(item.text for item in memory.recall(query))


@pytest.mark.parametrize("think_first", [True, False])
@pytest.mark.parametrize(
    ("told", "request_", "gone", "question", "stays"),
    [
        (
            "My sister's name is Petra, ugh. And I love gardening.",
            "forget what I told you about my sister",
            "Petra",
            "What do I love?",
            "gardening",
        ),
        (
            "I make 5200 euros a month. My dog is called Biscuit.",
            "forget how much i earn",
            "5200",
            "What is my dog called?",
            "Biscuit",
        ),
        (
            "我妹妹叫李娜，她最近搬走了。我家的猫叫豆豆。",
            "把我妹妹的事忘了吧",
            "李娜",
            "我的猫叫什么？",
            "豆豆",
        ),
    ],
)
def test_the_other_facts_of_the_message_stay(
    memory: Memory, think_first: bool, told: str, request_: str, gone: str, question: str, stays: str
) -> None:
    turn = memory.remember(told)
    if think_first:
        memory.post_think()
    memory.remember(request_)
    for _ in range(2):  # at once, and after thinking
        assert stays in recalled(memory, question)
        assert gone not in recalled(memory, told) + recalled(memory, question)
        assert gone not in " ".join(thought.sentence for thought in memory.thoughts())
        memory.post_think()
    assert turn.id not in [shown.id for shown in memory.turns()]


def test_a_kept_fact_holds_from_the_day_of_its_message(memory: Memory) -> None:
    told = memory.remember("My salary is 5200 euros. I moved to Lyon.")
    memory.remember("forget my salary")
    (home,) = memory.thoughts(relation="lives in")
    assert (home.object, home.valid_from) == ("Lyon", told.at)


@pytest.mark.parametrize("think_first", [True, False])
def test_the_other_clauses_of_a_sentence_kept_as_said_stay(memory: Memory, think_first: bool) -> None:
    memory.remember("My date of birth is 23 May 1979, use it for the visa form, and I am Ghanaian.")
    if think_first:
        memory.post_think()
    memory.remember("please erase my date of birth from your memory")
    stored = " ".join(thought.sentence for thought in memory.thoughts())
    assert "Ghanaian" in stored
    assert "1979" not in stored


def test_clauses_around_the_topic_are_kept_one_by_one(memory: Memory) -> None:
    memory.remember("I play chess with Petra at the club, my salary is 5200 euros, and I have two cats.")
    memory.post_think()
    memory.remember("forget my salary")
    stored = {thought.sentence for thought in memory.thoughts()}
    assert stored == {"The user has two cats.", "I play chess with Petra at the club,"}


def test_a_failure_to_keep_the_rest_is_logged_without_what_was_said(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object) -> None:
        raise Conflict("5200 euros")

    monkeypatch.setattr(RemainderKeeper, "keep", fail)
    told = memory.remember("My salary is 5200 euros. I have two cats.")
    memory.remember("forget my salary")
    assert told.id not in [turn.id for turn in memory.turns()]
    (record,) = caplog.records
    assert record.levelname == "WARNING"
    assert str(told.ref) in record.getMessage()
    assert "Conflict" in record.getMessage()
    assert "5200" not in caplog.text


def test_undoing_the_request_shows_the_message_again_and_repeats_nothing(memory: Memory) -> None:
    memory.remember("My salary is 5200 euros. Our choir sings Bach on Fridays.")
    request_ = memory.remember("forget my salary")
    (kept,) = [thought.sentence for thought in memory.thoughts()]
    (action,) = [each for each in memory.journal(turn=request_.id) if each.action == "forget"]
    memory.undo(action)
    memory.post_think()
    assert "5200" in recalled(memory, "What is my salary?")
    sentences = [thought.sentence for thought in memory.thoughts()]
    assert sentences.count(kept) == 1
    assert "The user's salary is 5200 euros." in sentences  # the message is thought about now


def test_orders_and_secrets_are_not_kept(memory: Memory) -> None:
    memory.remember("My salary is 5200 euros. My bank password is hunter2Xy9. I have two cats.")
    memory.remember("forget my salary")
    stored = " ".join(thought.sentence for thought in memory.thoughts())
    assert "cats" in stored
    assert "hunter2" not in stored


def test_the_explanation_of_a_kept_fact_does_not_quote_what_is_forgotten(memory: Memory) -> None:
    memory.remember("My salary is 5200 euros. Our choir sings Bach on Fridays.")
    memory.remember("forget my salary")
    (thought,) = memory.thoughts()
    explanation = memory.why(thought)
    assert "choir" in "\n".join(explanation.lines)
    assert "5200" not in "\n".join([*explanation.lines, *(turn.query for turn in explanation.sources)])
