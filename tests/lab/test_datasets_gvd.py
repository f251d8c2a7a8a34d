"""GVD loader: turns, questions and annotations on small fixtures; our answers on the real data."""

from __future__ import annotations

import gzip
import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.lab.dataset_fixtures import FIXTURES, check_gold, questions_by_id, real_data

from thinkback_lab.datasets.gvd import GOLD_FILE, load
from thinkback_lab.errors import LabError


def test_user_is_case_and_day_is_session() -> None:
    data = load(FIXTURES)
    orla, tove = data.cases
    assert (orla.id, tove.id) == ("Orla", "Tove")
    assert [item.id for item in orla.items] == ["2031-02-01#0", "2031-02-01#1", "2031-02-03#0"]
    assert [item.session for item in orla.items] == ["2031-02-01", "2031-02-01", "2031-02-03"]
    assert orla.items[2].text == "Which tea helps me sleep?\nTry lime blossom tea."
    assert {question.at for question in orla.questions} == {datetime(2031, 2, 4, 9, tzinfo=UTC)}
    assert check_gold(data)


def test_gold_turns_empty_gold_and_missing_annotation() -> None:
    data = load(FIXTURES)
    asked = questions_by_id(data)
    assert asked["0:0"].gold == ("2031-02-01#0", "2031-02-01#1")
    assert (asked["0:2"].gold, asked["0:2"].answerable) == ((), False)
    assert (asked["1:1"].gold, asked["1:1"].answerable) == ((), True)
    assert data.settings["annotated"] == 4


def test_quotes_around_whole_question_are_removed() -> None:
    asked = questions_by_id(load(FIXTURES))
    assert asked["0:0"].text == "What did I plant?"
    assert asked["1:1"].text == 'I said "Biscuit", right?'


def test_answer_is_used_only_if_anchors_match() -> None:
    asked = questions_by_id(load(FIXTURES))
    assert asked["1:0"].anchors == ("an hour",)
    assert [id for id, question in asked.items() if question.answer] == ["1:0"]


def test_gold_is_used_in_chinese_if_all_days_agree() -> None:
    data = load(FIXTURES, "cn")
    asked = questions_by_id(data)
    assert asked["0:1"].gold == ("2031-02-03#0",)
    assert not asked["0:2"].answerable
    assert (asked["1:0"].gold, asked["1:0"].answerable) == ((), True)  # one turn more on the same day
    assert {case.lang for case in data.cases} == {"zh"}


def copy(folder: Path) -> Path:
    return Path(shutil.copytree(FIXTURES / "gvd", folder / "gvd"))


def test_gzipped_and_without_annotation(tmp_path: Path) -> None:
    gvd = copy(tmp_path)
    (gvd / GOLD_FILE).unlink()
    for path in list(gvd.iterdir()):
        path.with_name(path.name + ".gz").write_bytes(gzip.compress(path.read_bytes()))
        path.unlink()
    data = load(tmp_path)
    assert data.settings["annotated"] == 0
    assert all(question.answerable for question in questions_by_id(data).values())


def test_errors_name_the_fault(tmp_path: Path) -> None:
    with pytest.raises(LabError, match=r"memory_bank_en\.json.*MemoryBank-SiliconFriend"):
        load(tmp_path)
    with pytest.raises(LabError, match="unknown language 'fr'"):
        load(FIXTURES, "fr")
    gvd = copy(tmp_path)
    (gvd / GOLD_FILE).write_text('[{"user_index": 0, "q_index": 0, "gold_turns": ["2031-02-09#4"]}]', "utf-8")
    with pytest.raises(LabError, match=r"user 0 \(Orla\) has no turn 2031-02-09#4"):
        load(tmp_path)
    (gvd / "probing_questions_en.jsonl").write_text('{"Orla": []}\n{"Tove": "what?"}\n', "utf-8")
    with pytest.raises(LabError, match=r"probing_questions_en\.jsonl, line 2: .*Tove"):
        load(tmp_path)
    (gvd / "probing_questions_en.jsonl").write_text('{"Tove": []}\n{"Orla": []}\n', "utf-8")
    with pytest.raises(LabError, match="differ from those of memory_bank_en"):
        load(tmp_path)


@pytest.mark.parametrize(("lang", "annotated", "answered"), [("en", 56, 55), ("cn", 35, 35)])
def test_every_real_question_with_gold_has_answer_with_matching_anchors(
    lang: str, annotated: int, answered: int
) -> None:
    data = load(real_data("gvd"), lang)
    assert (len(data.cases), len(questions_by_id(data)) >= 100) == (15, True)
    assert (data.settings["annotated"], data.settings["answered"]) == (annotated, answered)
    assert check_gold(data)
    for case in data.cases:
        turns = {item.id: item.text for item in case.items}
        for question in case.questions:
            assert bool(question.gold) == bool(question.answer), question
            held = "\n".join(turns[turn] for turn in question.gold)
            assert [anchor for anchor in question.anchors if anchor not in held] == [], question
