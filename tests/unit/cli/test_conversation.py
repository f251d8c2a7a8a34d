"""The commands of a conversation on a terminal, with a person who types what a test says."""

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


def test_every_command(
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
    assert "nothing was answered yet" in seen.err
    assert "thought:1  The user lives in Paris.  (profile)" in seen.out
    assert "  1. thought:1" in seen.out
    assert "action:2 forget: wrong" in seen.out
    assert "undo of action:2" in seen.out
    assert "/quit " in seen.out
    assert [thought.id for thought in memory.thoughts()] == [1]


@pytest.mark.parametrize("line", ["/forget 1", "/forget", "/undo x", "/why thought:9"])
def test_a_mistake_is_an_error_and_no_end(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], line: str
) -> None:
    typed(memory, monkeypatch, line, "I live in Paris.")
    seen = capsys.readouterr()
    assert seen.err.count("error: ") == 1
    assert len(memory.turns()) == 1


def test_quit_ends_it(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    typed(memory, monkeypatch, "/quit", "I live in Paris.")
    assert memory.turns() == []


def test_ctrl_c_at_the_prompt_ends_the_program(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(KeyboardInterrupt):
        typed(memory, monkeypatch, KeyboardInterrupt)


def test_ctrl_c_stops_an_answer_only(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    memory.llm = ScriptedLLM([KeyboardInterrupt(), "You live in Paris."])
    typed(memory, monkeypatch, "I live in Paris.", "Where do I live?")
    seen = capsys.readouterr()
    assert "stopped; what you said is remembered" in seen.err
    assert "memory: You live in Paris." in seen.out
    assert [turn.query for turn in memory.turns()] == ["I live in Paris.", "Where do I live?"]


def test_a_long_recollection_is_shown_in_part(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for day in ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday"):
        memory.remember(f"The blue train leaves on {day}.")
    typed(memory, monkeypatch, "When does the blue train leave?")
    seen = capsys.readouterr().out
    assert seen.count("  recalled turn:") == 3
    assert "  recalled 2 more" in seen
