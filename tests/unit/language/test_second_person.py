"""Sentences of the user as said back to the user."""

from __future__ import annotations

import pytest

from thinkback.language.second_person import to_second_person


@pytest.mark.parametrize(
    ("said", "back"),
    [
        ("my sister Anna moved to Turku", "your sister Anna moved to Turku"),
        ("I'm a nurse and I was tired", "you're a nurse and you were tired"),
        ("we took our dog with us", "you took your dog with you"),
        ("im learning Finnish by myself", "you're learning Finnish by yourself"),
        ("I get up at 6 am", "you get up at 6 am"),
        ("The user lives in Lyon.", "you live in Lyon."),
        ("The user's brother is Tom.", "your brother is Tom."),
        ("The user does not eat meat.", "you do not eat meat."),
        ("The user studies law and the user is tired.", "you study law and you are tired."),
        ("我女朋友叫小雨", "你女朋友叫小雨"),
        ("用户对海鲜过敏。", "你对海鲜过敏。"),
        ("my tutor is dr Song，人很好", "your tutor is dr Song，人很好"),
        ("我和my roommate一起做饭", "你和your roommate一起做饭"),
        ("am allergic to latex", "you are allergic to latex"),
        ("my aunt lives in the US", "your aunt lives in the US"),
        ("my son goes to My First Skool", "your son goes to My First Skool"),
        ("I live in Lyon. My Sister Act tape broke", "you live in Lyon. your Sister Act tape broke"),
    ],
)
def test_first_person_becomes_second(said: str, back: str) -> None:
    assert to_second_person(said) == back


@pytest.mark.parametrize(
    "said",
    [
        "I told you about Tom",
        "she said “I love my job”",
        "im dead after that shift",
        "我跟你说过我姐",
        "我快累死了",
    ],
)
def test_what_cannot_be_said_back_is_not_rewritten(said: str) -> None:
    assert to_second_person(said) is None
