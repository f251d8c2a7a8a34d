"""Whether a text has the form of what a question asks for."""

from __future__ import annotations

import pytest

from thinkback.text.questions.answers import answers


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
def test_a_text_that_could_hold_the_answer_is_told_from_one_that_could_not(
    question: str, holding: str, other: str
) -> None:
    holds = answers(question)
    assert holds is not None
    assert holds(holding)
    assert not holds(other)


@pytest.mark.parametrize(
    "question", ["Where does she live?", "Do I like tea?", "I like tea.", "我喜欢茶吗？", ""]
)
def test_where_the_form_says_nothing_nothing_is_said(question: str) -> None:
    assert answers(question) is None


def test_a_long_text_is_looked_at_by_its_opening() -> None:
    holds = answers("How many?")
    assert holds is not None
    assert not holds("word " * 100_000 + "7")
