"""`thinkback-lab generate`: by grammar, and by a model through the real adapter."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.fake_openai import FakeOpenAI
from tests.lab.world_llm import step_of, world_reply
from typer.testing import CliRunner, Result

from thinkback_lab.cli import app
from thinkback_lab.datasets.perltqa import load
from thinkback_lab.worlds.validation import Finding


def run(*args: object) -> Result:
    return CliRunner().invoke(app, ["generate", *map(str, args)])


def told(result: Result) -> dict[str, Any]:
    assert result.exit_code == 0, result.output
    summary: dict[str, Any] = json.loads(result.stdout)
    return summary


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_world_is_written_checked_and_loadable(tmp_path: Path, lang: str) -> None:
    out = tmp_path / "world"
    summary = told(run("--characters", 2, "--lang", lang, "--seed", 7, "--out", out, "--json"))
    assert sorted(path.name for path in out.iterdir()) == [f"perltmem_{lang}.json", f"perltqa_{lang}.json"]
    cases = load(out, lang).cases
    counts = summary["counts"]
    assert summary["findings"] == 0
    assert counts["characters"] == len(cases) == 2
    assert counts["questions"] == sum(len(case.questions) for case in cases)
    assert counts["events"] == sum(item.kind == "event" for case in cases for item in case.items)
    assert 0 < summary["largest_template_share"] < 1


def test_same_seed_gives_same_bytes_and_others_differ(tmp_path: Path) -> None:
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        assert run("--characters", 2, "--seed", seed, "--out", tmp_path / name).exit_code == 0
    first, same, other = (
        [path.read_bytes() for path in sorted((tmp_path / name).iterdir())] for name in "abc"
    )
    assert first == same
    assert first != other


def test_table_ends_with_next_command(tmp_path: Path) -> None:
    shown = run("--characters", 1, "--out", tmp_path / "new world").stdout
    assert "relationship categories" in shown
    assert f"thinkback-lab eval perltqa --data '{tmp_path}/new world' --lang en" in shown


def test_folder_with_other_files_is_rejected(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    result = run("--characters", 1, "--out", tmp_path)
    assert result.exit_code == 1
    assert "thesis.tex" in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]
    assert run("--characters", 1, "--out", tmp_path / "thesis.tex").exit_code == 1


def test_world_may_be_rewritten_and_share_folder_with_other_language(tmp_path: Path) -> None:
    for lang in ("en", "zh", "en"):
        assert run("--characters", 1, "--lang", lang, "--out", tmp_path).exit_code == 0
    assert len(list(tmp_path.iterdir())) == 4


def test_faulty_world_exits_with_status_1(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fault = Finding(code="brief-event", place="Ada, 1_0_0", words="short", operation="remove", repair="it")
    command = sys.modules["thinkback_lab.commands.generate"]
    monkeypatch.setattr(command, "find_faults", lambda world: [fault])
    result = run("--characters", 1, "--out", tmp_path)
    assert result.exit_code == 1
    assert fault.line in result.stdout


def test_llm_generator_needs_model(tmp_path: Path) -> None:
    result = run("--by", "llm", "--out", tmp_path / "world")
    assert result.exit_code == 1
    assert "--llm openai:MODEL" in result.stderr
    assert not (tmp_path / "world").exists()


# --- by a model -----------------------------------------------------------------------------------


@pytest.fixture
def upstream(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeOpenAI]:
    pytest.importorskip("openai", reason="pip install 'thinkback[openai]'")
    with FakeOpenAI() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "test")
        server.reply = lambda body: _marked(body["messages"][0]["content"])
        yield server


def _marked(prompt: str) -> str:
    """Every dialogue's pair is to be looked at."""
    told = json.loads(world_reply(prompt))
    if step_of(prompt) == "score" and "AI assistant" in prompt:
        told["score"] = 8
    return json.dumps(told)


def test_model_writes_world_and_second_run_uses_cache(tmp_path: Path, upstream: FakeOpenAI) -> None:
    asked = ("--by", "llm", "--llm", "openai:improviser", "--characters", 1, "--out", tmp_path, "--json")
    first = told(run(*asked))
    written = {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
    assert set(written) == {"perltmem_en.json", "perltqa_en.json", "review.jsonl"}
    review = [json.loads(line) for line in written["review.jsonl"].decode().splitlines()]
    assert len(review) == first["review"] > 0
    assert {each["section"] for each in review} == {"dialogues"}
    assert first["receipt"]["calls"] == len(upstream.seen)

    second = told(run(*asked))
    assert second["receipt"]["calls"] == 0
    assert second["receipt"]["kept"] == first["receipt"]["calls"] + first["receipt"]["kept"]
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()} == written


def test_server_failure_keeps_cached_replies(tmp_path: Path, upstream: FakeOpenAI) -> None:
    upstream.faults.extend(["ok"] * 5 + ["401"])
    asked = ("--by", "llm", "--llm", "openai:improviser", "--characters", 1, "--out", tmp_path, "--json")
    result = run(*asked)
    assert result.exit_code == 1
    assert "run the same command again" in result.stderr
    assert told(run(*asked))["receipt"]["kept"] >= 5


def test_persistent_refusal_aborts_early(tmp_path: Path, upstream: FakeOpenAI) -> None:
    upstream.reject = lambda body: "too long" if len(upstream.seen) > 5 else None
    result = run("--by", "llm", "--llm", "openai:improviser", "--characters", 9, "--out", tmp_path)
    assert result.exit_code == 1
    assert "10 times in a row" in result.stderr
    assert len(upstream.seen) < 100
