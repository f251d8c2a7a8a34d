"""The extractive reader keeps what the user states, as said, and proposes nothing but additions."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thinkback.embedders.hashing import HashingEmbedder
from thinkback.think.contract import ProposedChange, ReadRequest, TurnReader
from thinkback.think.reader_extractive import SAID, ExtractiveReader
from thinkback.types import Turn

AT = datetime(2025, 3, 12, 9, 30, tzinfo=UTC)
READER = ExtractiveReader()


def turn(query: str, response: str = "", id_: int = 1, session: str = "s") -> Turn:
    return Turn(id=id_, query=query, response=response, at=AT, recorded_at=AT, session=session)


def read(query: str, before: Turn | None = None) -> list[ProposedChange]:
    return READER.read(ReadRequest(turns=(turn(query, id_=2),), recent=(before,) if before else ()))


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ("My sister Ingrid is a nurse in Bergen. What should I cook tonight?", "Ingrid"),
        ("im allergic to walnuts and my doctor put me on 20mg of cetirizine", "walnuts"),
        ("I work at the port in Rotterdam as a crane operator.", "crane operator"),
        ("我女儿今年上初二，在市里的实验中学。", "初二"),
        ("我在苏州一家医院当护士，做了八年了。", "护士"),
    ],
)
def test_stated_facts_are_kept_as_said(message: str, words: str) -> None:
    changes = read(message)
    kept = [change for change in changes if words in change.quote]
    assert kept, changes
    for change in changes:
        assert change.action == "add"
        assert change.quote in message
        assert change.fact is not None
        assert change.fact.relation == SAID
        assert change.fact.value == change.quote
        assert change.quote in change.fact.sentence


@pytest.mark.parametrize(
    "message",
    [
        "What's the capital of Mongolia?",
        "thanks, that helps a lot",
        "Haha, good one.",
        "If I won the lottery I would buy a castle.",
        "谢谢你，辛苦了",
        "为什么天空是蓝色的？",
        "“我在北京工作”",
    ],
)
def test_nothing_is_kept_without_a_statement(message: str) -> None:
    assert read(message) == []


def test_endless_sentence_is_not_kept() -> None:
    assert read("lorem ipsum dolor " * 60_000) == []


def test_a_short_answer_is_kept_with_its_question() -> None:
    before = turn("We got a dog!", "How lovely! What breed is she, and what is her name?")
    sentences = [change.fact.sentence for change in read("a beagle called Pepper", before) if change.fact]
    assert sentences == ["Asked: What breed is she, and what is her name? Answered: a beagle called Pepper"]
    other = turn("We got a dog!", "What is her name?", session="another")
    assert all(
        "Asked" not in change.fact.sentence for change in read("a beagle called Pepper", other) if change.fact
    )


def test_relative_dates_are_written_beside_the_words() -> None:
    (change,) = read("I started my new job at the bakery yesterday.")
    assert change.fact is not None
    assert change.fact.sentence == "I started my new job at the bakery yesterday (2025-03-11)."
    assert change.fact.value == "I started my new job at the bakery yesterday."


def test_several_turns_are_read_in_order() -> None:
    first, second = (
        turn("My name is Olga and I live in Riga."),
        turn("I'm a dentist with two children.", id_=2),
    )
    changes = READER.read(ReadRequest(turns=(first, second)))
    assert {change.turn for change in changes} == {1, 2}
    assert [change.turn for change in changes] == sorted(change.turn for change in changes)


def test_an_unknown_embedder_does_not_change_the_result() -> None:
    reader: TurnReader = ExtractiveReader(HashingEmbedder(32))
    request = ReadRequest(turns=(turn("I work at the port in Rotterdam as a crane operator."),))
    assert reader.read(request) == READER.read(request)


@settings(max_examples=30, deadline=None)
@given(st.text(max_size=300))
def test_any_text_is_read_and_every_quote_is_exact(message: str) -> None:
    for change in read(message):
        assert change.quote in message
        assert change.fact is not None
        assert change.fact.value == change.quote
