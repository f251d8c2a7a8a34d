"""MADial-Bench loader: owners of events, questions of dialogues, and unclean lines."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tests.lab.dataset_fixtures import FIXTURES, check_gold, questions_by_id, real_data

from thinkback_lab.datasets.madial import load
from thinkback_lab.errors import LabError


def test_each_child_has_own_history_in_order() -> None:
    data = load(FIXTURES)
    bart, lisa = data.cases
    assert [item.id for item in bart.items] == ["2", "7"]
    assert [item.id for item in lisa.items] == ["9"]
    assert {item.kind for item in bart.items} == {"event"}
    assert check_gold(data)


def test_question_is_dialogue_before_first_test_turn() -> None:
    data = load(FIXTURES)
    asked = questions_by_id(data)
    assert asked["0"].text == "Bart: The lake is frozen.\nWhat a pity!\nBart: I want to go out."
    assert asked["0"].answer == "Remember the raft you built with Milo?"
    assert (asked["0"].gold, asked["0"].category) == (("7", "2"), "Activity")
    assert asked["1"].answer == "You won at chess, you know."
    assert data.settings["unknown_ids"] == 1


def test_shared_bank_has_both_children() -> None:
    (both,) = load(FIXTURES, bank="shared").cases
    assert [item.id for item in both.items] == ["2", "9", "7"]
    assert [question.gold for question in both.questions] == [("7", "2"), ("9",)]


def test_chinese_file_names_owner_of_event() -> None:
    data = load(FIXTURES, "zh")
    bart, lisa = data.cases
    assert ([item.id for item in bart.items], [item.id for item in lisa.items]) == (["7"], ["9"])
    assert questions_by_id(data)["0"].text == "Lisa: 我有点紧张。"


def test_errors_name_the_fault(tmp_path: Path) -> None:
    with pytest.raises(LabError, match=r"memory\.json.*hejunqing/MADial-Bench"):
        load(tmp_path)
    with pytest.raises(LabError, match="unknown bank 'mine'"):
        load(FIXTURES, bank="mine")
    madial = Path(shutil.copytree(FIXTURES / "madial", tmp_path / "data" / "en"))
    dialogues = madial / "MADial-Bench-en-dialogue.json"
    dialogues.write_text(
        dialogues.read_text("utf-8").replace('"test-turn": [2]', '"test-turn": [40]'), "utf-8"
    )
    with pytest.raises(LabError, match=r"dialogue\.json, line 2: test-turn 40"):
        load(tmp_path)
    memory = madial / "MADial-Bench-en-memory.json"
    memory.write_text(memory.read_text("utf-8").replace("Lisa won", "Bart and Lisa won"), "utf-8")
    with pytest.raises(LabError, match=r"memory\.json, line 3: no user-id"):
        load(tmp_path)


@pytest.mark.parametrize(("lang", "events"), [("en", 160), ("zh", 171)])
def test_real_half(lang: str, events: int) -> None:
    data = load(real_data("madial"), lang)
    assert sum(len(case.items) for case in data.cases) == events
    asked = questions_by_id(data)
    assert len(asked) == 80
    assert all(question.gold and question.answer and question.category for question in asked.values())
    assert not any("<" in question.text for question in asked.values())
    assert data.settings["unknown_ids"] == 0
    assert check_gold(data)
