"""Sentence classifiers for summaries, English and Chinese."""

from __future__ import annotations

import pytest

from thinkback.session import conversation_type


@pytest.mark.parametrize(
    "said",
    [
        "It must weigh at most 1.2 kg.",
        "No more than 20 pages.",
        "The rent is limited to 900 euros.",
        "预算不超过八千元。",
        "至少三天。",
        "必须能养猫。",
    ],
)
def test_is_constraint_recognises_requirements(said: str) -> None:
    assert conversation_type.is_constraint(said)


@pytest.mark.parametrize(
    "said",
    [
        "I need a desk.",
        "We're looking for a flat.",
        "I'd like to learn Thai.",
        "我想找一家药店。",
        "帮我订一张票。",
    ],
)
def test_is_need_recognises_needs(said: str) -> None:
    assert conversation_type.is_need(said)


@pytest.mark.parametrize(
    "said", ["The sun was lovely today.", "I read about owls.", "今天天气真好。", "同事在聊围巾。"]
)
def test_small_talk_is_neither_need_nor_constraint(said: str) -> None:
    assert not conversation_type.is_need(said)
    assert not conversation_type.is_constraint(said)
    assert not conversation_type.is_conclusion(said)
    assert not conversation_type.is_undecided(said)


def test_is_conclusion_and_is_undecided() -> None:
    assert conversation_type.is_conclusion("Let's go with Postgres.")
    assert conversation_type.is_conclusion("我们决定用方案A。")
    assert not conversation_type.is_conclusion("我们决定不去了。")
    assert conversation_type.is_undecided("I'm not sure whether to fly.")
    assert conversation_type.is_undecided("时间还没定。")


def test_reopens_option_needs_more_than_a_mention() -> None:
    assert conversation_type.reopens_option("What about Redis after all?")
    assert conversation_type.reopens_option("还是用Redis吧")
    assert not conversation_type.reopens_option("Redis has a nice logo.")
    assert not conversation_type.reopens_option("Why did we rule out Redis again?")
    assert not conversation_type.reopens_option("为什么排除了Redis，还是用不了吗")
