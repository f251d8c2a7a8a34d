"""Cues: what a sentence is to a summary, in both languages."""

from __future__ import annotations

import pytest

from thinkback.session import classifiers


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
def test_constraints(said: str) -> None:
    assert classifiers.is_constraint(said)


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
def test_needs(said: str) -> None:
    assert classifiers.is_need(said)


@pytest.mark.parametrize(
    "said", ["The sun was lovely today.", "I read about owls.", "今天天气真好。", "同事在聊围巾。"]
)
def test_small_talk_is_neither(said: str) -> None:
    assert not classifiers.is_need(said)
    assert not classifiers.is_constraint(said)
    assert not classifiers.is_conclusion(said)
    assert not classifiers.is_undecided(said)


def test_conclusions_and_what_is_undecided() -> None:
    assert classifiers.is_conclusion("Let's go with Postgres.")
    assert classifiers.is_conclusion("我们决定用方案A。")
    assert not classifiers.is_conclusion("我们决定不去了。")
    assert classifiers.is_undecided("I'm not sure whether to fly.")
    assert classifiers.is_undecided("时间还没定。")


def test_to_bring_an_option_back_is_more_than_to_speak_of_it() -> None:
    assert classifiers.reopens_option("What about Redis after all?")
    assert classifiers.reopens_option("还是用Redis吧")
    assert not classifiers.reopens_option("Redis has a nice logo.")
    assert not classifiers.reopens_option("Why did we rule out Redis again?")
    assert not classifiers.reopens_option("为什么排除了Redis，还是用不了吗")
