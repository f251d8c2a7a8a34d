"""Medical loaders: which utterance is the question, which turns are stored, and the seeded draw of files."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.lab.dataset_fixtures import FIXTURES, check_gold, questions_by_id, real_data

from thinkback_lab.datasets.medical import CORPORA, ENCOUNTERS_PER_FILE, load
from thinkback_lab.errors import LabError


def test_last_full_question_is_asked_and_turns_before_it_are_stored() -> None:
    data = load(FIXTURES)
    (case,) = data.cases
    ankle, cough = case.questions  # the third patient asked once, the fourth entry has no history
    assert ankle.text == "冰敷之后脚踝还要不要拍个片子检查骨头？"
    assert (ankle.answer, ankle.gold, ankle.category) == ("建议拍片。", ("0#0",), "外科")
    assert (cough.gold, cough.category) == (("1#0",), "儿科")
    assert [item.query for item in case.items] == ["我滑雪时扭了左脚踝，肿得厉害。", "孩子咳嗽三天了。"]
    assert check_gold(data)


def test_note_asks_for_the_turns_it_was_written_from() -> None:
    data = load(FIXTURES, "mts_dialog")
    (case,) = data.cases
    wrist, bees = case.questions  # "None." fits anybody
    assert wrist.gold == ("0#0", "0#1")
    assert case.items[0].response == "Patient: I fell from a pear tree.\nGuest_family: Two days ago."
    assert case.items[1].query == "Doctor: Where does it hurt?\nDoctor_2: Show us."
    assert case.items[1].response == "Patient: My left wrist.\nIt is swollen."
    assert (case.items[2].query, case.items[2].response) == ("", "Patient: I keep bees.")
    assert (bees.gold, bees.category) == (("1#0", "1#1"), "FAM/SOCHX")
    assert check_gold(data)


def test_errors_name_the_fault(tmp_path: Path) -> None:
    with pytest.raises(LabError, match=r"CMtMedQA_test\.json.*SupritYoung/Zhongjing"):
        load(tmp_path)
    with pytest.raises(LabError, match=r"TrainingSet\.csv.*abachaa/MTS-Dialog"):
        load(tmp_path, "mts_dialog")
    with pytest.raises(LabError, match="unknown corpus 'rmd'"):
        load(FIXTURES, "rmd")
    (tmp_path / "CMtMedQA_test.json").write_text('[{"history": []}]', "utf-8")
    with pytest.raises(LabError, match=r"CMtMedQA_test\.json: .* 0\.output"):
        load(tmp_path)
    (tmp_path / "CMtMedQA_test.json").write_text('[{"instruct": "红花？", "output": "活血。"}]', "utf-8")
    with pytest.raises(LabError, match="no encounter of cmtmedqa contains a question"):
        load(tmp_path)
    (tmp_path / "MTS-Dialog-TrainingSet.csv").write_text("ID,section_header\n0,CC\n", "utf-8")
    with pytest.raises(LabError, match=r"TrainingSet\.csv, line 2: .*section_text"):
        load(tmp_path, "mts_dialog")


@pytest.mark.parametrize("corpus", CORPORA)
def test_real_files_are_drawn_by_seed(corpus: str) -> None:
    home = real_data(corpus)
    drawn = load(home, corpus, files=3, seed=1)
    assert {len(case.questions) for case in drawn.cases} == {ENCOUNTERS_PER_FILE}
    assert len(questions_by_id(drawn)) == 3 * ENCOUNTERS_PER_FILE
    assert drawn.digest == load(home, corpus, files=3, seed=1).digest
    assert drawn.digest != load(home, corpus, files=3, seed=2).digest
    whole = load(home, corpus, files=None)
    assert len(whole.cases) > 20
    assert set(questions_by_id(drawn)) < set(questions_by_id(whole))
    assert check_gold(whole)
