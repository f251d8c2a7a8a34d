"""Reading turns by rules: every sentence of the user goes where it belongs, in the user's words."""

from __future__ import annotations

from tests.unit.session.factories import told

from thinkback.types import ExcludedOption


def test_a_talk_about_a_laptop() -> None:
    summary = told(
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


def test_a_talk_in_chinese() -> None:
    summary = told(
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


def test_an_option_raised_again_is_open_again_and_a_question_about_it_is_not_enough() -> None:
    out = told("Redis is out because it is slow.", "Why did we exclude Redis?")
    assert [each.option for each in out.excluded] == ["Redis"]
    assert told("Redis is out because it is slow.", "Actually, let's use Redis after all.").excluded == ()
    assert told("不考虑Redis，太慢。", "其实Redis也可以。").excluded == ()


def test_an_option_rejected_twice_is_out_once() -> None:
    summary = told("Not Redis because it is slow.", "Again: Redis is out, it is slow.", "redis is ruled out")
    assert summary.excluded == (ExcludedOption("Redis", "it is slow"),)


def test_the_assistants_question_is_pending_until_it_is_answered() -> None:
    asked = told(("Plan my trip.", "Gladly. How many people will travel?"))
    assert asked.to_clarify == ("How many people will travel?",)
    assert told(("Plan my trip.", "Gladly. How many people will travel?"), "Four.").to_clarify == ()


def test_what_fits_nowhere_else_was_discussed_with_how_the_answer_began() -> None:
    summary = told(("The owls at the harbour were lovely.", "Owls are quiet birds. They hunt at night."))
    assert summary.discussed == ("The owls at the harbour were lovely. => Owls are quiet birds.",)
    assert told("Hm.").discussed == ()


def test_orders_and_secrets_stay_out() -> None:
    summary = told("My password is hunter2xyz and must stay at least 8 long. The tent must hold 4 people.")
    assert summary.constraints == ("The tent must hold 4 people.",)
    assert "hunter2xyz" not in str(summary)


def test_what_the_assistant_says_is_no_need_of_the_user() -> None:
    summary = told(("Hello there, friend.", "You must buy the blue one because it costs 20 euros."))
    assert (summary.needs, summary.constraints, summary.facts, summary.excluded) == ((), (), (), ())


def test_the_same_talk_gives_the_same_summary() -> None:
    talk = ("I need a desk.", "Not oak because it scratches.", "It has 3 drawers.")
    assert told(*talk) == told(*talk)
