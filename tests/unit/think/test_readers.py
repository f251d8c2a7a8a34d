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
        "my name is Joe and I live in Bristol with my two kids",
        "i'm a nurse in leeds",
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


@pytest.mark.parametrize(
    "text",
    [
        "I am 70. No wait that is wrong, 71",
        "i live in leeds, no wait, york",
        "i take 5mg of warfarin. actually its 10mg",
        "我住在杭州，不对，是苏州",
    ],
)
def test_what_a_message_takes_back_itself_is_no_fact(text: str) -> None:
    turn = Turn(id=1, query=text, at=NOW, recorded_at=NOW)
    changes = WithoutModelReader().read(ReadRequest(turns=(turn,)))
    assert [change.fact.sentence for change in changes if change.fact] == [text]
