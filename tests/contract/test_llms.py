"""Contract of all language model adapters: scripted, remote and local."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from tests.fake_openai import FakeOpenAI

from thinkback.errors import BadReply, InvalidInput, ModelError, ModelUnavailable
from thinkback.llms.catalogue import find_model_file
from thinkback.llms.local import LocalLLM
from thinkback.llms.openai import OpenAILLM
from thinkback.llms.scripted import ScriptedLLM
from thinkback.protocols import LLM
from thinkback.types import Message, Reply

ASK = [Message("system", "You are brief."), Message("user", "Say hello to Anna in one short sentence.")]
SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string", "maxLength": 20}, "known": {"type": "boolean"}},
    "required": ["city", "known"],
    "additionalProperties": False,
}
JSON = '{"city": "Paris", "known": true}'
PROSE = "Hello Anna, how are you?"


@dataclass
class Case:
    """A model under test and a way to make the next answer empty (where that can be forced)."""

    llm: LLM
    silence: Callable[[], None] | None


def _answer(body: dict[str, Any]) -> str:
    return JSON if "response_format" in body else PROSE


def _local() -> LocalLLM:
    try:
        find_model_file("smollm2")
    except ModelUnavailable as absent:
        pytest.skip(f"{absent}")
    return LocalLLM("smollm2", context=1024)


@pytest.fixture(scope="module")
def local() -> Iterator[LocalLLM]:
    llm = _local()
    yield llm
    llm.close()


@pytest.fixture(params=["scripted", "openai", pytest.param("local", marks=pytest.mark.model)])
def case(request: pytest.FixtureRequest) -> Iterator[Case]:
    if request.param == "scripted":
        words = [PROSE]
        scripted = ScriptedLLM({"JSON": JSON, "": lambda messages: words[-1]})
        yield Case(scripted, lambda: words.append(" "))
    elif request.param == "openai":
        with FakeOpenAI() as upstream:
            upstream.reply = _answer
            llm = OpenAILLM("fake", base_url=upstream.url, timeout=5)
            yield Case(llm, lambda: upstream.faults.append("empty"))
            llm.close()
    else:
        yield Case(request.getfixturevalue("local"), None)


def test_has_name_and_capabilities(case: Case) -> None:
    assert case.llm.name
    assert isinstance(case.llm.extracts, bool)


def test_answers_and_counts_tokens(case: Case) -> None:
    reply = case.llm.complete(ASK, max_tokens=24)
    assert reply.text.strip()
    assert reply.prompt_tokens > 0
    assert 0 < reply.completion_tokens <= 24


def test_same_question_gives_same_answer(case: Case) -> None:
    assert case.llm.complete(ASK, max_tokens=12).text == case.llm.complete(ASK, max_tokens=12).text


def test_schema_gives_valid_json(case: Case) -> None:
    ask = [Message("user", "Where is the Eiffel tower? JSON please.")]
    value = json.loads(case.llm.complete(ask, schema=SCHEMA, max_tokens=60).text)
    assert isinstance(value["city"], str)
    assert isinstance(value["known"], bool)


def test_stream_is_the_answer_in_chunks(case: Case) -> None:
    ends: list[Reply] = []

    def whole() -> Generator[str, None, None]:
        ends.append((yield from case.llm.stream(ASK, max_tokens=12)))

    pieces = list(whole())
    (reply,), complete = ends, case.llm.complete(ASK, max_tokens=12)
    assert len(pieces) > 1 or isinstance(case.llm, LocalLLM)  # a local model sends whole sentences
    assert reply.text == "".join(pieces)
    assert reply.text.strip() == complete.text.strip()
    assert (reply.prompt_tokens, reply.completion_tokens) == (
        complete.prompt_tokens,
        complete.completion_tokens,
    )


def test_forbidden_word_is_not_generated(case: Case) -> None:
    if not case.llm.masks:
        pytest.skip("its server does not tell its tokens")
    said = "".join(case.llm.stream(ASK, max_tokens=12))
    word = next(word for word in re.findall(r"[A-Za-z]{3,}", said))
    assert word not in "".join(case.llm.stream(ASK, max_tokens=12, forbid=[word]))


def test_closed_stream_leaves_the_model_usable(case: Case) -> None:
    stream = case.llm.stream(ASK, max_tokens=200)
    assert next(iter(stream))
    stream.close()
    assert case.llm.complete(ASK, max_tokens=8).text


@pytest.mark.parametrize("text", ["a\x00b", "lone \ud83d surrogate", "😀 مرحبا 你好"])
def test_unusual_characters_are_accepted(case: Case, text: str) -> None:
    assert case.llm.complete([Message("user", text)], max_tokens=8).text


def test_empty_answer_is_a_bad_reply(case: Case) -> None:
    if case.silence is None:
        pytest.skip("a real model cannot be told to say nothing")
    case.silence()
    with pytest.raises(BadReply):
        case.llm.complete(ASK)
    case.silence()
    with pytest.raises(BadReply):
        list(case.llm.stream(ASK))


def test_no_messages_is_invalid_input(case: Case) -> None:
    with pytest.raises(InvalidInput):
        case.llm.complete([])
    with pytest.raises(InvalidInput):
        list(case.llm.stream([]))


def test_reply_that_violates_the_schema_is_an_error(case: Case) -> None:
    if isinstance(case.llm, LocalLLM):
        with pytest.raises(BadReply, match="cut off"):
            case.llm.complete(ASK, schema=SCHEMA, max_tokens=2)
    else:
        impossible = {"type": "object", "required": ["never"], "properties": {"never": {"type": "null"}}}
        with pytest.raises(ModelError):
            case.llm.complete([Message("user", "JSON")], schema=impossible)
