"""Rule-based patient and scripted doctor: true to the record, and without knowledge beyond the context."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime

import pytest

from thinkback_lab.cases import HistoryItem
from thinkback_lab.consult.context import (
    ContextLine,
    PatientMemory,
    judge_statements,
    read_findings,
    recalls_agree,
)
from thinkback_lab.consult.doctor import (
    Decision,
    DoctorQuestion,
    ScriptedDoctor,
    VisitBrief,
    make_visit_brief,
)
from thinkback_lab.consult.guide import (
    affirms_any,
    find_invented_values,
    load_guide,
    retrieve_findings,
)
from thinkback_lab.consult.patient import UNKNOWN_REPLIES, RulePatient
from thinkback_lab.consult.records import Finding, load_patients
from thinkback_lab.systems.interface import RetrievedMemory
from thinkback_lab.text import count_tokens

NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)
P02, P02_ZH = load_patients(only=["p02.en"])[0], load_patients(only=["p02.zh"])[0]


class Fixed:
    """A memory that always brings the same."""

    def __init__(self, *found: RetrievedMemory) -> None:
        self.found = list(found)
        self.told: list[HistoryItem] = []

    def add_items(self, items: Sequence[HistoryItem]) -> None:
        self.told += items

    def recall(self, question: str, k: int, at: datetime) -> list[RetrievedMemory]:
        return self.found


def asked(question: str, visit: int = 0) -> list[str]:
    return [
        each.item for each in retrieve_findings(question, P02.current(visit).values(), load_guide(), "en")
    ]


@pytest.mark.parametrize(
    ("question", "items"),
    [
        ("Are you allergic to any medicine?", ["Drug allergy"]),
        ("Do you have any allergies?", ["Drug allergy"]),
        ("Do you smoke, or drink alcohol?", ["Smoking", "Alcohol"]),
        ("What was the HbA1c?", ["HbA1c"]),
        ("Is your mother healthy?", ["Family history"]),
        ("What did the chest X-ray show?", []),
        ("What are your symptoms?", ["Thirst", "Frequent urination"]),
        ("Do you like jazz?", []),
    ],
)
def test_retrieval_finds_only_what_was_asked(question: str, items: list[str]) -> None:
    assert asked(question) == items


def test_every_guide_question_finds_its_item_in_every_record() -> None:
    known = load_guide()
    for patient in load_patients():
        current = patient.current(len(patient.visits) - 1)
        for item, finding in current.items():
            question = known.question_for(item, patient.lang).ask
            assert retrieve_findings(question, current.values(), known, patient.lang) == (finding,), (
                patient.id,
                item,
            )


def test_patient_answers_only_from_record() -> None:
    side = RulePatient()
    found = retrieve_findings("What is your HbA1c?", P02.current(0).values(), load_guide(), "en")
    assert side.reply("What is your HbA1c?", found, P02).text == "My HbA1c is 9.1%."
    assert side.reply("Do you like jazz?", (), P02).text == UNKNOWN_REPLIES["en"]
    later = retrieve_findings("糖化血红蛋白多少？", P02_ZH.current(1).values(), load_guide(), "zh")
    assert side.reply("", later, P02_ZH).text == "我的糖化血红蛋白现在是7.4%。"


def test_rule_based_patient_states_no_value_missing_in_record() -> None:
    for patient in load_patients():
        for finding in patient.current(len(patient.visits) - 1).values():
            assert (
                find_invented_values(
                    RulePatient().reply("", [finding], patient).text, [finding.result, finding.says]
                )
                == []
            )


@pytest.mark.parametrize(
    ("reply", "wrong"),
    [
        ("It was 9.1%.", []),
        ("It was 9.7%.", ["9.7"]),
        ("Normal, I think.", ["normal"]),
        ("十五次", ["十五"]),
        ("It is rather high.", []),
    ],
)
def test_invented_value_is_detected(reply: str, wrong: list[str]) -> None:
    assert find_invented_values(reply, ["HbA1c: 9.1%. My HbA1c is 9.1%."]) == wrong


def test_context_fits_budget_and_cuts_no_sentence() -> None:
    told = [
        HistoryItem(
            id=str(number),
            query=f"My value number {number} is {number}.5 units. It was fine.",
            response="Noted.",
            at=NOON,
        )
        for number in range(10)
    ]
    desk = PatientMemory(Fixed(*(RetrievedMemory(item.text, (item.id,)) for item in told)), "en", budget=50)
    for item in told:
        desk.add_item(item)
    context = desk.recall("What are my values?", NOON)
    assert 0 < context.tokens <= 50
    assert sum(count_tokens(line.dated_text) for line in context.lines) == context.tokens
    assert context.lines[0].dated_text.startswith("[2024-05-01] Patient: My value number 0 is 0.5 units.")
    assert all(line.text.endswith((".", "Noted.")) for line in context.lines)


def test_doctor_statements_are_not_findings() -> None:
    line = ContextLine(
        NOON.date(), "Patient: Yes. Doctor: You are allergic to nuts. Are you allergic to milk?"
    )
    assert line.patient_sentences("en") == ["Yes."]


def test_newest_date_counts_and_expired_result_does_not() -> None:
    lines = [
        ContextLine(date(2024, 1, 1), "The user's HbA1c is 9.1%."),
        ContextLine(date(2024, 4, 1), "Patient: My HbA1c is 7.4%. Doctor: What is your HbA1c?"),
        ContextLine(date(2024, 4, 1), "What about the HbA1c?"),
    ]
    today = date(2024, 4, 20)

    def known(within: int | None, item: str = "HbA1c") -> tuple[str, ...]:
        return read_findings(lines, item, load_guide(), "en", today=today, valid_days=within)

    assert known(None) == known(30) == ("My HbA1c is 7.4%.",)
    assert known(10) == ()
    assert known(None, "Drug allergy") == ()


def finding(result: str, says: str) -> Finding:
    return Finding(category="c", item="i", result=result, says=says)


OLD, NEW = finding("9.1%", "My HbA1c is 9.1%."), finding("7.4%", "My HbA1c is 7.4%.")
NONE, SMOKES = finding("None", "No, I don't smoke."), finding("10", "I smoke 10 a day.")


@pytest.mark.parametrize(
    ("stated", "told", "verdict"),
    [
        (("The user's HbA1c is 7.4%.",), (OLD, NEW), "right"),
        (("The user's HbA1c is 9.1%.",), (OLD, NEW), "contradicted"),
        (("The user's HbA1c is 9.1%.", "My HbA1c is 7.4%."), (OLD, NEW), "right"),
        (("The user has an HbA1c.",), (OLD, NEW), "forgotten"),
        ((), (OLD,), "forgotten"),
        (("The user does not smoke.",), (NONE,), "right"),
        (("The user smokes.",), (NONE,), "contradicted"),
        (("The user does not smoke.",), (NONE, SMOKES), "contradicted"),
        (("The user smokes 10 a day.",), (NONE, SMOKES), "right"),
        (("The user does not smoke 10 a day.",), (SMOKES,), "contradicted"),
    ],
)
def test_statement_is_right_contradicted_or_forgotten(
    stated: tuple[str, ...], told: tuple[Finding, ...], verdict: str
) -> None:
    assert judge_statements(stated, told) == verdict


def test_two_empty_recalls_do_not_agree() -> None:
    assert not recalls_agree((), (), (OLD,))
    assert not recalls_agree(("My HbA1c is 9.1%.",), (), (OLD,))
    assert recalls_agree(("My HbA1c is 9.1%.",), ("HbA1c: 9.1%.",), (OLD,))
    assert not recalls_agree(("My HbA1c is 9.1%.",), ("My HbA1c is 7.4%.",), (OLD, NEW))


def test_denied_sign_does_not_count_and_denial_may_be_a_sign() -> None:
    assert affirms_any("I have a fever of 39.", ["fever"])
    assert not affirms_any("No, I haven't had a fever.", ["fever"])
    assert affirms_any("I can't sleep before two.", ["can't sleep"])
    assert not affirms_any("我没有发烧。", ["发烧"])


def sheet(*items: str) -> VisitBrief:
    return VisitBrief("en", 52, "male", NOON, dict.fromkeys(items), max_questions=9)


def test_scripted_doctor_asks_only_for_missing_items() -> None:
    knows = RetrievedMemory("The user is allergic to penicillin.", ())
    wanted = sheet("Drug allergy", "Smoking")
    move = ScriptedDoctor(wanted, load_guide()).next_move("Good morning.", PatientMemory(Fixed(knows), "en"))
    assert move == DoctorQuestion("Do you smoke?")
    move = ScriptedDoctor(wanted, load_guide()).next_move("Good morning.", PatientMemory(Fixed(), "en"))
    assert move == DoctorQuestion("Are you allergic to any medicine?")
    move = ScriptedDoctor(wanted, load_guide()).next_move(
        "I smoke, sorry.", PatientMemory(Fixed(knows), "en")
    )
    assert isinstance(move, Decision)


def test_scripted_doctor_keeps_no_state() -> None:
    doctor, desk = (
        ScriptedDoctor(sheet("Drug allergy", "Smoking"), load_guide()),
        PatientMemory(Fixed(), "en"),
    )
    doctor.next_move("Good morning.", desk)
    doctor.next_move("I'm allergic to penicillin.", desk)
    end = doctor.next_move("I smoke 10 a day.", desk)
    assert isinstance(end, Decision)
    assert dict(end.findings) == {"Smoking": ("I smoke 10 a day.",)}


PNEUMONIA: dict[str, tuple[str, ...]] = {
    "Fever": ("I have a fever of 39.",),
    "Sputum": ("Rusty phlegm.",),
    "Chest X-ray": ("A shadow on the X-ray.",),
}


@pytest.mark.parametrize(
    ("more", "treatment"),
    [
        ({}, "amoxicillin"),
        ({"Drug allergy": ("No, I'm not allergic to penicillin.",)}, "amoxicillin"),
        ({"Drug allergy": ("I'm allergic to penicillin.",)}, "doxycycline"),
        ({"Drug allergy": ("I'm allergic to penicillin.",), "Pregnancy": ("I'm pregnant.",)}, "azithromycin"),
    ],
)
def test_guide_decides_by_findings_only(more: dict[str, tuple[str, ...]], treatment: str) -> None:
    known = load_guide()
    found = known.diagnose(PNEUMONIA | more, "en")
    assert found is not None
    assert found.en == "pneumonia"
    plan = known.treat(found, PNEUMONIA | more, "en")
    assert plan is not None
    assert plan.en == treatment


def test_refused_treatment_is_not_suggested_and_no_findings_give_no_diagnosis() -> None:
    known = load_guide()
    cancer = next(each for each in known.diagnoses if each.en == "bladder cancer")
    plan = known.treat(cancer, {"Treatment preference": ("I don't want an operation.",)}, "en")
    assert plan is not None
    assert plan.en == "radiotherapy of the bladder"
    assert known.diagnose({}, "en") is None


def test_visit_brief_contains_no_results() -> None:
    shown = repr(make_visit_brief(P02, 0))
    assert "HbA1c" in shown
    assert "9.1" not in shown
    assert "diabetes" not in shown
