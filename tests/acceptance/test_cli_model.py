"""Commands with a real local model: chat, doctor and demo."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path

import pytest
from tests.acceptance.cli_runner import run, run_process

from thinkback.errors import ModelUnavailable
from thinkback.llms.catalogue import find_model_file


def pulled_model() -> Path | None:
    try:
        return find_model_file("smollm2")
    except ModelUnavailable:
        return None


MODEL = pulled_model()  # looked for before a test moves the home

pytestmark = [
    pytest.mark.model,
    pytest.mark.timeout(280),
    pytest.mark.skipif(MODEL is None, reason="smollm2 is not pulled: thinkback pull smollm2"),
    pytest.mark.skipif(find_spec("xllamacpp") is None, reason="xllamacpp is not installed"),
]

FIRST = """\
Hello!
I live in Lyon with my wife.
I am allergic to peanuts.
My dog is called Rex.
Thank you!
"""
SECOND = """\
Hello!
Where do I live?
What am I allergic to?
What is the name of my dog?
Thank you!
"""


@pytest.fixture(autouse=True)
def pulled(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert MODEL is not None
    (home / "models").mkdir(parents=True)
    (home / "models" / MODEL.name).symlink_to(MODEL)
    monkeypatch.delenv("THINKBACK_EMBEDDER")
    monkeypatch.setenv("THINKBACK_LLM", "local:smollm2")  # it is not used by default


def test_chat_with_local_model_remembers_across_runs() -> None:
    for lines in (FIRST, SECOND):
        done = run_process("chat", "--verbose", stdin=lines, timeout=200).ok()
        assert "local:smollm2" in done.err
        answers = [line for line in done.out.splitlines() if line.startswith("memory: ")]
        assert len(answers) == 5
        assert all(answer.removeprefix("memory: ").strip() for answer in answers)
    recalled = [line for line in done.out.splitlines() if line.startswith("  recalled ")]
    for fact in ("Lyon", "peanuts", "Rex"):
        assert any(fact in line for line in recalled), fact
    assert run("stats", "--json").ok().json["turns"] == 10


def test_local_model_answer_is_short_and_uses_the_fact() -> None:
    run("remember", "My name is Ann and I live in Paris.").ok()
    (shown,) = run_process("chat", "--json", stdin="Where do I live?\n", timeout=240).ok().out.splitlines()
    answer = json.loads(shown)["answer"]
    assert "Paris" in answer
    assert len(answer.split()) < 60


def test_doctor_calls_local_model() -> None:
    assert "local:smollm2 replied" in run("doctor").ok().out


def test_demo_uses_local_model() -> None:
    done = run_process("demo", timeout=60).ok()
    assert "written by local:smollm2" in done.out
    assert ", 0 now" in done.out
