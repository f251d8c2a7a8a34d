"""What kind of memory a text is, by its form."""

from __future__ import annotations

import pytest

from thinkback.text.kind_of import kind_of
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
def test_the_form_tells_the_kind(text: str, kind: Kind) -> None:
    assert kind_of(text) == kind


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
def test_where_it_could_be_any_nothing_is_said(text: str) -> None:
    assert kind_of(text) is None


def test_a_very_long_text_is_judged_by_its_opening() -> None:
    assert kind_of("a" * 1_000_000) is None
    assert kind_of("Tom: hello\n" * 100_000) == "dialogue"
