"""Question types, forms of answers, and the parts of a query, in English and Chinese."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thinkback.language.questions import (
    QueryParts,
    QuestionType,
    answer_test,
    classify_question,
    is_brief,
    split_query,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Who is my sister's husband?", "who"),
        ("Whose birthday is in May?", "who"),
        ("who's my boss", "who"),
        ("Where does Anna live?", "where"),
        ("Which city does she live in?", "where"),
        ("When did I move?", "when"),
        ("What year was Tom born?", "when"),
        ("What's my dog called?", "what"),
        ("Hey, do you remember what I eat?", "what"),
        ("Tell me where Anna works.", "where"),
        ("Which book did I like?", "which"),
        ("How many kids does Tom have?", "how_many"),
        ("How old is Leo?", "how_many"),
        ("Why did I quit?", "why"),
        ("How come I left?", "why"),
        ("How do I make tea?", "how"),
        ("About how to relax, what did you advise?", "what"),
        ("Is my sister the one who lives in Oslo?", "yes_no"),
        ("Does Anna like tea?", "yes_no"),
        ("When I was in Oslo, who did I meet?", "who"),
        ("I saw Anna. Where does she live?", "where"),
        ("I know who did it.", "none"),
        ("My sister lives in Oslo.", "none"),
        ("", "none"),
        ("我妹妹的丈夫是谁？", "who"),
        ("安娜住在哪里", "where"),
        ("他住在哪个城市？", "where"),
        ("我什么时候搬的家？", "when"),
        ("他哪年毕业的？", "when"),
        ("我喜欢吃什么？", "what"),
        ("我看过哪些书？", "which"),
        ("小明几岁了？", "how_many"),
        ("他有多少只猫？", "how_many"),
        ("我为什么辞职？", "why"),
        ("怎么泡茶？", "how"),
        ("安娜喜欢喝茶吗？", "yes_no"),
        ("他是不是医生", "yes_no"),
        ("我看过一部爱情电影，它的名字是？", "what"),
        ("关于如何放松，你给了我什么建议？", "what"),
        ("我不喜欢健身，对吗？", "yes_no"),
        ("我妹妹住在奥斯陆。", "none"),
    ],
)
def test_classify_question(text: str, expected: QuestionType) -> None:
    assert classify_question(text) == expected


@given(st.text(max_size=700))
def test_classify_question_accepts_any_text(text: str) -> None:
    assert classify_question(text) == classify_question(text)


@pytest.mark.parametrize(
    ("question", "holding", "other"),
    [
        ("When did Tom leave?", "Tom left last Friday.", "Tom left with Anna."),
        ("What year did she graduate?", "She graduated in 2019.", "She graduated with honours."),
        ("How many people came?", "About eight people came.", "A lot of people came."),
        ("Why did he stay?", "He stayed because of the rain.", "He stayed at the inn."),
        ("What was the name of the film?", 'We saw "Taxi Driver".', "We saw a film."),
        ("他什么时候走的？", "他上周五走的。", "他和安娜一起走的。"),
        ("来了多少人？", "来了八个人。", "来了很多人。"),
        ("那本书叫什么？", "我读了《百年孤独》。", "我读了一本书。"),
        ("他为什么留下？", "因为下雨，他留下了。", "他留在了旅馆。"),
    ],
)
def test_answer_test(question: str, holding: str, other: str) -> None:
    holds = answer_test(question)
    assert holds is not None
    assert holds(holding)
    assert not holds(other)


@pytest.mark.parametrize(
    "question", ["Where does she live?", "Do I like tea?", "I like tea.", "我喜欢茶吗？", ""]
)
def test_answer_test_open_form(question: str) -> None:
    assert answer_test(question) is None


def test_answer_test_uses_beginning_of_long_text() -> None:
    holds = answer_test("How many?")
    assert holds is not None
    assert not holds("word " * 100_000 + "7")


def test_split_query_question_only() -> None:
    assert split_query("Where does my sister live now?") == QueryParts(
        "asks", "", "Where does my sister live now"
    )
    assert split_query("我妹妹现在住在哪里？") == QueryParts("asks", "", "我妹妹现在住在哪里")


@pytest.mark.parametrize(
    ("query", "statement", "question"),
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
def test_split_query_statement_and_question(query: str, statement: str, question: str) -> None:
    assert split_query(query) == QueryParts("asks", statement, question)


def test_split_query_extends_short_clause() -> None:
    assert split_query("I lost the red umbrella, where?").question == "I lost the red umbrella  where"
    assert split_query("Why?") == QueryParts("asks", "", "Why")


def test_split_query_statement_only() -> None:
    assert split_query("I moved to Oslo.") == QueryParts("tells", statement="I moved to Oslo.")
    assert split_query("我搬到了奥斯陆。") == QueryParts("tells", statement="我搬到了奥斯陆。")


@pytest.mark.parametrize(
    "words",
    ["green tea", "sister job", "car broke down", "my passport number", "Dr. Patel", "绿茶", "妹妹 工作"],
)
def test_split_query_keywords(words: str) -> None:
    assert split_query(words) == QueryParts("asks", question=words)


@pytest.mark.parametrize(
    "text", ["I like tea", "My dog limps.", "so it was", "我想买面包", "天气晴朗，出去玩", "Thanks!"]
)
def test_split_query_short_statement_is_not_keywords(text: str) -> None:
    assert split_query(text) == QueryParts("tells", statement=text)


def test_split_query_passage() -> None:
    long = "We talked about the garden and the weather. " * 12 + "What was it?"
    assert split_query(long) == QueryParts("at length")
    assert not is_brief(long)


@pytest.mark.parametrize("odd", ["", "?", "，，，？", "...", "\n\n"])
def test_split_query_accepts_odd_text(odd: str) -> None:
    assert split_query(odd).manner in ("asks", "tells")
