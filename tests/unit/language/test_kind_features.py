"""Kinds of texts by their form, and the features of questions."""

from __future__ import annotations

import pytest

from thinkback.language.kind_features import NO_PERSON, extract_kind_features, guess_kind
from thinkback.language.tokens import fold_text
from thinkback.types import Kind


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Tom: Did you lock the door?\nAnna Berg: I think so.\nTom: You always say that.", "dialogue"),
        ("王伟：门锁了吗？\n安娜：锁了。", "dialogue"),
        ("Anna is Tom's sister. They met for dinner every Friday.", "relationship"),
        ("Şule Demir is Tom Weaver's chess partner. She lives by the harbour.", "relationship"),
        ("My sister is a nurse.", "relationship"),
        ("安娜是王伟的妹妹。她很会做饭。", "relationship"),
        ("我的妹妹叫安娜。", "relationship"),
        ("Tom's favourite dish is lentil soup.", "profile"),
        ("My name is Bob.", "profile"),
        ("王伟的国籍是中国。", "profile"),
        ("On 3 May 2021 Tom sailed to the island. The sea was rough, and he lost a shoe.", "event"),
        ("2021年5月3日，王伟去了海边。风很大，他丢了一只鞋。", "event"),
    ],
)
def test_guess_kind(text: str, kind: Kind) -> None:
    assert guess_kind(text) == kind


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "Doctor: Okay.",
        "I had soup for lunch.",
        "苹果是我的最爱。",
        "What is my sister's name?",
        "Apples are my favourites.",
    ],
)
def test_guess_kind_unclear_form(text: str) -> None:
    assert guess_kind(text) is None


def test_guess_kind_uses_beginning_of_long_text() -> None:
    assert guess_kind("a" * 1_000_000) is None
    assert guess_kind("Tom: hello\n" * 100_000) == "dialogue"


def features_of(text: str) -> set[str]:
    """All features but the question type, which has its own tests."""
    return {sign for sign in extract_kind_features(text, fold_text(text)) if not sign.startswith("?")}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Who is my godfather?", {"me", "tie"}),
        ("What are my uncles' names?", {"me", "tie"}),
        ("What did you recommend?", {"past", "you", "say"}),
        ("Where does Lena live?", {"name", "trait"}),
        ("Is there a deadline?", {"next", NO_PERSON}),
        ("How do volcanoes form?", {NO_PERSON}),
        ("What's my dog called?", {"me"}),
        ("你给我推荐过什么？", {"you", "me", "say", "past"}),
        ("5月6号我做什么", {"then", "me"}),
        ("我岳父对什么过敏？", {"me", "tie", "trait"}),
        ("火山怎么形成？", {NO_PERSON}),
        ("", {NO_PERSON}),
    ],
)
def test_extract_kind_features(text: str, expected: set[str]) -> None:
    assert features_of(text) == expected


def test_capital_at_start_is_not_a_name() -> None:
    assert "name" not in features_of("Where is it?")
    assert "name" not in features_of("So what did I say?")
    assert "name" in features_of("where is Otto?")


def test_surname_or_nickname_starts_chinese_name() -> None:
    assert "name" in features_of("王倩今年几岁？")
    assert "name" in features_of("我和小林去了哪里？")
    assert "name" not in features_of("蒙古在哪里？")


def test_question_type_is_a_feature() -> None:
    assert "?when" in extract_kind_features("When did it begin?", "when did it begin?")
    assert "?who" in extract_kind_features("谁来了？", "谁来了？")
    assert "?none" in extract_kind_features("Good morning.", "good morning.")
