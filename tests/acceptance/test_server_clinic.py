"""The clinic and the laboratory of the web page, over the real server and database."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from tests.acceptance.http_app import AuthenticateAs, open_app, serve_app
from tests.auth_matrix import AppResponse
from tests.server_app import ServerApp, open_server_app

from thinkback.errors import NotFound
from thinkback.llms.scripted import ScriptedLLM
from thinkback.memory import Memory
from thinkback.server import lab_runs
from thinkback.server.app import create_api
from thinkback.server.clinic.lexicon import load_lexicon
from thinkback.server.clinic.record import build_record

JSON = (b"content-type", b"application/json")
VISITS = (
    ("visit-1", "My blood pressure was 150 over 95 this morning. I'm allergic to penicillin."),
    ("visit-1", "I take amlodipine for my blood pressure. What does it do?"),
    ("visit-2", "My creatinine is 48 µmol/L and my blood pressure is 132/84 now."),
    ("visit-2", "I have had a headache for three days. My ferritin is 310 ng/mL."),
    ("visit-3", "空腹血糖是7.2，我对头孢过敏。"),
)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ServerApp]:
    runs = tmp_path / "runs"
    runs.mkdir()
    with open_server_app(tmp_path, runs=str(runs)) as server:
        yield server


@pytest.fixture
def patient(server: ServerApp) -> Memory:
    memory = server.services.memories.for_tenant("acme").for_user("patient:p01")
    start = datetime(2024, 3, 4, 9, tzinfo=UTC)
    for number, (session, text) in enumerate(VISITS):
        memory.remember(text, "Noted, doctor.", at=start + timedelta(days=10 * number), session=session)
    memory.post_think()
    return memory


async def ask(
    server: ServerApp, method: str, path: str, body: Any = None, *, tenant: str = "acme", **query: Any
) -> AppResponse:
    said = {} if body is None else {"body": json.dumps(body).encode(), "headers": [JSON]}
    target = f"{path}?{urlencode(query, doseq=True)}" if query else path
    return await server.request(method, target, key=server.keys[tenant], **said)


def test_record_has_values_over_time_and_safety_facts(patient: Memory) -> None:
    record = build_record(patient.turns(), patient.thoughts(current=False))
    series = {each.item: each for each in record.findings}
    pressure = series["blood pressure"]
    assert [point.values for point in pressure.points] == [(150.0, 95.0), (132.0, 84.0)]
    assert pressure.unit == "mmHg"
    assert [point.values for point in series["creatinine"].points] == [(48.0,)]
    assert [point.values for point in series["blood glucose"].points] == [(7.2,)]
    assert series["ferritin"].unit == "ng/ml"
    measured = [row for row in record.rows if row.item == "Blood pressure"]
    assert [row.current for row in measured] == [False, True]
    assert {fact.kind for fact in record.constraints} == {"allergy"}
    assert any("amlodipine" in row.quote for row in record.medication)
    assert not any("What does it do" in row.quote for row in record.rows), "a question is no finding"
    assert not any("Noted, doctor" in row.quote for row in record.rows), "nor is what the doctor said"
    assert any(row.category == "symptom" for row in record.rows)


def test_forgotten_statements_are_past(patient: Memory) -> None:
    (thought,) = [item for item in patient.thoughts() if "penicillin" in item.sentence]
    patient.forget(thought, "it was a mistake")
    record = build_record(patient.turns(), patient.thoughts(current=False))
    assert not any("penicillin" in fact.text for fact in record.constraints)
    assert [row.current for row in record.rows if row.thought == thought.id] == [False]


@pytest.mark.parametrize(
    ("sentence", "category"),
    [
        ("Cephalosporins: an allergy since childhood.", "allergy"),
        ("They prescribed me metformin twice a day.", "medication"),
        ("I'd rather not have an operation.", "preference"),
        ("The MRI found a small cyst.", "procedure"),
        ("My father had a stroke at sixty.", "history"),
        ("我头晕得厉害。", "symptom"),
        ("每天吃两片阿司匹林。", "medication"),
        ("CT说膀胱后壁有东西。", "procedure"),
        ("The bus was late.", "other"),
    ],
)
def test_sentences_are_sorted_by_category(sentence: str, category: str) -> None:
    assert load_lexicon().category_of(sentence) == category


@pytest.mark.parametrize(
    ("sentence", "values"),
    [
        ("I have had high cholesterol since 2015.", {}),
        ("I lost weight over the last 6 months.", {}),
        ("My cholesterol was checked 3 times.", {}),
        ("My weight was 2 years ago much lower.", {}),
        ("My weight this morning was 81.", {"weight": (81.0,)}),
        ("I weigh 81.", {"weight": (81.0,)}),
        ("My cholesterol, measured twice, 5,2 mmol/L.", {"cholesterol": (5.2,)}),
        ("My ferritin is 1,200 ng/mL.", {"ferritin": (1200.0,)}),
        ("My creatinine is 0,125 mmol/L.", {"creatinine": (0.125,)}),
        ("我的体重是81，体温38.5度。", {"weight": (81.0,), "temperature": (38.5,)}),
        ("胆固醇查了3次。", {}),
        ("I have lost 2 kg since spring.", {}),
        ("我从春天到现在瘦了2公斤。", {}),
    ],
)
def test_only_stated_values_are_findings(sentence: str, values: dict[str, tuple[float, ...]]) -> None:
    with Memory.open(":memory:", embedder="hashing", background=False) as memory:
        memory.remember(sentence)
        record = build_record(memory.turns(), [])
    assert {each.item: each.points[0].values for each in record.findings} == values


@pytest.mark.parametrize(
    ("sentence", "denied"),
    [
        ("No, I haven't had a fever.", True),
        ("No pain at night.", True),
        ("I have no allergies that I know of.", True),
        ("I have never had an operation.", True),
        ("没有，没发过烧。", True),
        ("我对青霉素不过敏。", True),
        ("No, it hurts more than before.", False),
        ("I can't sleep because of the cough.", False),
        ("I would rather not have an operation.", False),
        ("我不舒服，头很晕。", False),
    ],
)
def test_denied_findings_are_marked(sentence: str, denied: bool) -> None:
    with Memory.open(":memory:", embedder="hashing", background=False) as memory:
        memory.remember(sentence)
        (row,) = build_record(memory.turns(), []).rows
    assert row.denied == denied


def test_repeated_statement_is_one_row_with_its_first_and_last_date(patient: Memory) -> None:
    again = datetime(2024, 7, 12, 9, tzinfo=UTC)
    patient.remember("I take amlodipine for my blood pressure.", "", at=again, session="visit-4")
    patient.remember("I don't take any other pills.", "", at=again, session="visit-4")
    patient.post_think()
    record = build_record(patient.turns(), patient.thoughts(current=False))
    (row,) = record.medication
    assert (row.at, row.last_at, row.current) == (datetime(2024, 3, 14, 9, tzinfo=UTC), again, True)


@pytest.mark.parametrize(
    ("sentence", "categories"),
    [
        ("My blood pressure is 150/95 and I take lisinopril.", ["measurement", "medication"]),
        ("My blood pressure is 150/95 today.", ["measurement"]),
        ("空腹血糖是7.2，我对头孢过敏。", ["measurement", "allergy"]),
    ],
)
def test_sentence_with_a_value_keeps_its_category(sentence: str, categories: list[str]) -> None:
    with Memory.open(":memory:", embedder="hashing", background=False) as memory:
        memory.remember(sentence)
        record = build_record(memory.turns(), [])
    assert [row.category for row in record.rows] == categories


def test_patients_and_visits_belong_to_their_tenant(server: ServerApp, patient: Memory) -> None:
    async def work() -> None:
        listed = (await ask(server, "GET", "/v1/clinic/patients")).json()["items"]
        assert [(each["name"], each["visits"]) for each in listed] == [("p01", 3)]
        visits = (await ask(server, "GET", "/v1/clinic/patients/p01/visits")).json()["items"]
        assert [visit["session"] for visit in visits] == ["visit-1", "visit-2", "visit-3"]
        record = (await ask(server, "GET", "/v1/clinic/patients/p01/record")).json()
        assert record["notice"].startswith("Supports and does not replace")
        assert record["findings"][0]["label"] == {"en": "Blood pressure", "zh": "血压"}
        for path in ("visits", "record", "export"):
            other = await ask(server, "GET", f"/v1/clinic/patients/p01/{path}", tenant="globex")
            assert other.status == 404
        assert (await ask(server, "GET", "/v1/clinic/patients", tenant="globex")).json()["items"] == []

    server.run(work)


def test_record_has_no_secrets(patient: Memory) -> None:
    text = "My allergy portal password is Kestrel-99. My pulse is 61. My locker pin is 4821."
    patient.remember(text, session="visit-4")
    patient.post_think()
    record = build_record(patient.turns(), patient.thoughts(current=False))
    assert any(point.text == "61" for series in record.findings for point in series.points)
    assert "Kestrel" not in repr(record)
    assert "4821" not in repr(record)


def test_export_is_a_file(server: ServerApp, patient: Memory) -> None:
    hostile = '</script>"\r\nX-Injected: 1'
    memory = server.services.memories.for_tenant("acme").for_user("patient:evil")
    memory.remember(f"I am allergic to {hostile}.")

    async def work() -> None:
        text = await ask(server, "GET", "/v1/clinic/patients/p01/export", format="text")
        assert text.header("content-type") == "text/plain; charset=utf-8"
        assert text.header("content-disposition") == "attachment; filename*=UTF-8''record-p01.txt"
        assert "150/95 mmHg" in text.body.decode()
        evil = await ask(server, "GET", "/v1/clinic/patients/evil/export")
        assert evil.header("x-injected") is None
        assert evil.json()["patient"] == "evil"
        named = await ask(server, "GET", f"/v1/clinic/patients/{quote('张三')}/export")
        assert named.status == 404

    server.run(work)


def test_consultation_without_a_model(server: ServerApp, patient: Memory) -> None:
    turns = patient.stats().turns

    async def work() -> None:
        body = {"patient": "p01", "message": "What is my blood pressure?", "session": "visit-4"}
        dry = (await ask(server, "POST", "/v1/clinic/consult", {**body, "remember": False})).json()
        assert dry["turn"] is None
        assert patient.stats().turns == turns
        told = (await ask(server, "POST", "/v1/clinic/consult", body)).json()
        assert told["by"] == "memory"
        assert "132/84" in told["with_memory"]["text"]
        assert told["with_memory"]["recalled"]
        assert "132" not in told["without_memory"]["text"]
        assert told["turn"]["session"] == "visit-4"
        first = {"patient": "新病人", "message": "我头痛。"}
        assert (await ask(server, "POST", "/v1/clinic/consult", first)).status == 200
        names = [each["name"] for each in (await ask(server, "GET", "/v1/clinic/patients")).json()["items"]]
        assert names == ["p01", "新病人"]

    server.run(work)


def test_patient_name_fits_into_a_path(server: ServerApp) -> None:
    body = {"patient": "ward 3/bed 4", "message": "I have a headache."}
    response = server.run(lambda: ask(server, "POST", "/v1/clinic/consult", body))
    assert response.status == 422


def test_consultation_with_a_model_shows_what_memory_prevents(tmp_path: Path) -> None:
    def answer(messages: Any) -> str:
        text = " ".join(message.content for message in messages)
        return "Take paracetamol." if "penicillin" in text else "Take amoxicillin, a penicillin."

    llm = ScriptedLLM({"": answer})
    with Memory.open(":memory:", embedder="hashing", llm=llm, think="extractive", background=False) as root:
        memory = root.for_user("patient:p01")
        memory.remember("I am allergic to penicillin.")
        memory.post_think()
        with open_app(create_api, root) as app, serve_app(AuthenticateAs(app)) as client:
            body = {"patient": "p01", "message": "Which medicine helps my throat?", "remember": False}
            told = client.request("POST", "/v1/clinic/consult", body).json
    assert told["by"] == "model"
    assert "paracetamol" in told["with_memory"]["text"]
    assert [constraint["kind"] for constraint in told["with_memory"]["constraints"]] == ["allergy"]
    assert [conflict["method"] for conflict in told["without_memory"]["conflicts"]] == ["safety"]


# --- laboratory ---


def write_run(folder: Path, name: str, scores: dict[str, float], **settings: str) -> None:
    run = folder / name
    run.mkdir(parents=True)
    results = {
        "dataset": "lives",
        "scheme": "thinkback",
        "settings": settings,
        "metrics": {"recall@5": sum(scores.values()) / len(scores)},
        "n": len(scores),
    }
    (run / "results.json").write_text(json.dumps(results))
    lines = [
        {
            "case": "c1",
            "id": id_,
            "category": "single",
            "question": f"Where is {id_}? <b>",
            "expected": "Lyon",
            "gold": ["t1"],
            "gold_texts": ["I live in Lyon."],
            "answer": None,
            "found": [
                {"text": "I live in Lyon.", "sources": ["t1"], "score": 0.9},
                {"text": "x", "sources": ["t2"], "score": 0.1},
            ],
            "scores": {"recall@5": score},
        }
        for id_, score in scores.items()
    ]
    (run / "questions.jsonl").write_text("\n".join(map(json.dumps, lines)) + '\n{"torn')


def test_runs_are_compared_question_by_question(server: ServerApp, tmp_path: Path) -> None:
    folder = tmp_path / "runs"
    write_run(folder, "one", {"q1": 1.0, "q2": 0.0, "q3": 1.0}, embedder="minilm")
    write_run(folder, "two", {"q1": 1.0, "q2": 1.0, "q4": 0.0}, embedder="hashing")
    (folder / "notes.txt").write_text("not a run")
    (folder / "broken").mkdir()
    (folder / "broken" / "results.json").write_text("{")
    (folder / "link").symlink_to(tmp_path)

    async def work() -> None:
        runs = (await ask(server, "GET", "/v1/lab/runs")).json()["items"]
        assert {run["name"] for run in runs} == {"one", "two"}
        detail = (await ask(server, "GET", "/v1/lab/runs/one")).json()
        assert detail["results"]["dataset"] == "lives"
        told = (await ask(server, "GET", "/v1/lab/compare", run=["one", "two"])).json()
        assert [run["label"] for run in told["runs"]] == [
            "thinkback, embedder minilm",
            "thinkback, embedder hashing",
        ]
        assert (told["total"], told["different"], told["means"]) == (2, 1, [0.5, 1.0])
        assert [found["gold"] for found in told["items"][0]["runs"][0]["found"]] == [True, False]
        only = (await ask(server, "GET", "/v1/lab/compare", run=["one", "two"], only="different")).json()
        assert [item["id"] for item in only["items"]] == ["q2"]
        for name in ("..", "nothing", "link", "notes.txt"):
            response = await ask(server, "GET", "/v1/lab/compare", run=[name])
            assert response.status == 404, name
        wrong = await ask(server, "GET", "/v1/lab/compare", run=["one"], metric="nothing")
        assert wrong.status == 422

    server.run(work)


def test_named_run_reads_only_its_own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_run(tmp_path, "one", {"q1": 1.0})
    write_run(tmp_path, "two", {"q1": 1.0})
    read: list[str] = []
    read_run = lab_runs._read_run

    def read_and_note(folder: Path) -> object:
        read.append(folder.name)
        return read_run(folder)

    monkeypatch.setattr(lab_runs, "_read_run", read_and_note)
    assert lab_runs.RunFolder(str(tmp_path)).run("one").name == "one"
    assert read == ["one"]
    for name in ("", ".", "..", "one/", "./one", "../one", "x\0", "x" * 5000):
        with pytest.raises(NotFound):
            lab_runs.RunFolder(str(tmp_path)).run(name)


def test_laboratory_needs_a_folder_and_an_administrator(tmp_path: Path) -> None:
    with open_server_app(tmp_path) as server:
        reader = server.key("acme", "read", "write")

        async def work() -> list[int]:
            return [
                (await ask(server, "GET", "/v1/lab/runs")).status,
                (await server.request("GET", "/v1/lab/runs", key=reader)).status,
            ]

        assert server.run(work) == [404, 403]
