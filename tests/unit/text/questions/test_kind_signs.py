"""Signs: classes of words, in both languages; what is no person's is nobody's."""

from __future__ import annotations

import pytest

from thinkback.text.questions.kind_signs import NOBODY, signs
from thinkback.text.tokens import fold


def found(text: str) -> set[str]:
    """Without what is asked for, which has tests of its own."""
    return {sign for sign in signs(text, fold(text)) if not sign.startswith("?")}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Who is my godfather?", {"me", "tie"}),
        ("What are my uncles' names?", {"me", "tie"}),
        ("What did you recommend?", {"past", "you", "say"}),
        ("Where does Lena live?", {"name", "trait"}),
        ("Is there a deadline?", {"next", NOBODY}),
        ("How do volcanoes form?", {NOBODY}),
        ("What's my dog called?", {"me"}),
        ("你给我推荐过什么？", {"you", "me", "say", "past"}),
        ("5月6号我做什么", {"then", "me"}),
        ("我岳父对什么过敏？", {"me", "tie", "trait"}),
        ("火山怎么形成？", {NOBODY}),
        ("", {NOBODY}),
    ],
)
def test_the_signs_of_a_text(text: str, expected: set[str]) -> None:
    assert found(text) == expected


def test_a_capital_at_the_start_is_no_name() -> None:
    assert "name" not in found("Where is it?")
    assert "name" not in found("So what did I say?")
    assert "name" in found("where is Otto?")


def test_a_surname_or_a_pet_name_begins_a_chinese_name() -> None:
    assert "name" in found("王倩今年几岁？")
    assert "name" in found("我和小林去了哪里？")
    assert "name" not in found("蒙古在哪里？")


def test_what_is_asked_for_is_a_sign() -> None:
    assert "?when" in signs("When did it begin?", "when did it begin?")
    assert "?who" in signs("谁来了？", "谁来了？")
    assert "?none" in signs("Good morning.", "good morning.")
