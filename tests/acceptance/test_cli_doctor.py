"""`thinkback doctor`: what it reports on healthy and broken installations."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.acceptance.cli_runner import run
from tests.fake_openai import FakeOpenAI


def checks(shown: dict[str, Any], what: str) -> list[tuple[str, str]]:
    return [(check["state"], check["detail"]) for check in shown["checks"] if check["what"] == what]


def test_doctor_on_new_machine_creates_nothing(home: Path) -> None:
    shown = run("doctor", "--json").ok().json
    assert shown["ok"] is True
    assert shown["settings"]["embedder"] == {"value": "hashing", "origin": "env THINKBACK_EMBEDDER"}
    assert shown["settings"]["db"] == {"value": str(home / "memory.db"), "origin": "default"}
    assert checks(shown, "language model")[0][0] == "note"
    assert not home.exists()


def test_doctor_with_default_embedder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("THINKBACK_EMBEDDER")
    shown = run("doctor", "--offline", "--json").ok().json
    assert checks(shown, "embedder")[0][0] == "ok"
    assert checks(shown, "language model")[0][0] == "skipped"


def test_doctor_shows_pending_turns_per_user() -> None:
    run("remember", "I live in Paris.", "--user", "ann", "--later").ok()
    out = run("doctor").ok().out
    assert "integrity check passed" in out
    assert "turns still to be processed: 1" in out
    assert "user ann" in out
    assert "by extractive-2 (text alone) + rules@1" in out


def test_database_of_other_embedder_is_broken() -> None:
    run("remember", "I live in Paris.").ok()
    done = run("doctor", "--embedder", "wordllama")
    assert done.code == 1
    assert "thinkback reembed" in done.out
    assert "flag --embedder" in done.out


def test_damaged_database_is_broken(home: Path) -> None:
    for number in range(200):
        run("remember", f"I like the number {number}.", "--later").ok() if number < 3 else None
    lines = "\n".join(f'{{"query": "I like the number {n}."}}' for n in range(500))
    run("import", "-", "--later", stdin=lines).ok()
    file = home / "memory.db"
    data = bytearray(file.read_bytes())
    data[20_000:60_000] = bytes(40_000)
    file.write_bytes(bytes(data))
    done = run("doctor")
    done.assert_no_traceback()
    assert done.code == 1
    assert "broken" in done.out


def test_unusable_models_are_broken_and_secrets_are_hidden(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    with FakeOpenAI() as upstream:
        address = upstream.url.replace("http://", "http://me:hunter2@")
        monkeypatch.setenv("OPENAI_BASE_URL", address)
        upstream.faults.extend(["401"] * 20)
        done = run("doctor", "--llm", "openai:fake")
    done.assert_no_traceback()
    assert done.code == 1
    assert "broken" in done.out
    assert "sk-secret" not in done.out + done.err
    assert "hunter2" not in done.out + done.err
    assert "OPENAI_API_KEY  set" in done.out
    for words in (["--llm", "local:smollm2"], ["--embedder", "nonsense"], ["--think", "nonsense"]):
        assert run("doctor", *words).code == 1


def test_doctor_calls_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    with FakeOpenAI() as upstream:
        monkeypatch.setenv("OPENAI_BASE_URL", upstream.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
        upstream.reply = lambda body: "hello"
        shown = run("doctor", "--llm", "openai:fake", "--json").ok().json
    assert "openai:fake replied 'hello'" in checks(shown, "language model")[0][1]
    assert checks(shown, "OPENAI_API_KEY") == [("ok", "set")]


def test_invalid_configuration_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "config" / "thinkback" / "config.toml"
    file.parent.mkdir(parents=True)
    file.write_text('databse = "x.db"')
    assert "databse" in run("doctor").failed().err
