"""Names in plain sentences, found by spelling and by their surroundings anywhere in the same memory."""

from __future__ import annotations

import pytest

from thinkback.language.proper_names import find_proper_names


def names(*texts: str) -> set[str]:
    return {mention.name for found in find_proper_names(texts) for mention in found}


def people(*texts: str) -> set[str]:
    return {mention.name for found in find_proper_names(texts) for mention in found if mention.is_person}


@pytest.mark.parametrize(
    "text",
    [
        "Answered the letter. Tired now.",
        "How's the weather? Liquorice for everyone!",
        "Monday is the fourth of March. Five of them.",
        "I said: Keys are on the table. Working late — Breakfast first.",
        "On Christmas Eve? No, on Tuesday in October.",
        "Thank God for that, said Dad.",
    ],
)
def test_capitals_of_sentences_and_of_the_calendar_are_no_names(text: str) -> None:
    assert names(text) <= {"Eve"}


def test_first_word_is_a_name_if_another_sentence_has_it_inside() -> None:
    assert names("Bolota sleeps a lot.") == set()
    assert names("Bolota sleeps a lot.", "The vet weighed our cat Bolota.") == {"Bolota"}


def test_word_that_is_also_written_in_lower_case_is_no_name() -> None:
    assert names("They said Snow, and then snow fell.") == set()


def test_people_are_told_from_places() -> None:
    texts = [
        "My brother Tivadar moved to Szeged.",
        "We met Ilka in Szeged.",
        "Ask Mrs Tavares, or Dr. Shenoy.",
    ]
    assert people(*texts) == {"Tivadar", "Ilka", "Mrs Tavares", "Dr Shenoy"}
    assert names(*texts) - people(*texts) == {"Szeged"}


def test_names_of_several_words_and_possessives() -> None:
    assert {"Church Street", "Ponta Delgada"} <= names(
        "The shelter on Church Street is full.", "I fly to Ponta Delgada."
    )
    assert people("I drove Kristin's boy home, and Kristin laughed.") == {"Kristin"}
    assert names("We had lunch on Father's Day.") == set()


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["女儿周敏带着孩子从西安回来。", "周敏说她很好。"], {"周敏"}),
        (["今天杜老师来看我。"], {"杜老师"}),
        (["老周的眼睛做完手术了。"], {"老周"}),
        (["豆豆升四年级了。", "今年豆豆很乖，我带豆豆去公园。"], {"豆豆"}),
        (["周末我们慢慢走到高中，马上下雨了，谢谢。"], set()),
        (["小区的老板说小时候常常吃牛肉。"], set()),
    ],
)
def test_chinese_people(texts: list[str], expected: set[str]) -> None:
    assert people(*texts) == expected


def test_chinese_places_are_no_people() -> None:
    assert names("我从成都搬到西安。") == {"成都", "西安"}
    assert people("我从成都搬到西安。") == set()


def test_one_list_for_each_text() -> None:
    assert find_proper_names([]) == []
    assert find_proper_names(["", "nothing here"]) == [(), ()]
