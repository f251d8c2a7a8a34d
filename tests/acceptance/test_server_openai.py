"""The proxy with real clients: OpenAI's for Python and JavaScript, and curl."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import openai
import pytest
from openai.types.chat import ChatCompletionMessageParam
from tests.fake_openai import FakeOpenAI, ServedFile, fake_embedding
from tests.proxy_app import RunningProxy, run_proxy

MODEL = "any"
JS = Path(__file__).parent / "js"
PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo=", "detail": "low"}}
TOOL: Any = {"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}}}
CALL = {"id": "call_1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Lyon"}'}}


@pytest.fixture
def upstream() -> Iterator[FakeOpenAI]:
    with FakeOpenAI() as server:
        yield server


@pytest.fixture
def proxy(tmp_path: Path, upstream: FakeOpenAI) -> Iterator[RunningProxy]:
    with run_proxy(tmp_path / "memory.db", upstream.url) as served:
        yield served


@pytest.fixture
def client(proxy: RunningProxy) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=proxy.url, api_key="the-client's-own", max_retries=0) as client:
        yield client


def said(text: str) -> list[ChatCompletionMessageParam]:
    return [{"role": "user", "content": text}]


def kept(proxy: RunningProxy) -> list[tuple[str, str]]:
    return [(turn.query, turn.response) for turn in proxy.memory.turns()]


def test_chat_is_remembered_and_recalled_in_next_chat(
    client: openai.OpenAI, proxy: RunningProxy, upstream: FakeOpenAI
) -> None:
    upstream.reply = lambda body: "How exciting!"
    create = client.chat.completions.with_raw_response.create
    first = create(model=MODEL, messages=said("I moved to Lyon last week."))
    assert first.parse().choices[0].message.content == "How exciting!"
    assert first.headers["x-thinkback-turn"] == "turn:1"
    second = create(model=MODEL, messages=said("Where did I move to?"))
    assert second.headers["x-thinkback-memory"] == "recalled; count=1; kept=answer"
    assert second.headers["x-thinkback-recalled"] == "turn:1"
    system, question = upstream.seen[1].body["messages"]
    assert system["role"] == "system"
    assert "user: I moved to Lyon last week (20" in system["content"]
    assert question == {"role": "user", "content": "Where did I move to?"}
    assert kept(proxy) == [
        ("I moved to Lyon last week.", "How exciting!"),
        ("Where did I move to?", "How exciting!"),
    ]
    (used,) = proxy.memory.turns()[1].recalled
    assert (used.kind, used.id) == ("turn", 1)


def test_streamed_chat_is_relayed_in_chunks_and_remembered(
    client: openai.OpenAI, proxy: RunningProxy, upstream: FakeOpenAI
) -> None:
    stream = client.chat.completions.create(model=MODEL, messages=said("How is the sky?"), stream=True)
    pieces = [chunk.choices[0].delta.content or "" for chunk in stream]
    assert len(pieces) > 4
    assert "".join(pieces) == "The sky is blue today."
    assert kept(proxy) == [("How is the sky?", "The sky is blue today.")]


@pytest.mark.parametrize("stream", [False, True])
def test_tool_calls_and_answer_are_one_turn(
    client: openai.OpenAI, proxy: RunningProxy, upstream: FakeOpenAI, stream: bool
) -> None:
    def reply(body: dict[str, Any]) -> str | dict[str, Any]:
        if body["messages"][-1]["role"] == "tool":
            return "It rains in Lyon."
        call = {**CALL, "index": 0} if stream else CALL
        return {"role": "assistant", "content": None, "tool_calls": [call]}

    upstream.reply = reply
    messages: list[Any] = said("Do I need an umbrella in Lyon?")
    first: Any = client.chat.completions.create(model=MODEL, messages=messages, tools=[TOOL], stream=stream)
    if stream:
        calls = [call for chunk in first for call in chunk.choices[0].delta.tool_calls or ()]
        assert calls[0].function.name == "weather"
    else:
        assert first.choices[0].message.tool_calls[0].function.name == "weather"
    assert kept(proxy) == []
    messages += [{"role": "assistant", "content": None, "tool_calls": [CALL]}]
    messages += [{"role": "tool", "tool_call_id": "call_1", "content": "rain"}]
    client.chat.completions.create(model=MODEL, messages=messages, tools=[TOOL])
    assert kept(proxy) == [("Do I need an umbrella in Lyon?", "It rains in Lyon.")]
    assert upstream.seen[-1].body["messages"] == messages
    assert upstream.seen[-1].body["tools"] == [TOOL]


def test_forced_tool_call_is_the_answer(
    client: openai.OpenAI, proxy: RunningProxy, upstream: FakeOpenAI
) -> None:
    upstream.reply = lambda body: {"role": "assistant", "content": None, "tool_calls": [CALL]}
    client.chat.completions.create(
        model=MODEL, messages=said("My name is Ann."), tools=[TOOL], tool_choice="required"
    )
    assert kept(proxy) == [("My name is Ann.", "")]


def test_images_and_unknown_fields_are_forwarded_unchanged(
    client: openai.OpenAI, proxy: RunningProxy, upstream: FakeOpenAI
) -> None:
    proxy.memory.remember("The bridge in Lyon is old.")
    content: Any = [{"type": "text", "text": "Which bridge of Lyon is this?"}, PICTURE]
    system: Any = {"role": "system", "content": [{"type": "text", "text": "Be brief."}]}
    messages: Any = [system, {"role": "user", "content": content}]
    extra = {"vendor": {"deep": [1.50, None, "é"]}}
    client.chat.completions.create(model=MODEL, messages=messages, seed=7, extra_body=extra)
    got = upstream.seen[-1].body
    assert got["messages"][1] == messages[1]
    assert got["messages"][0]["content"][0] == system["content"][0]
    assert "The bridge in Lyon is old." in got["messages"][0]["content"][1]["text"]
    assert {name: got[name] for name in ("seed", "vendor")} == {"seed": 7, **extra}
    assert kept(proxy)[-1] == ("Which bridge of Lyon is this?", "The sky is blue today.")


def test_unanswered_query_is_stored_once_despite_retries(
    client: openai.OpenAI, proxy: RunningProxy, upstream: FakeOpenAI
) -> None:
    upstream.faults.extend(["500", "429:0", "500", "500"])
    trying = client.with_options(max_retries=2)
    with pytest.raises(openai.InternalServerError):
        trying.chat.completions.create(model=MODEL, messages=said("My name is Ann."))
    assert len(upstream.seen) == 3
    assert kept(proxy) == [("My name is Ann.", "")]
    trying.chat.completions.create(model=MODEL, messages=said("My name is Ann."))
    assert kept(proxy) == [("My name is Ann.", ""), ("My name is Ann.", "The sky is blue today.")]


def test_upstream_errors_are_relayed(
    client: openai.OpenAI, proxy: RunningProxy, upstream: FakeOpenAI
) -> None:
    upstream.faults.append("429:7")
    with pytest.raises(openai.RateLimitError) as refused:
        client.chat.completions.create(model=MODEL, messages=said("hello"))
    assert refused.value.response.headers["retry-after"] == "7"
    assert refused.value.body == {"message": "slow down"}
    assert "kept=question; answer=error" in refused.value.response.headers["x-thinkback-memory"]
    upstream.faults.append("cut")
    with pytest.raises(openai.APIConnectionError):
        list(client.chat.completions.create(model=MODEL, messages=said("and now?"), stream=True))
    assert kept(proxy) == [("hello", ""), ("and now?", "The sky")]


def test_unreachable_upstream_is_a_named_error(tmp_path: Path) -> None:
    with (
        run_proxy(tmp_path / "memory.db", "http://127.0.0.1:1/v1") as proxy,
        openai.OpenAI(base_url=proxy.url, api_key="x", max_retries=0) as client,
    ):
        with pytest.raises(openai.InternalServerError) as refused:
            client.chat.completions.create(model=MODEL, messages=said("My name is Ann."))
        assert refused.value.status_code == 502
        assert refused.value.code == "upstream_unreachable"
        assert refused.value.response.headers["x-should-retry"] == "true"
        assert kept(proxy) == [("My name is Ann.", "")]


def test_embeddings_and_models_are_forwarded(client: openai.OpenAI, upstream: FakeOpenAI) -> None:
    models = {"object": "list", "data": [{"id": "any", "object": "model", "created": 1, "owned_by": "x"}]}
    upstream.files["/v1/models"] = ServedFile(json.dumps(models).encode())
    upstream.files["/v1/models/org/any"] = ServedFile(json.dumps(models["data"][0]).encode())
    assert [model.id for model in client.models.list()] == ["any"]
    assert client.models.retrieve("org/any").id == "any"
    made = client.embeddings.create(model=MODEL, input=["a b", "c"], encoding_format="float")
    assert sorted(each.embedding for each in made.data) == sorted(
        [fake_embedding("a b"), fake_embedding("c")]
    )
    with pytest.raises(openai.NotFoundError):
        client.models.retrieve("nothing")


def test_curl_plain_and_streamed(proxy: RunningProxy, upstream: FakeOpenAI) -> None:
    curl = shutil.which("curl")
    if curl is None:
        pytest.skip("curl is not installed")

    def ask(text: str, *, stream: bool) -> str:
        body = json.dumps({"model": MODEL, "messages": said(text), "stream": stream})
        command = [
            curl,
            "-sS",
            "-i",
            "-N",
            f"{proxy.url}/chat/completions",
            "-H",
            "X-Thinkback-User: default",
        ]
        command += ["-H", "Content-Type: application/json", "-d", body]
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout

    assert "x-thinkback-turn: turn:1" in ask("I moved to Lyon.", stream=False)
    streamed = ask("Where did I move to?", stream=True)
    assert "x-thinkback-memory: recalled; count=1" in streamed
    assert streamed.endswith("data: [DONE]\n\n")
    assert [query for query, _ in kept(proxy)] == ["I moved to Lyon.", "Where did I move to?"]


@pytest.fixture(scope="session")
def javascript(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with OpenAI's JavaScript client."""
    if shutil.which("node") is None or shutil.which("npm") is None:
        pytest.skip("node is not installed")
    folder = tmp_path_factory.mktemp("js")
    shutil.copy(JS / "chat.mjs", folder)
    command = [
        "npm",
        "install",
        "openai",
        "--prefix",
        str(folder),
        "--no-audit",
        "--no-fund",
        "--loglevel=error",
    ]
    try:
        subprocess.run(command, check=True, capture_output=True, timeout=120)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        pytest.skip(f"npm cannot install openai here: {type(error).__name__}")
    return folder


def test_the_javascript_client(javascript: Path, proxy: RunningProxy, upstream: FakeOpenAI) -> None:
    upstream.faults.extend(["ok", "ok", "429"])
    ran = subprocess.run(
        ["node", "chat.mjs", proxy.url],
        cwd=javascript,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    told = json.loads(ran.stdout)
    assert told["plain"] == "".join(told["pieces"]) == "The sky is blue today."
    assert len(told["pieces"]) > 4
    assert (told["turn"], told["refused"]) == ("turn:1", 429)
    assert "Lyon" in upstream.seen[1].body["messages"][0]["content"]
    assert kept(proxy) == [
        ("I moved to Lyon last week.", "The sky is blue today."),
        ("Where did I move to?", "The sky is blue today."),
        ("And now?", ""),
    ]
