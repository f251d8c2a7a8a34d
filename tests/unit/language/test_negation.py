"""Negation, contrary relations and scale words in English and Chinese."""

from __future__ import annotations

import pytest

from thinkback.language.negation import (
    find_scale_words,
    invert_relation,
    is_hedged,
    negate,
    replace_with_opposite,
)

PAIRS = [
    ("The user lives in Lyon.", "The user does not live in Lyon."),
    ("The user studies law.", "The user does not study law."),
    ("The user's sister is Anna.", "The user's sister is not Anna."),
    ("The user has a dog named Rex.", "The user does not have a dog named Rex."),
    ("The user is allergic to nuts.", "The user is not allergic to nuts."),
    ("Anna works at Bosch.", "Anna does not work at Bosch."),
    ("用户住在里昂。", "用户不住在里昂。"),
    ("用户对花生过敏。", "用户对花生不过敏。"),
    ("用户有狗叫小白。", "用户没有狗叫小白。"),
    ("用户的生日是5月6日。", "用户的生日不是5月6日。"),
]


@pytest.mark.parametrize(("sentence", "negated"), PAIRS)
def test_negate_is_its_own_inverse(sentence: str, negated: str) -> None:
    assert negate(sentence) == negated
    assert negate(negated) == sentence


@pytest.mark.parametrize(
    ("sentence", "negated"),
    [
        ("The user no longer lives in Lyon.", "The user lives in Lyon."),
        ("The user has visited Rome.", "The user has not visited Rome."),
        ("Quite a day!", "It is not true that quite a day!"),
        ("用户三十岁。", "并非用户三十岁。"),
    ],
)
def test_negate_other_forms(sentence: str, negated: str) -> None:
    assert negate(sentence) == negated


@pytest.mark.parametrize(
    ("sentence", "contrary"),
    [
        ("The user likes tea.", "The user hates tea."),
        ("The user lives in Lyon.", "The user moved away from Lyon."),
        ("用户喜欢茶。", "用户讨厌茶。"),
        ("The user's name is Ann.", "It is not true that The user's name is Ann."),
    ],
)
def test_invert_relation(sentence: str, contrary: str) -> None:
    assert invert_relation(sentence) == contrary


def test_replace_with_opposite() -> None:
    assert replace_with_opposite("a relatively high value") == "a relatively normal value"
    assert replace_with_opposite("白细胞偏高") == "白细胞正常"
    assert replace_with_opposite("a value") == "a value"
    (pole,) = find_scale_words("a Reasonable count")
    assert (pole.word, pole.start) == ("Reasonable", 2)


@pytest.mark.parametrize(
    "text", ["not normal", "isn't normal", "not a normal value", "不正常", "abnormal", "highway"]
)
def test_find_scale_words_ignores_negated_and_partial_words(text: str) -> None:
    assert find_scale_words(text) == []


@pytest.mark.parametrize("text", ["You should keep it low.", "Was it high?", "如果血压高", "It was normal."])
def test_is_hedged(text: str) -> None:
    assert is_hedged(text)
    assert not is_hedged("Your blood pressure is normal.")
