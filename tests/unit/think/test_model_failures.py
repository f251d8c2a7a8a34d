"""Faults of a model server: turns are retried, become dead letters, and are never lost."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import pytest
from tests.conftest import FakeClock, OpenMemory
from tests.fake_openai import FakeOpenAI

from thinkback.llms.openai import OpenAILLM
from thinkback.think.thinker import FIRST_RETRY_SECONDS, MAX_ATTEMPTS

SAID = "Our gnome Gustav guards the pond."


def change(about: str, relation: str, value: str, quote: str = "Gustav guards the pond") -> str:
    stated = {"about": about, "relation": relation, "value": value, "kind": "profile"}
    sentence = f"{about} {relation} {value}."
    return json.dumps({"changes": [{"op": "add", "turn": 1, "quote": quote, "sentence": sentence, **stated}]})


GOOD = change("Gustav", "guards", "the pond")


@dataclass(frozen=True)
class FaultCase:
    """A fault of the server (transport or content) and the expected failure reason."""

    name: str
    told: str
    fault: str = ""
    says: str = ""
    wait: float = 0.0  # that the server asks for


CASES = [
    FaultCase("timeout", "ModelTimeout", fault="timeout"),
    FaultCase("refused", "ModelUnavailable: .* could not be reached"),
    FaultCase("reset", "ModelUnavailable: .* could not be reached", fault="reset"),
    FaultCase("429", "RateLimited: .* Wait a while", fault="429"),
    FaultCase("429 and when", "RateLimited: .* Wait 900 s", fault="429:900", wait=900),
    FaultCase("500", r"ModelUnavailable: .* failed \(500\)", fault="500"),
    FaultCase("malformed", "BadReply: .* no JSON object", fault="malformed"),
    FaultCase("truncated", "BadReply: .* broke ", fault="truncated"),
    FaultCase("refusal", "ModelRefused", fault="refusal"),
    FaultCase(
        "refusal in words",
        "BadReply: .* asked for JSON and said \"I'm sorry",
        says="I'm sorry, I can't do that.",
    ),
    FaultCase("empty", "BadReply: .* empty answer", fault="empty"),
    FaultCase("10 MB", "BadReply: .* more than 8 MB", fault="10mb"),
    FaultCase("cut JSON", "BadReply: .* asked for JSON and said", says=GOOD[:-9]),
    FaultCase("wrong schema", "BadReply: .* has no member 'changes'", fault="wrong-schema"),
]


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def valid_reply(body: dict[str, Any]) -> str:
    return GOOD


def serve(stack: ExitStack, case: FaultCase, port: int) -> FakeOpenAI:
    upstream = stack.enter_context(FakeOpenAI(port))
    upstream.reply = (lambda body: case.says) if case.says else valid_reply
    return upstream


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_failing_turn_is_retried_then_dead_letter_and_recoverable(
    case: FaultCase, open_memory: OpenMemory, clock: FakeClock, stack: ExitStack
) -> None:
    with FakeOpenAI() as gone:
        port = gone.port
    upstream = None if case.name == "refused" else serve(stack, case, port)
    pauses: list[float] = []
    llm = OpenAILLM(
        "m", base_url=f"http://127.0.0.1:{port}/v1", timeout=0.25, max_retries=1, sleep=pauses.append
    )
    stack.callback(llm.close)
    memory = open_memory(llm=llm, think="llm")
    memory.remember(SAID)
    for attempt in range(MAX_ATTEMPTS):
        assert memory.failures() == []
        if upstream is not None and case.fault:
            upstream.faults.extend([case.fault] * 4)
        result = memory.post_think()
        assert (result.turns, result.failed) == (0, 1)
        assert result.usage.llm_calls >= 1
        assert SAID in memory.recall("Who guards the pond?")[0].text
        wait = max(FIRST_RETRY_SECONDS * 4**attempt, case.wait)
        clock.advance(wait - 1)
        assert memory.post_think().failed == 0  # not before its time
        clock.advance(1)
    (failure,) = memory.failures()
    assert (failure.turn, failure.attempts) == (1, MAX_ATTEMPTS)
    assert re.match(case.told, failure.reason), failure.reason
    assert (memory.stats().pending, memory.stats().failed, memory.thoughts()) == (0, 1, [])
    assert SAID in memory.recall("Who guards the pond?")[0].text

    mended = upstream or serve(stack, case, port)
    mended.faults.clear()
    mended.reply = valid_reply
    assert memory.retry_failures() == 1
    assert memory.post_think().turns == 1
    assert [held.sentence for held in memory.thoughts()] == ["Gustav guards the pond."]
    assert memory.failures() == []


@pytest.mark.parametrize("fault", ["500", "429:2", "truncated", "reset"])
def test_temporary_fault_is_retried_transparently(
    fault: str, open_memory: OpenMemory, stack: ExitStack
) -> None:
    upstream = stack.enter_context(FakeOpenAI())
    upstream.reply = valid_reply
    upstream.faults.append(fault)
    pauses: list[float] = []
    sleep: Callable[[float], None] = pauses.append
    llm = OpenAILLM("m", base_url=upstream.url, timeout=5, sleep=sleep)
    stack.callback(llm.close)
    memory = open_memory(llm=llm, think="llm")
    memory.remember(SAID)
    assert memory.post_think().turns == 1
    assert len(memory.thoughts()) == 1
    assert len(pauses) == 1
