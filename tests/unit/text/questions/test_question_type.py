"""What a question asks for, in English and in Chinese."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thinkback.text.questions.question_type import QuestionType, question_type


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
def test_what_is_asked_for(text: str, expected: QuestionType) -> None:
    assert question_type(text) == expected


@given(st.text(max_size=700))
def test_any_text_has_a_type(text: str) -> None:
    assert question_type(text) == question_type(text)
