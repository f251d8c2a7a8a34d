"""KdConv as a retrieval data set: history, questions and gold."""

from __future__ import annotations

import pytest
from tests.lab.dataset_fixtures import FIXTURES, check_gold, questions_by_id, real_data

from thinkback_lab.datasets.kdconv import DOMAINS, load_cases
from thinkback_lab.errors import LabError


def test_history_is_distinct_triples_in_order() -> None:
    (case,) = load_cases(FIXTURES, "travel").cases  # the dialogue without knowledge asks nothing
    assert [item.query for item in case.items] == [
        "白石塔 门票 12元",
        "白石塔 电话 5550199",
        "白石塔 地址 北岸路3号",
    ]
    assert {item.response for item in case.items} == {""}


def test_question_is_previous_message() -> None:
    (case,) = load_cases(FIXTURES, "travel").cases
    first, again, many = case.questions
    assert (first.text, first.gold) == ("你知道白石塔吗？", ("t0",))
    assert (again.text, again.gold) == ("知道，门票是12元。", ("t0",))
    assert (many.text, many.gold) == ("12元不贵，电话呢？", ("t1", "t2", "t0"))
    assert (many.answer[:7], many.anchors) == ("5550199", ("5550199",))


def test_first_message_gives_no_question() -> None:
    (case,) = load_cases(FIXTURES, "film").cases
    assert [question.gold for question in case.questions] == [("t1",)]
    assert len(case.items) == 2


def test_domains_are_categories() -> None:
    data = load_cases(FIXTURES, ("film", "travel"))
    assert [case.id for case in data.cases] == ["film-dev-0", "travel-dev-0"]
    assert [question.category for question in questions_by_id(data).values()] == ["film", *["travel"] * 3]
    assert check_gold(data)
    assert data.digest != load_cases(FIXTURES, "film").digest
    with pytest.raises(LabError, match=r"music_dev\.json.*thu-coai/KdConv"):
        load_cases(FIXTURES)
    with pytest.raises(LabError, match="unknown domain 'art'"):
        load_cases(FIXTURES, "art")


def test_real_dev_sets() -> None:
    data = load_cases(real_data("kdconv"))
    asked = questions_by_id(data)
    assert {question.category for question in asked.values()} == set(DOMAINS)
    assert all(question.gold for question in asked.values())
    assert sum(question.category == "travel" for question in asked.values()) == 1702
    assert check_gold(data)
