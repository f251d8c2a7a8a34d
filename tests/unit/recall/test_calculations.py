"""Durations and differences computed from recalled memories."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime

import pytest

from thinkback.recall.calculations import add_calculation
from thinkback.types import Candidate, Ref, Score, Source, Thought


def days_said(thought: Thought) -> set[date]:
    """What `recalled` makes is recorded on the day when it was said."""
    return {thought.recorded_at.date()}


def recalled(*sentences: str) -> list[Candidate]:
    """One item for each sentence."""
    items = []
    for number, sentence in enumerate(sentences, start=1):
        thought = Thought(
            id=number,
            subject="user",
            relation="did",
            objects=(sentence,),
            sentence=sentence,
            kind="event",
            sources=(Source(number, "user", "query", 0, 1),),
            recorded_at=datetime(2025, 1, number, tzinfo=UTC),
        )
        items.append(
            Candidate(
                ref=Ref("thought", number),
                text=sentence,
                score=Score(0.5, 0.5, 0.5),
                group=0,
                reason="matters",
                verdict="matters",
                thought=thought,
            )
        )
    return items


@pytest.mark.parametrize(
    ("question", "sentences", "note"),
    [
        (
            "How long after the marathon did I buy the boat?",
            ("The user bought a boat on 2025-04-02.", "The user ran a marathon on 2025-03-01."),
            "2025-03-01 to 2025-04-02 is 32 days, 4 weeks 4 days = 1 month 1 day",
        ),
        (
            "How many months between the fire and the reopening?",
            ("The reopening was in May 2025.", "The fire was on 2024-11-09."),
            "2024-11-09 to 2025-05 is about 5 months",
        ),
        (
            "从手术到上班一共多久？",
            ("用户2025年1月10日做了手术。", "用户2025年2月20日回去上班。"),
            "2025-01-10到2025-02-20，41天，1个月10天",
        ),
        (
            "How much did the rent go up?",
            ("The rent was €1,150 in 2024.", "The rent is €1,300 now."),
            "€1,300 - €1,150 = €150",
        ),
        ("二模比一模多考了几分？", ("小明一模考了412分。", "小明二模考了437分。"), "437分 - 412分 = 25分"),
        ("我瘦了几斤？", ("用户三月体重152斤。", "用户九月体重140.5斤。"), "152斤 - 140.5斤 = 11.5斤"),
        ("差价多少？", ("买入的价格是6.5万欧。", "卖出的价格是7.8万欧。"), "7.8万欧 - 6.5万欧 = 1.3万欧"),
    ],
)
def test_the_better_item_gets_the_result_with_its_operands(
    question: str, sentences: tuple[str, ...], note: str
) -> None:
    first, second = add_calculation(recalled(*sentences), question, days_said)
    assert note in first.text
    assert "computed with thought:2" in first.reason
    assert second.text == sentences[1]


@pytest.mark.parametrize(
    ("question", "sentences"),
    [
        ("Where did I buy the boat?", ("The user bought a boat on 2025-04-02.", "A race on 2025-03-01.")),
        ("How long did the visit last?", ("The visit began on 2025-04-02.", "The user moved on 2025-03-01.")),
        ("How much more is it?", ("The room has 12 windows.", "The flat costs €900.")),
        ("How much did I lose?", ("The user is 41.", "The user has 38 sheep.")),
        ("我瘦了几斤？", ("用户三月体重152斤。", "用户买了两件毛衣。")),
        ("我一个月赚多少？", ("用户一个月的工资是9000元。", "用户一个月的房租是3000元。")),
        (
            "How much did I pay over in Lyon?",
            ("The user paid €40 in Lyon.", "The user paid €90 in Lyon."),
        ),
        (
            "How much did I spend on shoes in the past year?",
            ("The user spent €80 on shoes.", "The user spent €120 on shoes."),
        ),
        ("How many more copies?", ("The user sold 1,200 copies.", "The user sold 1,500 copies.")),
    ],
)
def test_in_doubt_nothing_is_computed(question: str, sentences: tuple[str, ...]) -> None:
    items = recalled(*sentences)
    assert add_calculation(items, question, days_said) == items


def valid_from(item: Candidate, day: datetime) -> Candidate:
    assert item.thought is not None
    return replace(item, thought=replace(item.thought, valid_from=day))


def test_both_amounts_may_stand_in_one_sentence() -> None:
    items = recalled("The kitchen is green.", "The kitchen cost $57,300, more than the budget of $55,000.")
    _, cost = add_calculation(items, "How much did the kitchen go over the budget?", days_said)
    assert cost.text.endswith("(computed: $57,300 - $55,000 = $2,300)")
    assert cost.reason.endswith("; computed from it")
    three = recalled("The kitchen cost $57,300 instead of $55,000 or $50,000.")
    assert add_calculation(three, "How much did the kitchen go over the budget?", days_said) == three


def test_the_day_of_the_message_is_not_the_day_of_its_event() -> None:
    question = "How long after the stroke did I read in church?"
    read, stroke = recalled("The user read in church on 2025-06-04.", "The user's mother had a stroke.")
    undated = [read, valid_from(stroke, datetime(2025, 1, 2, 9, tzinfo=UTC))]  # recorded on that day
    assert add_calculation(undated, question, days_said) == undated
    dated = [read, valid_from(stroke, datetime(2024, 12, 24, tzinfo=UTC))]
    assert "2024-12-24 to 2025-06-04" in add_calculation(dated, question, days_said)[0].text


def test_a_named_month_counts_before_the_start_of_validity() -> None:
    fire, reopening = recalled("The fire was on 2024-11-09.", "The reopening was in May 2025.")
    items = [fire, valid_from(reopening, datetime(2025, 7, 15, tzinfo=UTC))]
    question = "How many months between the fire and the reopening?"
    assert "2024-11-09 to 2025-05 is about" in add_calculation(items, question, days_said)[0].text


def test_amounts_of_two_subjects_and_relations_are_not_subtracted() -> None:
    question = "How much more is the rent?"
    rent, salary = recalled("The rent is €900.", "The salary, which pays the rent, is €2,000.")
    assert "€1,100" in add_calculation([rent, salary], question, days_said)[0].text
    assert salary.thought is not None
    other = replace(salary, thought=replace(salary.thought, subject="Anna", relation="earns"))
    assert add_calculation([rent, other], question, days_said) == [rent, other]
