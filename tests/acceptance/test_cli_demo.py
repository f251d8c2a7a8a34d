"""`thinkback demo`: its scenes, with and without --json."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from tests.acceptance.cli_runner import run, run_process

FACTS = ("lives in Paris", "allergic to peanuts", "Clara works as a doctor", "小白")


def test_demo_recalls_every_fact_in_under_a_minute(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("THINKBACK_EMBEDDER")
    started = time.monotonic()
    out = run_process("demo").ok().out
    assert time.monotonic() - started < 60
    recalled = [line for line in out.splitlines() if line.strip().startswith("recalled ")]
    for fact in FACTS:
        assert any(fact in line for line in recalled), fact
    assert out.count("    reason: ") == len(recalled)
    assert "supersede" in out
    assert "undo of action:" in out
    assert ", 0 now" in out
    assert not (home / "memory.db").exists()


def test_demo_as_json(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("THINKBACK_EMBEDDER")
    scenes = run("demo", "--json", "--llm", "none").ok().json
    assert len(scenes) == 7
    today = "\n".join(scenes[2]["lines"])
    assert all(fact in today for fact in FACTS)
    assert any("lives in Lyon" in line and "(current)" in line for line in scenes[3]["lines"])
    assert any("lives in Paris" in line and "(current)" in line for line in scenes[5]["lines"])


def test_every_question_of_the_demo_is_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("THINKBACK_EMBEDDER")
    scenes = run("demo", "--json", "--llm", "none").ok().json
    for scene, home in ((scenes[3], "Lyon"), (scenes[5], "Paris")):
        asked = scene["lines"].index("you: Where do I live?")
        answer, recalled = scene["lines"][asked + 1 : asked + 3]
        assert answer.startswith(f"memory: You live in {home}.")
        assert f"The user lives in {home}." in recalled
    assert "memory: You have not told me that." in scenes[6]["lines"]
    for scene in scenes[2:]:
        lines = scene["lines"]
        for question in [number for number, line in enumerate(lines) if line.endswith(("?", "？"))]:
            assert lines[question + 1].startswith("memory: "), lines[question]


def test_demo_in_existing_database(tmp_path: Path) -> None:
    words = ("demo", "--db", str(tmp_path / "mine.db"), "--user", "eve")
    run(*words).ok()
    assert [each["user"] for each in run("users", *words[1:3], "--json").ok().json] == ["eve"]
    assert "already has memories" in run(*words).failed().err
