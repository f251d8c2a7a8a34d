"""OpenAI-compatible models: error mapping, retries, fallback formats and secrets."""

from __future__ import annotations

import logging
from collections.abc import Generator, Iterator
from typing import Any

import pytest
from tests.fake_openai import FakeOpenAI

from thinkback.errors import (
    BadReply,
    ModelError,
    ModelRefused,
    ModelTimeout,
    ModelUnavailable,
    RateLimited,
)
from thinkback.llms.openai import OpenAILLM
from thinkback.llms.openai_client import classify_error, parse_retry_after
from thinkback.types import Message, Reply

ASK = [Message("user", "Where does Anna live?")]
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
KEY = "sk-very-secret-123"


@pytest.fixture
def upstream() -> Iterator[FakeOpenAI]:
    with FakeOpenAI() as server:
        yield server


@pytest.fixture
def pauses() -> list[float]:
    return []


@pytest.fixture
def llm(upstream: FakeOpenAI, pauses: list[float]) -> Iterator[OpenAILLM]:
    model = OpenAILLM(
        "m", base_url=upstream.url, api_key=KEY, timeout=0.4, max_retries=2, sleep=pauses.append
    )
    yield model
    model.close()


@pytest.mark.parametrize(
    ("fault", "error", "tries"),
    [
        ("timeout", ModelTimeout, 3),
        ("drip", ModelTimeout, 3),
        ("reset", ModelUnavailable, 3),
        ("429", RateLimited, 3),
        ("429:2", RateLimited, 3),
        ("429:3600", RateLimited, 1),
        ("500", ModelUnavailable, 3),
        ("truncated", BadReply, 3),
        ("401", ModelUnavailable, 1),
        ("400:too long", ModelRefused, 1),
        ("malformed", BadReply, 1),
        ("no-choice", BadReply, 1),
        ("refusal", ModelRefused, 1),
        ("empty", BadReply, 1),
        ("10mb", BadReply, 1),
    ],
)
def test_permanent_failure_raises_a_named_error(
    upstream: FakeOpenAI, llm: OpenAILLM, fault: str, error: type[ModelError], tries: int
) -> None:
    upstream.faults.extend([fault] * 5)
    with pytest.raises(error):
        llm.complete(ASK)
    assert len(upstream.seen) == tries


@pytest.mark.parametrize("fault", ["timeout", "reset", "429", "429:2", "500", "truncated"])
def test_transient_failure_is_retried(upstream: FakeOpenAI, llm: OpenAILLM, fault: str) -> None:
    upstream.faults.append(fault)
    assert llm.complete(ASK).text == "The sky is blue today."
    upstream.faults.append(fault)
    if fault != "truncated":  # the same bytes are a stream that ended without a word
        assert "".join(llm.stream(ASK)) == "The sky is blue today."


def test_retry_delays_double_and_respect_retry_after(
    upstream: FakeOpenAI, llm: OpenAILLM, pauses: list[float]
) -> None:
    upstream.faults.extend(["500", "500"])
    llm.complete(ASK)
    assert pauses == [0.5, 1.0]
    upstream.faults.append("429:7")
    llm.complete(ASK)
    assert pauses[-1] == 7.0


def test_rate_limit_error_has_retry_after(upstream: FakeOpenAI, llm: OpenAILLM) -> None:
    upstream.faults.append("429:3600")
    with pytest.raises(RateLimited) as caught:
        llm.complete(ASK)
    assert caught.value.retry_after == 3600
    upstream.faults.extend(["429"] * 3)
    with pytest.raises(RateLimited) as caught:
        llm.complete(ASK)
    assert caught.value.retry_after is None


def test_retry_after_accepts_a_date() -> None:
    later, now = "Wed, 21 Oct 2015 07:28:30 GMT", "Wed, 21 Oct 2015 07:28:00 GMT"
    assert parse_retry_after({"retry-after": later, "date": now}) == 30
    assert parse_retry_after({"retry-after": later}) is None
    assert parse_retry_after({"retry-after": "soon", "date": now}) is None
    assert parse_retry_after({"retry-after": "-5"}) == 0


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        ("cut", BadReply),
        ("no-done", BadReply),
        ("error-event", BadReply),
        ("broken-event", BadReply),
        ("refusal", ModelRefused),
        ("empty", BadReply),
        ("10mb", BadReply),
    ],
)
def test_failing_stream_raises_an_error(
    upstream: FakeOpenAI, llm: OpenAILLM, fault: str, error: type[ModelError]
) -> None:
    upstream.faults.append(fault)
    with pytest.raises(error):
        list(llm.stream(ASK))


def test_truncated_stream_raises_an_error(upstream: FakeOpenAI, llm: OpenAILLM) -> None:
    upstream.faults.extend(["truncated"] * 3)
    with pytest.raises(ModelError):
        list(llm.stream(ASK))


def test_stream_without_finish_reason_raises_an_error(upstream: FakeOpenAI, llm: OpenAILLM) -> None:
    upstream.finish = ""
    with pytest.raises(BadReply, match="in the middle"):
        list(llm.stream(ASK))


def test_content_filter_raises_model_refused(upstream: FakeOpenAI, llm: OpenAILLM) -> None:
    upstream.finish = "content_filter"
    with pytest.raises(ModelRefused):
        llm.complete(ASK)


def test_connection_refused_is_unavailable(pauses: list[float]) -> None:
    with FakeOpenAI() as gone:
        url = gone.url
    llm = OpenAILLM("m", base_url=url, sleep=pauses.append)
    with pytest.raises(ModelUnavailable, match="could not be reached"):
        llm.complete(ASK)
    assert len(pauses) == 2
    llm.close()


def test_wrong_address_is_unavailable(upstream: FakeOpenAI) -> None:
    llm = OpenAILLM("m", base_url=f"{upstream.root}/elsewhere")
    with pytest.raises(ModelUnavailable, match="base_url"):
        llm.complete(ASK)
    llm.close()


def test_other_library_errors_are_bad_replies_and_bugs_propagate() -> None:
    import openai

    fault = classify_error(openai.OpenAIError(f"odd {KEY}"), "It", KEY)
    assert fault is not None
    assert isinstance(fault.error, BadReply)
    assert KEY not in str(fault.error)
    assert classify_error(KeyError("bug"), "It", KEY) is None


def test_host_information_is_not_sent(upstream: FakeOpenAI, llm: OpenAILLM) -> None:
    llm.complete(ASK)
    told = {name: value for name, value in upstream.seen[0].headers.items() if name.startswith("X-Stainless")}
    assert not any(told.get(f"X-Stainless-{what}") for what in ("Os", "Arch", "Runtime", "Runtime-Version"))


def test_schema_is_sent_as_response_format(upstream: FakeOpenAI, llm: OpenAILLM) -> None:
    upstream.reply = lambda body: '{"city": "Paris"}'
    assert llm.complete(ASK, schema=SCHEMA).text == '{"city": "Paris"}'
    form = upstream.seen[0].body["response_format"]
    assert form["type"] == "json_schema"
    assert form["json_schema"]["schema"] == SCHEMA
    assert form["json_schema"]["strict"] is False


@pytest.mark.parametrize(("accepted", "tries"), [("json_object", 2), (None, 3)])
def test_unsupported_output_mode_falls_back_and_is_remembered(
    upstream: FakeOpenAI, llm: OpenAILLM, accepted: str | None, tries: int
) -> None:
    def reject(body: dict[str, Any]) -> str | None:
        kind = body.get("response_format", {}).get("type")
        return None if kind == accepted else f"response_format {kind} is not supported"

    upstream.reject = reject
    upstream.reply = lambda body: 'Here:\n```json\n{"city": "Paris"}\n```'
    assert llm.complete(ASK, schema=SCHEMA).text == '{"city": "Paris"}'
    assert len(upstream.seen) == tries
    assert "JSON schema" in upstream.seen[-1].body["messages"][-1]["content"]
    llm.complete(ASK, schema=SCHEMA)
    assert len(upstream.seen) == tries + 1


def test_request_rejected_in_every_format_changes_nothing(upstream: FakeOpenAI, llm: OpenAILLM) -> None:
    upstream.reject = lambda body: "context length exceeded"
    with pytest.raises(ModelRefused, match="context length"):
        llm.complete(ASK, schema=SCHEMA)
    upstream.reject = lambda body: None
    upstream.reply = lambda body: '{"city": "Paris"}'
    llm.complete(ASK, schema=SCHEMA)
    assert upstream.seen[-1].body["response_format"]["type"] == "json_schema"


def test_unsupported_parameters_are_learned(upstream: FakeOpenAI, llm: OpenAILLM) -> None:
    def reject(body: dict[str, Any]) -> str | None:
        if "max_tokens" in body:
            return "Use 'max_completion_tokens' instead."
        return "temperature does not support 0" if "temperature" in body else None

    upstream.reject = reject
    llm.complete(ASK, max_tokens=9)
    assert upstream.seen[-1].body["max_completion_tokens"] == 9
    list(llm.stream(ASK))
    assert len(upstream.seen) == 4


def finished(stream: Generator[str, None, Reply]) -> Reply:
    ends: list[Reply] = []

    def whole() -> Generator[str, None, None]:
        ends.append((yield from stream))

    list(whole())
    return ends[0]


def test_stream_requests_usage(upstream: FakeOpenAI, llm: OpenAILLM) -> None:
    assert finished(llm.stream(ASK)) == Reply("The sky is blue today.", 11, 5)
    assert upstream.seen[0].body["stream_options"] == {"include_usage": True}


def test_server_without_stream_usage_still_streams(upstream: FakeOpenAI, llm: OpenAILLM) -> None:
    upstream.reject = lambda body: "unknown field" if "stream_options" in body else None
    assert finished(llm.stream(ASK)) == Reply("The sky is blue today.")
    assert finished(llm.stream(ASK)).text
    assert len(upstream.seen) == 3
    upstream.reject = lambda body: "too long"
    with pytest.raises(ModelRefused, match="too long"):
        finished(llm.stream(ASK))


def test_invalid_json_is_requested_once_more_and_counted(upstream: FakeOpenAI, llm: OpenAILLM) -> None:
    upstream.faults.append("wrong-schema")
    upstream.reply = lambda body: '{"city": "Paris"}'
    reply = llm.complete(ASK, schema=SCHEMA)
    assert reply.text == '{"city": "Paris"}'
    assert (reply.prompt_tokens, reply.calls) == (22, 2)
    assert "no member 'city'" in upstream.seen[1].body["messages"][-1]["content"]
    upstream.faults.extend(["wrong-schema"] * 2)
    with pytest.raises(BadReply, match="no member 'city'"):
        llm.complete(ASK, schema=SCHEMA)


def test_second_invalid_reply_is_used_without_its_malformed_elements(
    upstream: FakeOpenAI, llm: OpenAILLM
) -> None:
    schema = {
        "type": "object",
        "properties": {"towns": {"type": "array", "items": SCHEMA}},
        "required": ["towns"],
    }
    upstream.reply = lambda body: '{"towns": [{"city": "Paris"}, {"town": "Lyon"}]}'
    reply = llm.complete(ASK, schema=schema)
    assert (reply.text, reply.calls) == ('{"towns": [{"city": "Paris"}]}', 2)


def test_json_truncated_at_max_tokens_is_a_bad_reply(upstream: FakeOpenAI, llm: OpenAILLM) -> None:
    upstream.finish = "length"
    assert llm.complete(ASK).text
    with pytest.raises(BadReply, match="cut off"):
        llm.complete(ASK, schema=SCHEMA)


@pytest.mark.parametrize(
    "answer", [{"choices": [{}]}, {"choices": [{"message": {"content": 7}}]}, {"choices": "no"}, {}]
)
def test_malformed_response_is_a_bad_reply(
    upstream: FakeOpenAI, llm: OpenAILLM, answer: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(llm._client, "post_json", lambda resource, body: answer)
    with pytest.raises(BadReply):
        llm.complete(ASK)


@pytest.mark.parametrize("fault", ["401", f"400:your key {KEY} is odd", f"500:{KEY}", "429", "reset"])
def test_api_key_is_sent_and_never_shown(
    upstream: FakeOpenAI, llm: OpenAILLM, fault: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    upstream.faults.extend([fault] * 3)
    with pytest.raises(ModelError) as caught:
        llm.complete(ASK)
    assert upstream.seen[0].headers["Authorization"] == f"Bearer {KEY}"
    error: BaseException | None = caught.value
    while error is not None:
        assert KEY not in f"{error} {error!r}"
        error = error.__cause__ if error.__suppress_context__ else error.__context__
    assert KEY not in repr(llm)
    assert KEY not in caplog.text


def test_openai_requires_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with pytest.raises(ModelUnavailable, match="OPENAI_API_KEY"):
        OpenAILLM("gpt-x")


def test_other_servers_need_no_key_and_base_url_comes_from_environment(
    upstream: FakeOpenAI, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("OPENAI_BASE_URL", upstream.url)
    llm = OpenAILLM("m")
    assert llm.complete(ASK).text
    assert llm.extracts
    llm.close()


def test_credentials_in_base_url_are_not_shown(pauses: list[float]) -> None:
    llm = OpenAILLM("m", base_url="http://user:hunter2@127.0.0.1:9/v1", sleep=pauses.append)
    with pytest.raises(ModelUnavailable) as caught:
        llm.complete(ASK)
    assert "hunter2" not in str(caught.value)
    llm.close()
