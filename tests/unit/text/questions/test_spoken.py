"""What a query tells and what it asks."""

from __future__ import annotations

import pytest

from thinkback.text.questions.spoken import Spoken, is_brief, spoken


def test_a_plain_question_tells_nothing() -> None:
    assert spoken("Where does my sister live now?") == Spoken("asks", "", "Where does my sister live now")
    assert spoken("我妹妹现在住在哪里？") == Spoken("asks", "", "我妹妹现在住在哪里")


@pytest.mark.parametrize(
    ("query", "told", "asked"),
    [
        (
            "The address is 5 Park Road. Do you know the phone number of it?",
            "The address is 5 Park Road.",
            "Do you know the phone number of it",
        ),
        ("地址在颐和园路5号，你知道电话是多少吗？", "地址在颐和园路5号", "你知道电话是多少吗"),
        (
            "是的呢，建议游玩时间是2小时，就是不知道门票贵不贵？",
            "是的呢 建议游玩时间是2小时",
            "就是不知道门票贵不贵",
        ),
    ],
)
def test_people_tell_while_they_ask(query: str, told: str, asked: str) -> None:
    assert spoken(query) == Spoken("asks", told, asked)


def test_a_clause_too_short_to_search_by_takes_the_one_before() -> None:
    assert spoken("I lost the red umbrella, where?").asked == "I lost the red umbrella  where"
    assert spoken("Why?") == Spoken("asks", "", "Why")


def test_a_statement_asks_nothing() -> None:
    assert spoken("I moved to Oslo.") == Spoken("tells", told="I moved to Oslo.")
    assert spoken("我搬到了奥斯陆。") == Spoken("tells", told="我搬到了奥斯陆。")


@pytest.mark.parametrize(
    "words",
    ["green tea", "sister job", "car broke down", "my passport number", "Dr. Patel", "绿茶", "妹妹 工作"],
)
def test_a_few_words_to_search_by_ask_for_what_says_them(words: str) -> None:
    assert spoken(words) == Spoken("asks", asked=words)


@pytest.mark.parametrize(
    "said", ["I like tea", "My dog limps.", "so it was", "我想买面包", "天气晴朗，出去玩", "Thanks!"]
)
def test_a_short_statement_is_no_list_of_words(said: str) -> None:
    assert spoken(said) == Spoken("tells", told=said)


def test_a_passage_is_searched_for_as_a_whole() -> None:
    long = "We talked about the garden and the weather. " * 12 + "What was it?"
    assert spoken(long) == Spoken("at length")
    assert not is_brief(long)


@pytest.mark.parametrize("odd", ["", "?", "，，，？", "...", "\n\n"])
def test_odd_text_is_no_error(odd: str) -> None:
    assert spoken(odd).manner in ("asks", "tells")
