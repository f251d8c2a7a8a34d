"""Consultation runs: played, logged, resumed, summarised and reported."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

import pytest

from thinkback_lab.cases import HistoryItem
from thinkback_lab.consult.context import PatientMemory
from thinkback_lab.consult.doctor import ScriptedDoctor
from thinkback_lab.consult.guide import load_guide
from thinkback_lab.consult.patient import RulePatient
from thinkback_lab.consult.records import load_patients
from thinkback_lab.consult.report import (
    summarise_consultations,
    write_consult_page,
    write_transcripts,
)
from thinkback_lab.consult.runs import (
    VISITS_FILE,
    ConsultJob,
    VisitLog,
    VisitRecord,
    read_visits,
    records_digest,
    run_consultations,
)
from thinkback_lab.consult.visits import (
    PlayedVisit,
    Roles,
    ToldFindings,
    order_score,
    play_visit,
    score_visit,
)
from thinkback_lab.errors import LabError
from thinkback_lab.harness import Setup
from thinkback_lab.systems.interface import Resources, RetrievedMemory
from thinkback_lab.systems.registry import find_system
from thinkback_lab.systems.resources import load_resources

KNOWN = load_guide()
ROOM = Roles(KNOWN, lambda sheet: ScriptedDoctor(sheet, KNOWN), RulePatient())
P02 = load_patients(only=["p02.en"])[0]
SETTINGS = {"doctor": "scripted", "patient": "rules"}


class Perfect:
    """Every turn, newest first: what a memory without a limit would bring."""

    returns_everything = True

    def __init__(self, kit: Resources | None = None) -> None:
        self.items: list[HistoryItem] = []

    def add_items(self, items: Sequence[HistoryItem]) -> None:
        self.items += items

    def recall(self, question: str, k: int, at: datetime) -> list[RetrievedMemory]:
        return [RetrievedMemory(item.text, (item.id,)) for item in self.items[::-1]]


@pytest.fixture(scope="module")
def tools() -> Resources:
    return load_resources(Setup(embedder="hashing"))


def job(tools: Resources, *schemes: str, only: Sequence[str] = ("p02.en", "p03.zh")) -> ConsultJob:
    return ConsultJob(load_patients(only=only), {name: find_system(name) for name in schemes}, tools, ROOM)


def consulted(budget: int) -> list[tuple[PlayedVisit, dict[str, float]]]:
    desk, told = PatientMemory(Perfect(), "en", budget), ToldFindings()
    visits = []
    for number in range(len(P02.visits)):
        played = play_visit(P02, number, desk, told, ROOM)
        visits.append((played, score_visit(P02, played, told)))
    return visits


def test_perfect_memory_makes_no_errors() -> None:
    for played, scores in consulted(budget=10_000):
        assert scores["repeated"] == scores["forgotten"] == scores["contradicted"] == 0, played.number
        assert scores["diagnosis"] == scores["treatment"] == scores["coverage"] == scores["consistency"] == 1
    questions = [turn.doctor for turn in consulted(10_000)[2][0].turns]
    assert "Are you allergic to any medicine?" not in questions
    assert "Have you had a fever?" in questions


def test_no_memory_repeats_all_questions_and_gives_wrong_drug() -> None:
    desk, told = (
        PatientMemory(find_system("none")(load_resources(Setup(embedder="hashing"))), "en"),
        ToldFindings(),
    )
    for number in range(3):
        played = play_visit(P02, number, desk, told, ROOM)
    scores = score_visit(P02, played, told)
    assert scores["repeated"] == len(P02.visits[2].needs)
    assert scores["treatment"] == 0
    assert scores["forgotten"] == scores["told"] == len(P02.visits[2].items)


def test_changed_value_is_asked_again_without_counting_as_repetition() -> None:
    _, (second, scores), _ = consulted(budget=10_000)
    asked = [item for turn in second.turns for item in turn.asked]
    assert asked == ["HbA1c", "Fasting glucose"]
    assert scores["repeated"] == 0


def test_systems_store_only_the_dialogue() -> None:
    memory = Perfect()
    play_visit(P02, 0, PatientMemory(memory, "en"), ToldFindings(), ROOM)
    assert memory.items[0].query == P02.visits[0].opening
    said = {finding.says for finding in P02.visits[0].findings}
    assert {item.query for item in memory.items[1:]} == said
    assert all("type 2" not in item.response for item in memory.items[:-1])


@pytest.mark.parametrize(
    ("asked", "share"),
    [
        (["Fever", "Cough", "Chest X-ray"], 1.0),
        (["Chest X-ray", "Fever", "Cough"], 0.0),
        (["Fever", "Chest X-ray", "Cough"], 0.5),
        (["Fever", "Cough"], None),
        ([], None),
    ],
)
def test_order_score_counts_ordered_pairs(asked: list[str], share: float | None) -> None:
    assert order_score(asked, P02.visits[2]) == share


def test_killed_run_resumes_with_same_result(tools: Resources, tmp_path: Path) -> None:
    work = job(tools, "raw", "thinkback")
    with VisitLog(tmp_path / "whole", {"a": 1}, "command") as ledger:
        whole = run_consultations(work, ledger)
    lines = (tmp_path / "whole" / VISITS_FILE).read_text("utf-8").splitlines(keepends=True)
    assert len(lines) == len(whole) == 12
    part = tmp_path / "part"
    with VisitLog(part, {"a": 1}, "command"):
        pass
    (part / VISITS_FILE).write_text("".join(lines[:4]) + lines[4][:50], "utf-8")
    with VisitLog(part, {"a": 1}, "command") as ledger:
        assert len(ledger.entries) == 4
        assert run_consultations(work, ledger) == whole
    assert read_visits(part / VISITS_FILE) == whole


def test_finished_run_asks_nobody_and_accepts_another_scheme(tools: Resources, tmp_path: Path) -> None:
    with VisitLog(tmp_path, {"a": 1}, "command") as ledger:
        run_consultations(job(tools, "none"), ledger)
    with VisitLog(tmp_path, {"a": 1}, "command") as ledger:
        silent = Roles(KNOWN, lambda sheet: pytest.fail("asked again"), RulePatient())
        again = ConsultJob(
            load_patients(only=["p02.en", "p03.zh"]), {"none": find_system("none")}, tools, silent
        )
        assert len(run_consultations(again, ledger)) == 6
        run_consultations(job(tools, "full"), ledger)
        assert len(ledger.entries) == 12


def test_other_run_and_second_writer_are_rejected(tmp_path: Path) -> None:
    ours = {"records": 1, "settings": 1}
    with VisitLog(tmp_path, ours, "command"), pytest.raises(LabError, match="another process"):
        VisitLog(tmp_path, ours, "command")
    with pytest.raises(LabError, match=r"another run \(different records\)"):
        VisitLog(tmp_path, {"records": 2, "settings": 1}, "command")
    (tmp_path / VISITS_FILE).write_text("{}\n", "utf-8")
    with pytest.raises(LabError, match="line 1: not a visit"):
        VisitLog(tmp_path, ours, "command")


def test_digest_changes_with_any_word_of_a_record() -> None:
    other = P02.model_copy(update={"age": 53})
    assert records_digest([P02]) != records_digest([other])
    assert records_digest([P02]) == records_digest(load_patients(only=["p02.en"]))


@pytest.fixture(scope="module")
def entries(tools: Resources, tmp_path_factory: pytest.TempPathFactory) -> list[VisitRecord]:
    with VisitLog(tmp_path_factory.mktemp("run"), {}, "command") as ledger:
        return run_consultations(job(tools, "none", "full"), ledger)


def test_results_by_scheme_visit_and_turn(entries: list[VisitRecord]) -> None:
    told = summarise_consultations(entries, SETTINGS, "command")
    json.dumps(told)
    assert (told["patients"], told["n"]) == (2, 6)
    none, full = told["schemes"]["none"], told["schemes"]["full"]
    assert none["totals"]["repeated"] == sum(each["totals"]["repeated"] for each in none["by_visit"].values())
    assert none["by_visit"]["1"]["totals"]["repeated"] < none["by_visit"]["2"]["totals"]["repeated"]
    assert none["metrics"]["consistency"] == 0 < full["metrics"]["consistency"]
    assert none["metrics"]["context_tokens"] == 0 < full["metrics"]["context_tokens"]
    low, high = full["intervals"]["coverage"]
    assert low <= full["metrics"]["coverage"] <= high
    assert list(full["by_turn"]) == sorted(full["by_turn"], key=int)
    assert set(full["by_language"]) == {"en", "zh"}
    assert set(full["by_length"]) == {"short", "long"}


def test_page_and_transcripts_show_the_visits(entries: list[VisitRecord], tmp_path: Path) -> None:
    results = summarise_consultations(entries, SETTINGS, "thinkback-lab consult <x>")
    write_consult_page(results, entries, tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text("utf-8")
    assert page.count("<svg") == 3
    assert "Not medical advice" in page
    assert "&lt;x&gt;" in page
    repeated = next(turn.doctor for entry in entries for turn in entry.played.turns if turn.repeated)
    assert repeated in page
    write_transcripts(entries, load_patients(only=["p02.en", "p03.zh"]), tmp_path)
    told = (tmp_path / "transcripts" / "full" / "p02.en.md").read_text("utf-8")
    assert "**Patient:** My HbA1c is 9.1%." in told
    assert "- [2024-03-04] Patient:" in told
    assert "(asked before)" in (tmp_path / "transcripts" / "none" / "p02.en.md").read_text("utf-8")


def test_same_run_gives_same_visits(tools: Resources, tmp_path: Path) -> None:
    work = job(tools, "tim:002", "summary", "thinkback", only=["p05.en"])
    told = []
    for name in ("a", "b"):
        with VisitLog(tmp_path / name, {}, "command") as ledger:
            told.append(run_consultations(work, ledger))
    assert told[0] == told[1]
