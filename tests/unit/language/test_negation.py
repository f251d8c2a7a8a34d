"""Sentences denied and words turned to their opposite, in English and Chinese, without a model."""

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


@pytest.mark.parametrize(("said", "denied"), PAIRS)
def test_a_sentence_and_its_denial_turn_into_each_other(said: str, denied: str) -> None:
    assert negate(said) == denied
    assert negate(denied) == said


@pytest.mark.parametrize(
    ("said", "denied"),
    [
        ("The user no longer lives in Lyon.", "The user lives in Lyon."),
        ("The user has visited Rome.", "The user has not visited Rome."),
        ("Quite a day!", "It is not true that quite a day!"),
        ("用户三十岁。", "并非用户三十岁。"),
    ],
)
def test_other_forms(said: str, denied: str) -> None:
    assert negate(said) == denied


@pytest.mark.parametrize(
    ("said", "contrary"),
    [
        ("The user likes tea.", "The user hates tea."),
        ("The user lives in Lyon.", "The user moved away from Lyon."),
        ("用户喜欢茶。", "用户讨厌茶。"),
        ("The user's name is Ann.", "It is not true that The user's name is Ann."),
    ],
)
def test_a_relation_turned_to_its_contrary(said: str, contrary: str) -> None:
    assert invert_relation(said) == contrary


def test_scale_words_and_their_other_end() -> None:
    assert replace_with_opposite("a relatively high value") == "a relatively normal value"
    assert replace_with_opposite("白细胞偏高") == "白细胞正常"
    assert replace_with_opposite("a value") == "a value"
    (pole,) = find_scale_words("a Reasonable count")
    assert (pole.word, pole.start) == ("Reasonable", 2)


@pytest.mark.parametrize(
    "text", ["not normal", "isn't normal", "not a normal value", "不正常", "abnormal", "highway"]
)
def test_what_is_denied_or_part_of_a_word_is_no_pole(text: str) -> None:
    assert find_scale_words(text) == []


@pytest.mark.parametrize("text", ["You should keep it low.", "Was it high?", "如果血压高", "It was normal."])
def test_advice_conditions_and_the_past_claim_nothing(text: str) -> None:
    assert is_hedged(text)
    assert not is_hedged("Your blood pressure is normal.")
