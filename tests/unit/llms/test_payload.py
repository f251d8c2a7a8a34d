"""Forbidden words as token biases, for servers with and without a tokenizer endpoint."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.fake_openai import FakeOpenAI

from thinkback.llms.openai import OpenAILLM
from thinkback.llms.structured_output import BANNED_TOKEN_BIAS, build_logit_bias, spelling_variants
from thinkback.types import Message

ASK = [Message("user", "hi")]


def test_spelling_variants_cover_case_and_leading_space() -> None:
    assert spelling_variants(["paris"]) == [" paris", "paris", " Paris", "Paris"]
    assert spelling_variants(["北京"]) == [" 北京", "北京"]
    assert spelling_variants([]) == []


def test_only_the_first_token_of_a_word_is_banned() -> None:
    pieces = {" ": [1], " Oslo": [1, 20, 30], "Oslo": [20, 30], " oslo": [1, 40], "oslo": [40]}
    assert build_logit_bias(["Oslo"], pieces.__getitem__) == {
        "20": BANNED_TOKEN_BIAS,
        "40": BANNED_TOKEN_BIAS,
    }


@pytest.fixture
def upstream() -> Iterator[FakeOpenAI]:
    with FakeOpenAI() as server:
        yield server


def test_forbidden_words_are_sent_as_logit_bias(upstream: FakeOpenAI) -> None:
    upstream.tokens = lambda text: [sum(map(ord, text))]
    llm = OpenAILLM("fake", base_url=upstream.url)
    assert llm.masks
    assert "".join(llm.stream(ASK, forbid=["Oslo"])) == "The sky is blue today."
    sent = upstream.seen[-1]
    assert sent.path == "/v1/chat/completions"
    assert set(sent.body["logit_bias"]) == {str(sum(map(ord, form))) for form in spelling_variants(["Oslo"])}
    assert set(sent.body["logit_bias"].values()) == {BANNED_TOKEN_BIAS}
    list(llm.stream(ASK))
    assert "logit_bias" not in upstream.seen[-1].body
    llm.close()


@pytest.mark.parametrize("fault", ["ok", "malformed", "500", "10mb"])
def test_server_without_tokenize_is_asked_only_once(upstream: FakeOpenAI, fault: str) -> None:
    upstream.faults.append(fault)
    llm = OpenAILLM("fake", base_url=upstream.url)
    assert not llm.masks
    assert not llm.masks
    assert [seen.path for seen in upstream.seen] == ["/tokenize"]
    assert "".join(llm.stream(ASK, forbid=["Oslo"])) == "The sky is blue today."
    assert "logit_bias" not in upstream.seen[-1].body
    llm.close()


def test_tokenize_is_not_called_without_forbidden_words(upstream: FakeOpenAI) -> None:
    llm = OpenAILLM("fake", base_url=upstream.url)
    list(llm.stream(ASK))
    assert [seen.path for seen in upstream.seen] == ["/v1/chat/completions"]
    llm.close()


def test_tokenize_is_never_called_on_openai() -> None:
    llm = OpenAILLM("gpt-4o-mini", base_url="https://api.openai.com/v1", api_key="sk-nothing")
    assert not llm.masks
    llm.close()
