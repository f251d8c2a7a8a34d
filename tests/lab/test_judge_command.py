"""`thinkback-lab judge` through the real adapter to a faulty server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from tests.fake_openai import FakeOpenAI
from tests.lab.fakes import make_record
from typer.testing import CliRunner, Result

from thinkback_lab.commands.runs import judge
from thinkback_lab.judge.judgements import read_judgements
from thinkback_lab.runs.folder import RunFolder, read_results
from thinkback_lab.runs.records import summarise_records

VERDICT = json.dumps({"reason": "It tells.", "correctness": 0.5, "coherence": 1, "score": 6})


@pytest.fixture
def upstream(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeOpenAI]:
    with FakeOpenAI() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
        server.reply = lambda body: VERDICT
        yield server


@pytest.fixture
def run(tmp_path: Path) -> Path:
    path = tmp_path / "ours"
    records = [make_record(number, f"It is red, {number}.") for number in range(3)]
    with RunFolder(path, {"scheme": "ours"}, "command") as folder:
        for each in records:
            folder.add(each)
        folder.finish(summarise_records(records, dataset="toy", scheme="ours", settings={}))
    return path


def called(*words: str) -> Result:
    app = typer.Typer()
    app.command()(judge)
    return CliRunner().invoke(app, words)


def test_json_output(upstream: FakeOpenAI, run: Path) -> None:
    result = called(str(run), "--judge", "openai:one", "--judge", "openai:two", "--json")
    assert result.exit_code == 0, result.output
    told: dict[str, Any] = json.loads(result.stdout)
    assert told["judges"] == ["openai:one", "openai:two"]
    assert told["runs"][0]["metrics"]["judge_score"] == 6
    assert told["agreement"][0]["correctness"] == {"exact": 1.0, "kappa": None}
    assert read_results(run)["metrics"]["judge_correctness"] == 0.5
    assert all(each.body["temperature"] == 0 for each in upstream.seen)
    assert len(upstream.seen) == 6


def test_table_output(upstream: FakeOpenAI, run: Path) -> None:
    result = called(str(run), "--judge", "openai:one", "--judge", "openai:two")
    assert result.exit_code == 0, result.output
    assert "6.000" in result.stdout
    assert "without a verdict: 0" in result.stdout
    assert "over 3 answers" in result.stdout


def test_garbled_replies_are_retried_or_counted(upstream: FakeOpenAI, run: Path) -> None:
    upstream.reply = lambda body: "10 out of 10" if "number 1" in str(body["messages"]) else VERDICT
    result = called(str(run), "--judge", "openai:one", "--json")
    assert result.exit_code == 0, result.output
    (failed,) = [each for each in read_judgements(run) if each.verdict is None]
    assert failed.id == "q1"
    assert json.loads(result.stdout)["runs"][0]["counts"]["judge_score"] == 2


def test_errors_are_one_line(run: Path, tmp_path: Path) -> None:
    for words in ([str(tmp_path), "--judge", "local:nothing-here"], [str(run), "--judge", "nobody"]):
        result = called(*words)
        assert result.exit_code == 1
        assert result.stderr.startswith("error: ")
        assert result.stderr.count("\n") == 1
