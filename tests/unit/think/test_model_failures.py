"""Whatever a model's server does wrong: tried again later each time, then a dead letter, never a loss."""

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
from thinkback.types import Kind

SAID = "Our gnome Gustav guards the pond."


def thought(subject: str, relation: str, item: str, kind: Kind = "profile") -> str:
    told = {"line": 1, "subject": subject, "relation": relation, "objects": [item], "kind": kind}
    return json.dumps({"thoughts": [told]})


GOOD = thought("Gustav", "guards", "the pond")


@dataclass(frozen=True)
class Sick:
    """What the server does: a fault of the transport, or words that cannot be used; and what is told."""

    name: str
    told: str
    fault: str = ""
    says: str = ""
    wait: float = 0.0  # that the server asks for


CASES = [
    Sick("timeout", "ModelTimeout", fault="timeout"),
    Sick("refused", "ModelUnavailable: .* could not be reached"),
    Sick("reset", "ModelUnavailable: .* could not be reached", fault="reset"),
    Sick("429", "RateLimited: .* Wait a while", fault="429"),
    Sick("429 and when", "RateLimited: .* Wait 900 s", fault="429:900", wait=900),
    Sick("500", r"ModelUnavailable: .* failed \(500\)", fault="500"),
    Sick("malformed", "BadReply: .* no JSON object", fault="malformed"),
    Sick("truncated", "BadReply: .* broke off", fault="truncated"),
    Sick("refusal", "ModelRefused", fault="refusal"),
    Sick(
        "refusal in words",
        "BadReply: .* asked for JSON and said \"I'm sorry",
        says="I'm sorry, I can't do that.",
    ),
    Sick("empty", "BadReply: .* empty answer", fault="empty"),
    Sick("10 MB", "BadReply: .* more than 8 MB", fault="10mb"),
    Sick("1 MB of words", "BadReply: .* more than 100000", says=thought("x" * (1 << 20), "is", "y")),
    Sick("cut JSON", "BadReply: .* does not fit the schema", says=GOOD[:-9]),
    Sick("wrong schema", "BadReply: .* has no member 'thoughts'", fault="wrong-schema"),
    Sick("no such line", "BadReply: .* is not one of 1", says=GOOD.replace('"line": 1', '"line": 7')),
    Sick(
        "wrong language",
        "BadReply: .* supports none of 1 thoughts",
        says=thought("侏儒古斯塔夫", "看守", "池塘"),
    ),
    Sick(
        "made up",
        "BadReply: .* line 1 does not say 'the castle'",
        says=thought("Gustav", "guards", "the castle"),
    ),
]


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def good(body: dict[str, Any]) -> str:
    return GOOD


def serve(stack: ExitStack, case: Sick, port: int) -> FakeOpenAI:
    upstream = stack.enter_context(FakeOpenAI(port))
    upstream.reply = (lambda body: case.says) if case.says else good
    return upstream


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_it_is_tried_again_then_given_up_with_its_reason_and_can_be_mended(
    case: Sick, open_memory: OpenMemory, clock: FakeClock, stack: ExitStack
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
        assert memory.recall("Who guards the pond?")[0].text == SAID
        wait = max(FIRST_RETRY_SECONDS * 4**attempt, case.wait)
        clock.advance(wait - 1)
        assert memory.post_think().failed == 0  # not before its time
        clock.advance(1)
    (failure,) = memory.failures()
    assert (failure.turn, failure.attempts) == (1, MAX_ATTEMPTS)
    assert re.match(case.told, failure.reason), failure.reason
    assert (memory.stats().pending, memory.stats().failed, memory.thoughts()) == (0, 1, [])
    assert memory.recall("Who guards the pond?")[0].text == SAID

    mended = upstream or serve(stack, case, port)
    mended.faults.clear()
    mended.reply = good
    assert memory.retry_failures() == 1
    assert memory.post_think().turns == 1
    assert [held.sentence for held in memory.thoughts()] == ["Gustav guards the pond."]
    assert memory.failures() == []


@pytest.mark.parametrize("fault", ["500", "429:2", "truncated", "reset"])
def test_a_fault_that_passes_is_not_even_noticed(
    fault: str, open_memory: OpenMemory, stack: ExitStack
) -> None:
    upstream = stack.enter_context(FakeOpenAI())
    upstream.reply = good
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
