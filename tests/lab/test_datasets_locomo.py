"""LoCoMo loader: session order, unclean evidence, and category 5."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from tests.lab.dataset_fixtures import FIXTURES, check_gold, questions_by_id

from thinkback_lab.datasets.locomo import load
from thinkback_lab.errors import LabError


def test_utterances_are_items_in_session_order() -> None:
    data = load(FIXTURES)
    (case,) = data.cases
    assert [item.id for item in case.items] == ["D2:1", "D2:2", "D10:1"]
    assert case.items[1].query == "Pell: Look at my boat! [a red boat on a lake]"
    assert case.items[0].at == datetime(2031, 5, 8, 13, 56, tzinfo=UTC)
    assert case.items[2].at == datetime(2031, 6, 9, 0, 5, tzinfo=UTC)
    assert check_gold(data)


def test_evidence_is_parsed_tolerantly_and_losses_counted() -> None:
    data = load(FIXTURES)
    asked = questions_by_id(data)
    assert asked["conv-x-1"].gold == ("D2:2", "D10:1")
    assert data.settings["unknown_evidence"] == 2  # D9:9 is not there, D names nothing


def test_answers_may_be_numbers_and_categories_have_names() -> None:
    asked = questions_by_id(load(FIXTURES))
    assert [question.answer for question in asked.values()] == ["a goat", "0", "8 June", ""]
    assert [question.category for question in asked.values()] == [
        "single-hop",
        "multi-hop",
        "temporal",
        "adversarial",
    ]


def test_adversarial_questions_have_no_gold() -> None:
    asked = questions_by_id(load(FIXTURES))
    assert [id for id, question in asked.items() if not question.answerable] == ["conv-x-3"]
    assert asked["conv-x-3"].gold == ()


def broken(folder: Path, change: dict[str, Any]) -> Path:
    (read,) = json.loads((FIXTURES / "locomo" / "locomo10.json").read_text("utf-8"))
    read["conversation"] |= change
    (folder / "locomo10.json").write_text(json.dumps([read]), "utf-8")
    return folder


def test_errors_name_the_fault(tmp_path: Path) -> None:
    with pytest.raises(LabError, match=r"locomo10\.json.*snap-research/locomo"):
        load(tmp_path)
    with pytest.raises(LabError, match=r"0\.conversation\.session_2_date_time: 'May' is not a time"):
        load(broken(tmp_path, {"session_2_date_time": "May"}))
    with pytest.raises(LabError, match=r"0\.conversation\.session_2: 0\.text: Field required"):
        load(broken(tmp_path, {"session_2": [{"speaker": "Runa", "dia_id": "D2:1"}]}))
    with pytest.raises(LabError, match="no session_1"):
        load(broken(tmp_path, {"session_2": [], "session_10": []}))
    (tmp_path / "locomo10.json").write_text('[{"qa": []}]', "utf-8")
    with pytest.raises(LabError, match=r"locomo10\.json: not a LoCoMo file, 0\.conversation"):
        load(tmp_path)
