"""The reader without a model: triples and sentences together lose nothing that was told."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from thinkback.think.contract import ReadRequest
from thinkback.think.readers import WithoutModelReader
from thinkback.types import SAID, Turn

NOW = datetime(2026, 11, 16, 9, tzinfo=UTC)


def kept_as_said(text: str) -> list[str]:
    turn = Turn(id=1, query=text, at=NOW, recorded_at=NOW)
    changes = WithoutModelReader().read(ReadRequest(turns=(turn,)))
    return [change.fact.sentence for change in changes if change.fact and change.fact.relation == SAID]


@pytest.mark.parametrize(
    "text",
    [
        "im dana, 34, i live in porto and work as a nurse at santo antonio hospital",
        "name's Priya, I'm a product designer in Bangalore and I've got two cats",
        "my name is Joe and I live in Bristol with my two kids and a dog",
        "我住在杭州，跟我妈一起",
    ],
)
def test_sentence_that_says_more_than_its_triples_is_kept(text: str) -> None:
    assert kept_as_said(text) == [text]


@pytest.mark.parametrize(
    "text",
    [
        "I live in Lyon.",
        "actually i live in bath now lol",
        "im vegan",
        "i moved to oslo yesterday",
        "我现在住在杭州了",
        "我叫李明",
    ],
)
def test_sentence_that_its_triples_state_is_not_kept(text: str) -> None:
    assert kept_as_said(text) == []


def facts(text: str) -> list[str]:
    turn = Turn(id=1, query=text, at=NOW, recorded_at=NOW)
    changes = WithoutModelReader().read(ReadRequest(turns=(turn,)))
    return [change.fact.sentence for change in changes if change.fact]


@pytest.mark.parametrize(
    "text",
    [
        "I am 70. No wait that is wrong, 71",
        "i take 5mg of warfarin. actually its 10mg",
        "我今年39，不对，40了",
    ],
)
def test_value_that_the_same_message_corrects_is_no_fact(text: str) -> None:
    assert facts(text) == [text]


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("I take 10mg of warfarin. I mean it's a lot, right?", "The user takes warfarin 10mg."),
        (
            "I'm allergic to penicillin. Hold on, what was I going to ask?",
            "The user is allergic to penicillin.",
        ),
        ("I moved to Leeds. No, that's all.", "The user lives in Leeds."),
        ("I take 5mg of warfarin. My bad knee still hurts.", "The user takes warfarin 5mg."),
        ("我对花生过敏，不对海鲜过敏", "用户对花生过敏。"),
    ],
)
def test_words_that_only_look_like_a_correction_change_nothing(text: str, fact: str) -> None:
    assert fact in facts(text)
