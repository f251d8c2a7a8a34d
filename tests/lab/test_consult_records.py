"""Patient records: format of table 6, rejected records, and the shipped ones."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from thinkback_lab.consult.guide import load_guide
from thinkback_lab.consult.records import PATIENTS_DIR, Finding, Patient, load_patients
from thinkback_lab.errors import LabError
from thinkback_lab.text import contains_chinese, split_sentences

RECORD: dict[str, Any] = {
    "patient": "x1",
    "lang": "en",
    "fictional": True,
    "age": 40,
    "gender": "female",
    "intent": "none in particular",
    "visits": [
        {
            "day": 0,
            "query": "I am ill.",
            "rounds": 3,
            "diagnosis": {"core": "gout"},
            "elements": [
                {"category": "Test", "item": "Uric acid", "result": "560 µmol/L", "within": 30,
                 "says": "My uric acid is 560 µmol/L."},
                {"category": "Symptom", "item": "Fever", "result": "None", "says": "No fever."},
            ],
            "order": [["Uric acid"]],
            "treatment": {"core": "colchicine", "avoid": ["naproxen"]},
        },
        {
            "day": 40,
            "query": "Here I am.",
            "rounds": 2,
            "diagnosis": {"core": "gout"},
            "elements": [
                {"category": "Test", "item": "Uric acid", "result": "410 µmol/L", "within": 30,
                 "says": "My uric acid is 410 µmol/L."},
            ],
            "treatment": {"core": "colchicine"},
            "needs": ["Fever"],
        },
    ],
}  # fmt: skip


def changed(**at: Any) -> dict[str, Any]:
    """The record with one value replaced, its place written as visits__1__day."""
    told = copy.deepcopy(RECORD)
    for place, value in at.items():
        *way, last = place.split("__")
        inside: Any = told
        for step in way:
            inside = inside[int(step) if step.isdigit() else step]
        inside[last] = value
    return told


def test_visit_has_current_and_past_findings() -> None:
    patient = Patient.model_validate(RECORD)
    assert patient.current(0)["Uric acid"].result == "560 µmol/L"
    assert patient.current(1)["Uric acid"].result == "410 µmol/L"
    assert patient.current(1)["Fever"].is_negative
    assert patient.visits[1].items == ("Uric acid", "Fever")
    assert (patient.visits[1].at - patient.visits[0].at).days == 40


@pytest.mark.parametrize(
    ("at", "told"),
    [
        ({"visits__1__day": 0}, "does not come after"),
        ({"visits__1__needs": ["Cough"]}, "no earlier visit tells"),
        ({"visits__0__order": [["MRI"]]}, "no key element"),
        ({"visits__1__elements__0__within": None}, "neither volunteered nor bound to a time"),
        ({"visits__0__elements__0__says": "It is high."}, "do not contain 560"),
        ({"visits__0__elements__0__result": "high"}, "add a `key`"),
        ({"visits__1__needs": ["Fever", "Fever"]}, "named twice"),
        ({"fictional": False}, "fictional"),
        ({"colour": "blue"}, "colour"),
    ],
)
def test_inconsistent_record_is_rejected(tmp_path: Path, at: dict[str, Any], told: str) -> None:
    file = tmp_path / "x1.yaml"
    file.write_text(json.dumps(changed(**at), ensure_ascii=False), "utf-8")  # JSON is YAML
    with pytest.raises(LabError, match=told) as error:
        load_patients(tmp_path)
    assert "x1.yaml" in str(error.value)


def test_only_plain_yaml_is_loaded(tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_text("!!python/object/apply:os.getcwd []", "utf-8")
    with pytest.raises(LabError, match="not YAML"):
        load_patients(tmp_path)


def test_empty_folder_and_unknown_name_are_reported(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="contains no record"):
        load_patients(tmp_path)
    with pytest.raises(LabError, match="not a folder"):
        load_patients(tmp_path / "nowhere")
    with pytest.raises(LabError, match=r"unknown patient 'p99'.*p01\.en"):
        load_patients(only=["p99"])


def test_correct_answer_names_core_and_nothing_to_avoid() -> None:
    treatment = Patient.model_validate(RECORD).visits[0].treatment
    assert treatment.is_correct("I suggest Colchicine.")
    assert not treatment.is_correct("colchicine, or naproxen")
    assert not treatment.is_correct("rest")


def test_shipped_patients_have_promised_number_and_variety() -> None:
    every = load_patients()
    people = {patient.patient for patient in every}
    assert len(people) >= 24
    assert (
        len({visit.diagnosis.core for patient in every for visit in patient.visits if patient.lang == "en"})
        >= 12
    )
    both = {patient.patient for patient in every if patient.lang == "zh"}
    assert both <= {patient.patient for patient in every if patient.lang == "en"}
    assert len(both) * 2 >= len(people)
    assert all(len(patient.visits) >= 3 for patient in every)
    assert all(patient.visits[-1].day >= 90 for patient in every)
    assert sum(bool(patient.traps) for patient in every) >= 12


@pytest.mark.parametrize("path", sorted(PATIENTS_DIR.glob("*.yaml")), ids=lambda path: path.stem)
def test_shipped_record_is_marked_fictional_and_in_one_language(path: Path) -> None:
    assert "fictional" in path.read_text("utf-8").splitlines()[0]
    patient = next(each for each in load_patients() if each.id == path.stem)
    assert all(contains_chinese(visit.opening) == (patient.lang == "zh") for visit in patient.visits)


@pytest.mark.parametrize("patient", load_patients(), ids=lambda patient: patient.id)
def test_patient_words_state_their_item(patient: Patient) -> None:
    """Else no memory whatever could keep the doctor from asking again."""
    known = load_guide()

    def readable(finding: Finding) -> bool:
        return any(
            known.states_item(each, finding.item, patient.lang)
            and (finding.is_negative or finding.is_stated_in(each))
            for each in split_sentences(finding.says)
        )

    findings = [finding for visit in patient.visits for finding in visit.findings]
    assert [finding.says for finding in findings if not readable(finding)] == []
    assert [finding.item for finding in findings if known.topic_key(finding.item, patient.lang) is None] == []


def test_versions_of_one_person_agree() -> None:
    """The same visits, as many findings, the same numbers in their results."""
    by_id = {patient.id: patient for patient in load_patients()}
    for id_, chinese in by_id.items():
        if id_.endswith(".zh"):
            english = by_id[id_.replace(".zh", ".en")]
            assert [visit.day for visit in chinese.visits] == [visit.day for visit in english.visits], id_
            assert [len(visit.items) for visit in chinese.visits] == [
                len(visit.items) for visit in english.visits
            ], id_
