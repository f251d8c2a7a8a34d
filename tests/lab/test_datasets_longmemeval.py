"""LongMemEval loader: order of turns, two grains of evidence, and unanswerable questions."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.lab.dataset_fixtures import FIXTURES, check_gold, questions_by_id

from thinkback_lab.datasets.longmemeval import load
from thinkback_lab.errors import LabError


def test_question_is_case_and_sessions_are_sorted() -> None:
    data = load(FIXTURES, "oracle")
    first = data.cases[0]
    assert [item.id for item in first.items] == ["fill_1#0", "fill_1#1", "ans_1#0", "ans_1#1", "ans_1#2"]
    assert [(item.query, item.response) for item in first.items[:2]] == [("", "Welcome."), ("Bye.", "")]
    assert first.items[2].at == datetime(2031, 5, 2, 10, tzinfo=UTC)
    assert first.questions[0].at == datetime(2031, 5, 20, 2, 21, tzinfo=UTC)
    assert check_gold(data)


def test_turn_and_session_grain() -> None:
    turns = questions_by_id(load(FIXTURES, "oracle"))
    sessions = questions_by_id(load(FIXTURES, "oracle", "session"))
    assert turns["q1"].gold == ("ans_1#1",)
    assert sessions["q1"].gold == ("ans_1#0", "ans_1#1", "ans_1#2")
    assert turns["q3"].gold == sessions["q3"].gold  # no turn is marked


def test_repeated_session_has_two_ids() -> None:
    asked = questions_by_id(load(FIXTURES, "oracle"))
    assert asked["q3"].gold == ("twin#0", "twin@2#0")
    assert (asked["q3"].answer, asked["q3"].category) == ("3", "multi-session")


def test_abstention_questions_have_no_gold() -> None:
    asked = questions_by_id(load(FIXTURES, "oracle"))
    assert (asked["q2_abs"].answerable, asked["q2_abs"].gold) == (False, ())
    assert asked["q1"].answerable


def test_errors_name_the_fault(tmp_path: Path) -> None:
    with pytest.raises(LabError, match=r"longmemeval_m\.json.*xiaowu0162/LongMemEval"):
        load(FIXTURES, "m")
    with pytest.raises(LabError, match="unknown grain 'word'"):
        load(FIXTURES, "oracle", "word")
    whole = (FIXTURES / "longmemeval" / "longmemeval_oracle.json").read_text("utf-8")
    path = tmp_path / "longmemeval_s.json"
    path.write_text(whole.replace("2031/05/20 (Tue) 02:21", "20 May", 1), "utf-8")
    with pytest.raises(LabError, match=r"0 \(q1\)\.question_date: '20 May' is not a time"):
        load(tmp_path)
    path.write_text(whole.replace('"role": "user"', '"role": "cat"', 1), "utf-8")
    with pytest.raises(LabError, match=r"longmemeval_s\.json: .* 0\.haystack_sessions\.0\.0\.role"):
        load(tmp_path)
    path.write_text(whole.replace('"fill_1"', '"fill_1", "more"', 1), "utf-8")
    with pytest.raises(LabError, match=r"0 \(q1\): .* have different lengths"):
        load(tmp_path)
