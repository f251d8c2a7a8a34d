"""Search terms and rewordings of questions."""

from __future__ import annotations

import pytest

from thinkback.language.query_rewrite import content_terms, rewrite_question
from thinkback.language.tokens import extract_terms


@pytest.mark.parametrize(
    ("question", "same_as"),
    [
        ("我现在住在哪个城市？", "我 住在 城市"),
        ("我有什么爱好？", "我有 爱好"),
        ("豆包怕什么？", "豆包怕"),
        ("What kind of tea do I like?", "tea like"),
        ("Do you remember how many chickens we have?", "chickens"),
        ("Denver", "Denver"),
        ("What does Ann do for a living?", "Ann work"),  # not her name alone
        ("小雨几岁了？", "小雨 岁"),
        ("小雨长什么样？", "小雨 长相"),
    ],
)
def test_content_terms_drop_question_words(question: str, same_as: str) -> None:
    assert sorted(content_terms(question)) == sorted(extract_terms(same_as))


@pytest.mark.parametrize("question", ["什么？", "哪里", "How much?"])
def test_content_terms_keep_words_if_nothing_else_is_left(question: str) -> None:
    assert content_terms(question) == extract_terms(question)


@pytest.mark.parametrize(
    ("question", "thought"),
    [
        ("Where's home for me these days?", "The user lives in Denver."),
        ("Where's home for me these days?", "用户住在丹佛。"),
        ("我住哪里？", "The user lives in Denver."),
        ("我住哪里？", "用户住在丹佛。"),
        ("Who is my employer?", "The user works at Bosch."),
        ("What does Felix do for a living?", "Felix works as a firefighter."),
        ("我是做什么的？", "用户的职业是医生。"),
        ("我有什么爱好？", "用户喜欢钓鱼。"),
        ("What's my favorite band?", "The user's favourite band is Air."),
        ("我老公是做什么工作的？", "The user's husband works as a nurse."),
        ("What is my mother's birthday?", "用户的妈妈的生日是5月6日。"),
        ("我现在喝什么咖啡？", "用户喝美式。"),
        ("小雨几岁了？", "小雨5岁。"),
    ],
)
def test_rewrite_question_matches_answering_thought(question: str, thought: str) -> None:
    thought_terms = set(extract_terms(thought))
    assert any(
        2 * len(thought_terms.intersection(wording)) >= len(set(wording))
        for wording in rewrite_question(question)
    )


@pytest.mark.parametrize("text", ["The weather was awful.", "随便聊聊吧", "", "x" * 500, "Is it raining?"])
def test_rewrite_question_without_known_relation(text: str) -> None:
    assert rewrite_question(text) == []


@pytest.mark.parametrize(
    ("question", "thought"),
    [
        ("What do I do for a living?", "The user works as a locksmith."),
        ("Who do I report to at work?", "The user's boss is Gareth."),
        ("What pets do we keep at home?", "The user has a parrot named Captain."),
        ("Who's my flatmate?", "The user's roommate is Jo."),
        ("How should people contact me?", "The user prefers texts to calls."),
        ("Which programming language do I use?", "The user uses Elixir."),
        ("What do I earn?", "The user's salary is 40k."),
        ("Where's Eva from?", "Eva's nationality is Swiss."),
        ("Where is Eva from?", "Eva comes from Bern."),
        ("What is Eva like?", "Eva's personality is calm."),
        ("What does Eva look like?", "Eva's appearance is tall and slim."),
        ("What does Eva do on her days off?", "Eva likes rowing and loves chess."),
        ("Which qualifications does Eva hold?", "Eva's education is a diploma."),
        ("What is Eva good at?", "Eva's skills are welding and drawing."),
        ("Whom does Eva look up to?", "Eva's role model is Marie Curie."),
        ("王芳长什么样？", "王芳的外貌和长相是圆脸，短发。"),
        ("王芳是个怎样的人？", "王芳的性格是开朗。"),
        ("王芳的文化程度怎么样？", "王芳的学历是大专。"),
    ],
)
def test_rewrite_question_single_phrase_matches_thought(question: str, thought: str) -> None:
    thought_terms = set(extract_terms(thought))
    assert any(set(wording) <= thought_terms for wording in rewrite_question(question))


def test_for_a_living_does_not_ask_for_home() -> None:
    assert all("live" not in wording for wording in rewrite_question("What does Ann do for a living?"))


def test_past_activity_is_not_an_occupation() -> None:
    assert not any("work" in wording for wording in rewrite_question("What did we do last autumn?"))
    assert any("work" in wording for wording in rewrite_question("What did Ann do before she retired?"))
