"""Slash commands and Ctrl-C in the interactive chat."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from thinkback.cli.conversation import Conversation, run_terminal_chat
from thinkback.llms.scripted import ScriptedLLM
from thinkback.memory import Memory


@pytest.fixture
def memory() -> Iterator[Memory]:
    with Memory.open(":memory:", embedder="hashing", background=False) as opened:
        yield opened


def typed(memory: Memory, monkeypatch: pytest.MonkeyPatch, *lines: str | type[BaseException]) -> None:
    left = iter([*lines, EOFError])

    def read(prompt: str) -> str:
        line = next(left)
        if isinstance(line, str):
            return line
        raise line

    monkeypatch.setattr("builtins.input", read)
    run_terminal_chat(Conversation(memory, "s", 5))


def test_every_slash_command(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    memory.remember("I live in Paris.")
    memory.post_think()
    lines = (
        "",
        "/why",
        "/thoughts",
        "Where do I live?",
        "/why",
        "/why thought:1",
        "/forget 1 wrong",
        "/undo 2",
    )
    typed(memory, monkeypatch, *lines, "/nonsense")
    seen = capsys.readouterr()
    assert "there is no answer yet" in seen.err
    assert "thought:1  The user lives in Paris.  (profile)" in seen.out
    assert "  1. thought:1" in seen.out
    assert "action:2 forget: wrong" in seen.out
    assert "undo of action:2" in seen.out
    assert "/quit " in seen.out
    assert [thought.id for thought in memory.thoughts()] == [1]


@pytest.mark.parametrize("line", ["/forget 1", "/forget", "/undo x", "/why thought:9"])
def test_wrong_slash_command_prints_an_error_and_continues(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], line: str
) -> None:
    typed(memory, monkeypatch, line, "I live in Paris.")
    seen = capsys.readouterr()
    assert seen.err.count("error: ") == 1
    assert len(memory.turns()) == 1


def test_quit_ends_the_chat(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    typed(memory, monkeypatch, "/quit", "I live in Paris.")
    assert memory.turns() == []


def test_ctrl_c_at_the_prompt_ends_the_program(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(KeyboardInterrupt):
        typed(memory, monkeypatch, KeyboardInterrupt)


def test_ctrl_c_stops_only_the_answer(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    memory.llm = ScriptedLLM([KeyboardInterrupt(), "You live in Paris."])
    typed(memory, monkeypatch, "I live in Paris.", "Where do I live?")
    seen = capsys.readouterr()
    assert "stopped; your message is stored" in seen.err
    assert "memory: You live in Paris." in seen.out
    assert [turn.query for turn in memory.turns()] == ["I live in Paris.", "Where do I live?"]


def test_long_recollection_is_shortened(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for day in ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday"):
        memory.remember(f"The blue train leaves on {day}.")
    typed(memory, monkeypatch, "When does the blue train leave?")
    seen = capsys.readouterr().out
    assert seen.count("  recalled turn:") == 3
    assert "  recalled 2 more" in seen
