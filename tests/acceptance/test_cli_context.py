"""`context`, `summary` and `config`."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.acceptance.cli_runner import run

TALK = """I need a laptop for travel.
It must weigh at most 1.2 kg.
Not a Macbook because I need Linux.
预算不超过八千元。
"""


@pytest.fixture(autouse=True)
def talk() -> None:
    run("chat", "--llm", "none", "--session", "shopping", stdin=TALK).ok()


def test_summary_as_text_and_json() -> None:
    out = run("summary").ok().out
    assert "session 'shopping'" in out
    assert "Macbook (I need Linux)" in out
    shown = run("summary", "--session", "shopping", "--json").ok().json
    assert shown["constraints"] == ["It must weigh at most 1.2 kg.", "预算不超过八千元。"]
    assert shown["excluded"] == [{"option": "Macbook", "reason": "I need Linux"}]
    assert "updates" not in shown


def test_summary_history_lists_every_change() -> None:
    assert "excluded: + Macbook (I need Linux)" in run("summary", "--history").ok().out
    updates = run("summary", "--history", "--json").ok().json["updates"]
    assert [update["version"] for update in updates] == list(range(1, len(updates) + 1))


def test_context_shows_messages_and_tokens_per_part() -> None:
    out = run("context", "Shall we take a Macbook?").ok().out
    assert "- Macbook (I need Linux)" in out
    assert "total" in out
    shown = run("context", "-", "--json", stdin="Shall we take a Macbook?").ok().json
    assert [part["name"] for part in shown["parts"]] == [
        "instructions", "user instructions", "summary", "history", "facts", "previous", "question",
    ]  # fmt: skip
    assert shown["messages"][-1] == {"role": "user", "content": "Shall we take a Macbook?"}
    assert shown["tokens"] >= sum(part["tokens"] for part in shown["parts"][1:])
    assert len(run("turns", "--json").ok().json) == 4, "asking for a context remembers nothing"


def test_context_diff_to_the_last_turn() -> None:
    out = run("context", "Which one then?", "--diff").ok().out
    assert "- question: 预算不超过八千元。" in out
    assert "+ question: Which one then?" in out
    assert run("context", "Hi", "--session", "new", "--diff", "--json").ok().json["diff"]


def test_an_empty_message_is_an_error() -> None:
    run("context", " ").failed()


def test_config_shows_origins_and_hides_secrets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "OPENAI_API_KEY").write_text("sk-verysecret", "utf-8")
    (tmp_path / "INSTRUCTION_SUMMARY").write_text("Be short.", "utf-8")
    done = run("config", "--llm", "none", "--summary-llm", "none").ok()
    assert "flag --summary-llm" in done.out
    assert f"file {tmp_path / 'OPENAI_API_KEY'}" in done.out
    shown = run("config", "--json").ok().json
    assert shown["OPENAI_API_KEY"] == {"value": "set", "origin": f"file {tmp_path / 'OPENAI_API_KEY'}"}
    assert shown["INSTRUCTION_SUMMARY"]["value"] == "9 characters"
    assert shown["INSTRUCTION_CONVERSATION"]["origin"] == "not set"
    assert "verysecret" not in done.out + done.err + str(shown)
    assert "Be short" not in str(shown)
