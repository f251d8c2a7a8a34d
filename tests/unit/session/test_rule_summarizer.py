"""Reading turns by rules: each sentence of the user goes to its summary field."""

from __future__ import annotations

from tests.unit.session.factories import summary_of

from thinkback.types import ExcludedOption


def test_english_conversation() -> None:
    summary = summary_of(
        "I need a laptop for my studies. It must weigh at most 1.3 kg.",
        ("Not the Macbook because I need Linux.", "Understood. What is your budget?"),
        "My budget is 900 euros.",
        "I'm not sure whether I want a touch screen.",
        "Let's go with the Framework.",
    )
    assert summary.topic == "I need a laptop for my studies."
    assert summary.needs == ("I need a laptop for my studies.",)
    assert summary.constraints == ("It must weigh at most 1.3 kg.", "My budget is 900 euros.")
    assert summary.excluded == (ExcludedOption("Macbook", "I need Linux"),)
    assert summary.to_clarify == ("I'm not sure whether I want a touch screen.",)
    assert summary.conclusion == "Let's go with the Framework."


def test_chinese_conversation() -> None:
    summary = summary_of(
        "我想在杭州租一套两居室。预算最多每月4500元。",
        "一楼不行，太潮湿。",
        "公司有120人。",
        "时间还没定。",
        "那就选西湖区。",
    )
    assert summary.needs == ("我想在杭州租一套两居室。",) or summary.topic == "我想在杭州租一套两居室。"
    assert summary.constraints == ("预算最多每月4500元。",)
    assert summary.excluded == (ExcludedOption("一楼", "太潮湿"),)
    assert "公司有120人。" in summary.facts
    assert summary.to_clarify == ("时间还没定。",)
    assert summary.conclusion == "那就选西湖区。"


def test_option_is_reopened_by_a_proposal_but_not_by_a_question() -> None:
    out = summary_of("Redis is out because it is slow.", "Why did we exclude Redis?")
    assert [each.option for each in out.excluded] == ["Redis"]
    assert (
        summary_of("Redis is out because it is slow.", "Actually, let's use Redis after all.").excluded == ()
    )
    assert summary_of("不考虑Redis，太慢。", "其实Redis也可以。").excluded == ()


def test_option_rejected_twice_is_listed_once() -> None:
    summary = summary_of(
        "Not Redis because it is slow.", "Again: Redis is out, it is slow.", "redis is ruled out"
    )
    assert summary.excluded == (ExcludedOption("Redis", "it is slow"),)


def test_assistant_question_is_open_until_answered() -> None:
    asked = summary_of(("Plan my trip.", "Gladly. How many people will travel?"))
    assert asked.to_clarify == ("How many people will travel?",)
    assert summary_of(("Plan my trip.", "Gladly. How many people will travel?"), "Four.").to_clarify == ()


def test_remaining_sentences_are_discussed_with_answer_preview() -> None:
    summary = summary_of(
        ("The owls at the harbour were lovely.", "Owls are quiet birds. They hunt at night.")
    )
    assert summary.discussed == ("The owls at the harbour were lovely. => Owls are quiet birds.",)
    assert summary_of("Hm.").discussed == ()


def test_instructions_and_secrets_are_skipped() -> None:
    summary = summary_of(
        "My password is hunter2xyz and must stay at least 8 long. The tent must hold 4 people."
    )
    assert summary.constraints == ("The tent must hold 4 people.",)
    assert "hunter2xyz" not in str(summary)


def test_assistant_statements_are_not_user_needs() -> None:
    summary = summary_of(("Hello there, friend.", "You must buy the blue one because it costs 20 euros."))
    assert (summary.needs, summary.constraints, summary.facts, summary.excluded) == ((), (), (), ())


def test_reading_is_deterministic() -> None:
    talk = ("I need a desk.", "Not oak because it scratches.", "It has 3 drawers.")
    assert summary_of(*talk) == summary_of(*talk)
