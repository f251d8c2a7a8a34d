"""Doctor and patient played by a model: a fake one, and the real adapter with a failing server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.fake_openai import FakeOpenAI
from tests.lab.fakes import FakeLLM, reply_in_order
from typer.testing import CliRunner, Result

from thinkback_lab.cli import app
from thinkback_lab.consult.context import PatientMemory
from thinkback_lab.consult.doctor import Decision, DoctorQuestion, LLMDoctor, make_visit_brief
from thinkback_lab.consult.guide import load_guide
from thinkback_lab.consult.patient import LLMPatient
from thinkback_lab.consult.records import load_patients
from thinkback_lab.consult.runs import VISITS_FILE, read_visits
from thinkback_lab.errors import LabError
from thinkback_lab.harness import Setup
from thinkback_lab.systems.registry import find_system
from thinkback_lab.systems.resources import load_resources

P02 = load_patients(only=["p02.en"])[0]
HBA1C = P02.current(0)["HbA1c"]
END = {
    "findings": ["The HbA1c is 9.1%.", "He is thirsty."],
    "diagnosis": "Type 2 diabetes.",
    "treatment": "Metformin",
}


def asks(question: str) -> str:
    return json.dumps({"end": not question, "question": question})


def empty_desk() -> PatientMemory:
    return PatientMemory(find_system("none")(load_resources(Setup(embedder="hashing"))), "en")


def test_doctor_asks_then_decides_with_findings_by_item() -> None:
    llm = FakeLLM(reply_in_order(asks("What is your HbA1c?"), asks(""), json.dumps(END)))
    doctor, desk = LLMDoctor(make_visit_brief(P02, 0), load_guide(), llm), empty_desk()
    assert doctor.next_move("I drink all day.", desk) == DoctorQuestion("What is your HbA1c?")
    end = doctor.next_move("My HbA1c is 9.1%.", desk)
    assert isinstance(end, Decision)
    assert end.text == "This looks like Type 2 diabetes. I suggest Metformin."
    assert dict(end.findings) == {"HbA1c": ("The HbA1c is 9.1%.",), "Thirst": ("He is thirsty.",)}
    assert "My HbA1c is 9.1%." in llm.prompts[-1]
    assert "9.1" not in llm.prompts[0]
    assert len(desk.contexts) == 2


def test_doctor_is_stopped_at_question_limit() -> None:
    llm = FakeLLM(lambda prompt: json.dumps(END) if "Decide now" in prompt else asks("And how are you?"))
    doctor, desk = LLMDoctor(make_visit_brief(P02, 0, 2), load_guide(), llm), empty_desk()
    moves = [doctor.next_move("Well.", desk) for _ in range(3)]
    assert [type(move) for move in moves] == [DoctorQuestion, DoctorQuestion, Decision]
    assert len(llm.prompts) == 3


def test_invalid_reply_is_retried_with_higher_temperature() -> None:
    llm = FakeLLM(reply_in_order("Hello!", '{"end": "maybe"}', asks("Do you smoke?")))
    doctor = LLMDoctor(make_visit_brief(P02, 0), load_guide(), llm)
    assert doctor.next_move("Hm.", empty_desk()) == DoctorQuestion("Do you smoke?")
    assert llm.temperatures == [0.0, 0.4, 0.8]
    with pytest.raises(LabError, match="run the same command again"):
        LLMDoctor(make_visit_brief(P02, 0), load_guide(), FakeLLM(lambda prompt: "Hello!")).next_move(
            "Hm.", empty_desk()
        )


def test_patient_never_states_values_missing_in_record() -> None:
    llm = FakeLLM(reply_in_order("It was 8.0%, doctor.", "Nine point one, so 9.1%."))
    reply = LLMPatient(llm).reply("And the HbA1c?", [HBA1C], P02)
    assert reply.text == "Nine point one, so 9.1%."
    assert reply.rejected == ("It was 8.0%, doctor.",)
    stubborn = LLMPatient(FakeLLM(lambda prompt: "Quite normal.")).reply("And the HbA1c?", [HBA1C], P02)
    assert stubborn.text == HBA1C.says
    assert len(stubborn.rejected) == 2


def test_patient_gets_findings_and_no_model_call_without_findings() -> None:
    llm = FakeLLM(lambda prompt: "It is 9.1%.")
    LLMPatient(llm).reply("And the HbA1c?", [HBA1C], P02)
    assert "9.1%" in llm.prompts[0]
    assert "penicillin" not in llm.prompts[0]
    assert LLMPatient(llm).reply("Do you like jazz?", [], P02).text == "I don't know anything about that."
    assert len(llm.prompts) == 1


@pytest.fixture
def upstream(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeOpenAI]:
    with FakeOpenAI() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
        server.reply = answer
        yield server


def answer(body: dict[str, Any]) -> str:
    prompt = body["messages"][-1]["content"]
    if "Decide now" in prompt:
        return json.dumps(END)
    if "You play a" in prompt:
        return "Let me see."
    return asks("Are you allergic to any medicine?")


def lab(*words: object) -> Result:
    return CliRunner().invoke(app, ["consult", *map(str, words)], prog_name="thinkback-lab")


WORDS = ("--only", "p02.en", "--embedder", "hashing", "--scheme", "raw", "--rounds", 2)
MODELS = ("--llm", "openai:one", "--think", "extractive", "--doctor", "llm", "--patient", "llm")


def test_run_resumes_after_server_failure(upstream: FakeOpenAI, tmp_path: Path) -> None:
    out = tmp_path / "run"
    served = upstream.reply

    def gone(body: dict[str, Any]) -> str | dict[str, Any]:
        upstream.faults.extend(["401"] * 9)
        return served(body)

    upstream.reply = lambda body: gone(body) if len(upstream.seen) == 5 else served(body)
    broken = lab(*WORDS, *MODELS, "--out", out)
    assert broken.exit_code == 1
    assert "run the same command again" in broken.stderr
    (first,) = read_visits(out / VISITS_FILE)
    upstream.faults.clear()
    upstream.seen.clear()
    upstream.reply = served
    done = lab(*WORDS, *MODELS, "--out", out, "--json")
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert read_visits(out / VISITS_FILE)[0] == first
    left = 2 * (2 + 2 + 1)  # two visits: two questions, their answers, the decision
    assert len(upstream.seen) == left
    assert told["schemes"]["raw"]["totals"]["repeated"] == 5  # the same question six times
    assert told["schemes"]["raw"]["metrics"]["diagnosis"] == pytest.approx(2 / 3, abs=1e-3)
    assert "at most 21 LLM calls" in done.stderr


def test_role_for_model_needs_model(tmp_path: Path) -> None:
    done = lab(*WORDS, "--doctor", "llm", "--out", tmp_path / "run")
    assert done.exit_code == 1
    assert "give --llm" in done.stderr


def test_doctor_without_questions_is_scored(upstream: FakeOpenAI, tmp_path: Path) -> None:
    upstream.reply = lambda body: (
        json.dumps(END) if "Decide now" in body["messages"][-1]["content"] else asks("")
    )
    done = lab("--only", "p03.en", *WORDS[2:], *MODELS, "--out", tmp_path / "run")
    assert done.exit_code == 0, done.output
    row = done.stdout.splitlines()[1].split()
    assert row[:3] == ["raw", "0.000", "0.000"]
    assert (tmp_path / "run" / "report.html").is_file()
