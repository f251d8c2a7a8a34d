"""`thinkback chat`: from a pipe, as JSON, on a terminal, and with failing models."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import timedelta

import pytest
from tests.acceptance.cli_runner import COMMAND, run, run_process
from tests.fake_openai import FakeOpenAI

from thinkback.config import load_settings
from thinkback.memory import Memory
from thinkback.times import utc_now

LINES = "I live in Paris.\nWhere do I live?\n我养了一只猫，名字叫小白。\n我的猫叫什么名字？\n"


@pytest.fixture
def upstream(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeOpenAI]:
    """A fake OpenAI server on this machine."""
    with FakeOpenAI() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
        monkeypatch.setenv("THINKBACK_LLM", "openai:fake")
        monkeypatch.setenv("THINKBACK_THINK", "extractive")
        yield server


def test_each_line_is_answered_in_its_language() -> None:
    done = run_process("chat", "--llm", "none", stdin=LINES).ok()
    lines = done.out.splitlines()
    assert [line for line in lines if line.startswith("you: ")] == [f"you: {x}" for x in LINES.splitlines()]
    answers = [line for line in lines if line.startswith("memory: ")]
    noted, found, noted_zh, found_zh = answers
    assert noted.startswith("memory: Noted: you")
    assert "Paris" in found
    assert re.search(r"\[(turn|thought):\d+\]", found)
    assert noted_zh.startswith("memory: 记下了：")
    assert "小白" in found_zh
    assert len(lines) == 2 * len(answers), "nothing but messages and answers"
    assert "no language model" in done.err


def test_verbose_chat_lists_what_was_recalled() -> None:
    lines = run_process("chat", "--llm", "none", "--verbose", stdin=LINES).ok().out.splitlines()
    assert any(re.match(r'  recalled (turn|thought):\d+ ".*": matters', line) for line in lines)


def test_chat_remembers_across_runs() -> None:
    run_process("chat", "--llm", "none", stdin=LINES).ok()
    assert run("stats", "--json").ok().json["pending"] == 0
    done = run_process("chat", "--llm", "none", stdin="Where do I live?\n我的猫叫什么名字？").ok()
    assert "live in Paris" in done.out
    assert "小白" in done.out


def test_json_output_is_one_object_per_line() -> None:
    done = run("chat", "--json", "--llm", "none", "--session", "s", stdin=f"\n{LINES}\n  \n").ok()
    shown = [json.loads(line) for line in done.out.splitlines()]
    assert [each["message"] for each in shown] == LINES.splitlines()
    assert [each["turn"] for each in shown] == ["turn:1", "turn:2", "turn:3", "turn:4"]
    assert shown[1]["recalled"][0]["ref"] in ("turn:1", "thought:1")
    assert all(each["error"] is None for each in shown)
    assert all(each["receipt"]["ms"]["search"] > 0 for each in shown)
    assert {turn["session"] for turn in run("turns", "--json").ok().json} == {"s"}


def test_empty_input_is_not_an_error() -> None:
    assert run("chat", "--llm", "none").ok().out == ""


def test_model_receives_recalled_memories(upstream: FakeOpenAI) -> None:
    run("remember", "I live in Paris.").ok()
    upstream.reply = lambda body: "You live in Paris.\nDo you not?" if "Paris" in json.dumps(body) else "Hm."
    done = run("chat", stdin="Where do I live?\n").ok()
    assert "memory: You live in Paris.\n        Do you not?\n" in done.out
    assert "openai:fake" in done.err
    assert run("why", "turn:2").ok().out.count("thought:1") == 1


def test_integration_is_shown_or_explained(upstream: FakeOpenAI, monkeypatch: pytest.MonkeyPatch) -> None:
    run("remember", "I live in Paris.").ok()
    monkeypatch.setenv("THINKBACK_INTEGRATE", "true")
    thought = "The user lives in Paris."
    upstream.reply = lambda body: (
        json.dumps({"thought": thought}) if "Join the memories" in json.dumps(body) else "In Paris."
    )
    done = run("chat", stdin="Where do I live?\n").ok()
    assert "memory: In Paris.\n" in done.out
    assert '  integrated into "The user lives in Paris."\n' in done.out
    thought = "The user lives in Rome."
    done = run("chat", stdin="Where do I live?\n").ok()
    assert "  not integrated, the memories were used unchanged: the thought was refused: 'Rome'" in done.out
    shown = json.loads(run("chat", "--json", stdin="Where do I live?\n").ok().out)
    assert (shown["integrated"], shown["answer"]) == (None, "In Paris.")
    assert "'Rome' is in no memory" in shown["not_integrated"]


def test_ask_uses_the_model_and_reports_fallback(upstream: FakeOpenAI) -> None:
    run("remember", "I live in Paris.").ok()
    upstream.reply = lambda body: json.dumps({"known": True, "answer": "You live in Paris.", "used": [1]})
    done = run("ask", "Where do I live?").ok()
    assert done.out.startswith("You live in Paris [1].\n  [1] thought:1 ")
    upstream.reply = lambda body: json.dumps({"known": True, "answer": "You live in Rome [7].", "used": [7]})
    done = run("ask", "Where do I live?").ok()
    assert "lives in Paris [1]." in done.out
    assert "answered by rules: the answer of openai:fake cannot be used: it cites [7]" in done.err


def test_model_failure_does_not_end_the_chat(upstream: FakeOpenAI) -> None:
    upstream.faults.append("401")
    done = run("chat", stdin="I live in Paris.\nHello?\n").ok()
    assert "error: " in done.err
    assert "sk-secret" not in done.out + done.err
    assert done.out.count("memory: ") == 1
    turns = run("turns", "--json").ok().json
    assert [(turn["query"], bool(turn["response"])) for turn in turns] == [
        ("I live in Paris.", False),
        ("Hello?", True),
    ]
    upstream.faults.append("401")
    shown = json.loads(run("chat", "--json", stdin="Hello?\n").ok().out)
    assert shown["error"]
    assert shown["answer"] is None


def test_rejected_line_does_not_end_the_chat() -> None:
    done = run("chat", "--llm", "none", stdin="a" * (9 << 20) + "\nI live in Paris.\n").ok()
    assert "8,388,608" in done.err
    assert len(run("turns", "--json").ok().json) == 1


def test_turns_not_processed_in_time_stay_pending(upstream: FakeOpenAI) -> None:
    upstream.reply = lambda body: time.sleep(0.5) or "{}"  # type: ignore[func-returns-value]
    started = time.monotonic()
    done = run("chat", "--think", "llm", "--wait", "0", stdin="I live in Paris.\nI like tea.\nI like jam.\n")
    done.ok()
    assert time.monotonic() - started < 20
    assert "turns still to be processed: " in done.err
    assert run("stats", "--json").ok().json["turns"] == 3


def test_turns_that_fail_are_reported_with_reason(upstream: FakeOpenAI) -> None:
    run("remember", "I live in Paris.", "--later").ok()
    upstream.reject = lambda body: "no such thing here"
    words = ("think", "--think", "llm")
    first = run(*words)
    first.assert_no_traceback()
    assert first.code == 1
    with Memory.open(load_settings().db, embedder="hashing", background=False) as memory:
        (claimed,) = memory.store.claim("default", 1, 60, utc_now() + timedelta(days=1))
        memory.store.release("default", 1, claimed.lease, reason="BadReply: nonsense", retry_at=None)
    assert "BadReply: nonsense" in run("doctor", "--offline").ok().out
    done = run("think").ok()
    assert "given up: turn:1 after 2 attempts: BadReply: nonsense" in done.err
    assert run("think", "--json").ok().json["failures"][0]["turn"] == 1
    assert "turns processed: 1" in run("think", "--retry-failed").ok().out


class Terminal:
    """A pseudo-terminal with a running command."""

    def __init__(self, *words: str) -> None:
        self.near, far = pty.openpty()
        env = {**os.environ, "TERM": "dumb", "NO_COLOR": "1"}
        self.process = subprocess.Popen([*COMMAND, *words], stdin=far, stdout=far, stderr=far, env=env)
        os.close(far)
        self.seen = ""

    def until(self, text: str) -> str:
        """Read until `text` appears; returns the output up to it."""
        while text not in self.seen:
            assert self._read(60), f"{text!r} did not come in {self.seen!r}"
        before, _, self.seen = self.seen.partition(text)
        return before

    def type(self, line: str) -> None:
        os.write(self.near, line.encode())

    def interrupt(self) -> None:
        self.process.send_signal(signal.SIGINT)

    def leave(self, press: Callable[[], None]) -> int:
        """Press a key until the command exits; a key pressed before the prompt is ready is lost."""
        for _ in range(60):
            press()
            self._read(1)
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(timeout=0.5)
                return self.end()
        self.process.kill()
        raise AssertionError(f"it did not leave: {self.seen!r}")

    def end(self) -> int:
        """Read the rest of the output, otherwise the command could not exit."""
        while self._read(20):
            pass
        os.close(self.near)
        return self.process.wait(timeout=20)

    def _read(self, seconds: float) -> bool:
        """Whether more output arrived in time; False after the command has closed the terminal."""
        if not select.select([self.near], [], [], seconds)[0]:
            return False
        with suppress(OSError):
            if data := os.read(self.near, 4096):
                self.seen += data.decode(errors="replace")
                return True
        return False


def test_interactive_chat_on_a_terminal() -> None:
    terminal = Terminal("chat", "--llm", "none")
    terminal.until("/help")
    terminal.until("you: ")
    terminal.type("/why\n")
    terminal.until("there is no answer yet")
    for line, answer in [
        ("I live in Paris.", "memory: Noted: you live in Paris."),
        ("/thoughts", "thought:1"),
        ("Where do I live?", "recalled "),
        ("/why", "turn:2"),
        ("/why thought:1", "user said"),
        ("/forget 1 wrong", "forget: wrong"),
        ("/undo 2", "undo of action:2"),
        ("/forget 1 ", "forget: the user asked for it"),
        ("/forget 1", "error: "),
        ("/help", "/quit "),
    ]:
        terminal.until("you: ")
        terminal.type(line + "\n")
        terminal.until(answer)
    terminal.until("you: ")
    terminal.type("   \n")
    terminal.until("you: ")
    terminal.type("/quit\n")
    assert terminal.end() == 0


@pytest.mark.parametrize(("key", "code"), [("d", 0), ("c", 130)])
def test_ctrl_d_and_ctrl_c_at_the_prompt(key: str, code: int) -> None:
    terminal = Terminal("chat", "--llm", "none")
    terminal.until("you: ")
    assert terminal.leave(terminal.interrupt if key == "c" else lambda: terminal.type("\x04")) == code
    assert "Traceback" not in terminal.seen


def test_ctrl_c_stops_the_answer_not_the_chat(upstream: FakeOpenAI) -> None:
    upstream.reply = lambda body: time.sleep(5) or "late"  # type: ignore[func-returns-value]
    terminal = Terminal("chat")
    terminal.until("you: ")
    terminal.type("I live in Paris.\n")
    while not upstream.seen:
        time.sleep(0.02)
    time.sleep(0.5)  # the question is on its way; now the program waits for the answer
    terminal.interrupt()
    terminal.until("stopped")
    terminal.until("you: ")
    assert terminal.leave(lambda: terminal.type("\x04")) == 0
    assert "Paris" in run("turns").ok().out


@pytest.mark.parametrize(("answer", "left"), [("n\n", 1), ("yes\n", 0)])
def test_erase_asks_for_confirmation_on_a_terminal(answer: str, left: int) -> None:
    run("remember", "I live in Paris.").ok()
    terminal = Terminal("erase", "--all")
    terminal.until("[y/N] ")
    terminal.type(answer)
    assert terminal.end() == left
    assert len(run("turns", "--json").ok().json) == left


def test_progress_and_tables_on_a_terminal() -> None:
    run("remember", "I live in Paris.", "--later").ok()
    terminal = Terminal("think")
    terminal.until("turns processed: 1")
    assert terminal.end() == 0
    terminal = Terminal("recall", "Where do I live?")
    terminal.until("Paris")
    assert terminal.end() == 0


def test_contradicting_draft_is_removed_and_explained(upstream: FakeOpenAI) -> None:
    run("remember", "I live in Paris.").ok()
    run("think").ok()
    upstream.reply = lambda body: (
        "You live in Paris." if "contradicts" in json.dumps(body) else "You live in Rome."
    )
    done = run("chat", stdin="Where do I live?\n").ok()
    assert "memory: You live in Paris.\n" in done.out
    assert '  held back "You live in Rome.": it contradicts thought:1\n' in done.out
    assert "draft 1 said 'You live in Rome.': contradicts thought:1" in run("why", "turn:2").ok().out
    upstream.reply = lambda body: "You live in Rome."
    shown = json.loads(run("chat", "--json", "--session", "s", stdin="Where do I live?\n").ok().out)
    assert shown["warning"] == "(This may contradict what you told me: The user lives in Paris.)"
    assert shown["answer"].endswith(shown["warning"])
    assert [check["outcome"] for check in shown["checks"]] == ["regenerated", "regenerated", "warned"]
