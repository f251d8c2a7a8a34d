"""Upstreams in this process: memory alone, and the local model."""

from __future__ import annotations

import asyncio
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import openai
import pytest
from tests.proxy_app import RunningProxy, run_proxy

from thinkback.embedders.hashing import HashingEmbedder
from thinkback.errors import InvalidInput, ModelUnavailable
from thinkback.llms.catalogue import find_model_file
from thinkback.llms.local import LocalLLM
from thinkback.llms.scripted import ScriptedLLM
from thinkback.memory import Memory
from thinkback.server.identity import Principal
from thinkback.server.proxy import (
    LocalModelUpstream,
    MemoryOnlyUpstream,
    RemoteUpstream,
    choose_upstream,
)
from thinkback.server.proxy.local_upstreams import limit_tokens
from thinkback.server.services import MemoryRegistry, Options, Services
from thinkback.server.telemetry import Telemetry
from thinkback.server.thread_pool import ThreadPool

QUESTION: Any = [{"role": "user", "content": "Where did I move to?"}]


@contextmanager
def client_of(proxy: RunningProxy) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=proxy.url, api_key="x", max_retries=0) as client:
        yield client


@pytest.fixture
def pool() -> Iterator[ThreadPool]:
    pool = ThreadPool(2)
    yield pool
    pool.close()


@pytest.fixture
def proxy(tmp_path: Path, pool: ThreadPool) -> Iterator[RunningProxy]:
    with run_proxy(tmp_path / "m.db", MemoryOnlyUpstream(pool, HashingEmbedder(), 5)) as proxy:
        proxy.memory.remember("I moved to Lyon last week.")
        yield proxy


@pytest.fixture
def client(proxy: RunningProxy) -> Iterator[openai.OpenAI]:
    with client_of(proxy) as client:
        yield client


def test_memory_only_answers_are_not_remembered(proxy: RunningProxy, client: openai.OpenAI) -> None:
    answer = client.chat.completions.create(model="any", messages=QUESTION)
    text = answer.choices[0].message.content or ""
    assert re.fullmatch(r"You moved to Lyon last week \([-\d]{10} to [-\d]{10}\)\. \[turn:1\]", text)
    assert answer.model == "thinkback"
    stream = client.chat.completions.create(model="any", messages=QUESTION, stream=True)
    said = "".join(chunk.choices[0].delta.content or "" for chunk in stream)
    assert said == answer.choices[0].message.content
    bare = client.completions.create(model="any", prompt="Where did I move to?")
    assert bare.choices[0].text == said
    asked = proxy.memory.turns()[1:]
    assert [(turn.query, turn.response) for turn in asked] == [("Where did I move to?", "")] * 3
    assert all(turn.recalled[0].id == 1 for turn in asked)


MESSAGES = (
    "My sister Anna is moving to Turku in May.",
    "I am allergic to peanuts. What am I allergic to?",
    "where is anna moving to?",
    "forget that I am allergic to peanuts",
    "Am I allergic to anything?",
    "always answer in German",
    "我养了一只猫，名字叫小白。",
    "write me a poem",
    "thx",
)


@pytest.mark.parametrize("stream", [False, True])
def test_memory_only_replies_as_the_terminal_does(tmp_path: Path, pool: ThreadPool, stream: bool) -> None:
    with Memory.open(tmp_path / "terminal.db", embedder="hashing", background=False) as memory:
        expected = [memory.chat(message, session="s").text for message in MESSAGES]
        stored = [(turn.query, turn.response) for turn in memory.turns()]
        thoughts = [thought.sentence for thought in memory.thoughts()]
    assert expected[0].startswith("Noted: your sister Anna is moving")
    assert "forgotten" in expected[3]
    with (
        run_proxy(tmp_path / "m.db", MemoryOnlyUpstream(pool, HashingEmbedder(), 5)) as proxy,
        client_of(proxy) as client,
    ):
        for message, reply in zip(MESSAGES, expected, strict=True):
            asked: Any = {
                "model": "any",
                "messages": [{"role": "user", "content": message}],
                "extra_headers": {"X-Thinkback-Session": "s"},
            }
            if stream:
                chunks = client.chat.completions.create(**asked, stream=True)
                text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
            else:
                raw = client.chat.completions.with_raw_response.create(**asked)
                text = raw.parse().choices[0].message.content or ""
                assert raw.headers["x-thinkback-turn"] == f"turn:{len(proxy.memory.turns(hidden=True))}"
                assert raw.headers["x-thinkback-memory"].endswith("; kept=question")
            assert text == reply
        assert [(turn.query, turn.response) for turn in proxy.memory.turns()] == stored
        assert [thought.sentence for thought in proxy.memory.thoughts()] == thoughts


def test_memory_only_stores_a_retried_message_once(proxy: RunningProxy, client: openai.OpenAI) -> None:
    asked: Any = {"model": "any", "extra_headers": {"Idempotency-Key": "one"}}
    told: Any = [{"role": "user", "content": "My boat is called Elli."}]
    replies = [client.chat.completions.create(**asked, messages=told) for _ in range(2)]
    assert {reply.choices[0].message.content for reply in replies} == {"Noted: your boat is called Elli."}
    assert len(proxy.memory.turns()) == 2
    other: Any = [{"role": "user", "content": "My boat is called Otso."}]
    raw = client.chat.completions.with_raw_response.create(**asked, messages=other)
    assert "kept=earlier" in raw.headers["x-thinkback-memory"]
    assert raw.parse().choices[0].message.content == "Okay."
    assert len(proxy.memory.turns()) == 2


def test_memory_only_stores_the_message_of_a_client_that_left_once(tmp_path: Path, pool: ThreadPool) -> None:
    class Slow(MemoryOnlyUpstream):
        async def answer(self, *args: Any, **kwargs: Any) -> Any:
            await super().answer(*args, **kwargs)
            answered.set()
            await asyncio.sleep(60)

    answered = threading.Event()
    told: Any = [{"role": "user", "content": "My boat is called Elli."}]
    with run_proxy(tmp_path / "m.db", Slow(pool, HashingEmbedder(), 5)) as proxy, client_of(proxy) as client:
        with pytest.raises(openai.APITimeoutError):
            client.with_options(timeout=2.0).chat.completions.create(model="any", messages=told)
        assert answered.is_set()
        time.sleep(0.5)  # the proxy notices that the client left, and remembers what it may have missed
        assert [turn.query for turn in proxy.memory.turns()] == ["My boat is called Elli."]


@pytest.mark.parametrize("mode", ["read", "write", "off"])
def test_memory_only_stores_only_what_it_may(proxy: RunningProxy, client: openai.OpenAI, mode: str) -> None:
    told: Any = [{"role": "user", "content": "My boat is called Elli."}]
    answer = client.chat.completions.create(
        model="any", messages=told, extra_headers={"X-Thinkback-Memory": mode}
    )
    assert answer.choices[0].message.content == "Okay."
    assert len(proxy.memory.turns()) == (2 if mode == "write" else 1)


def test_memory_only_waits_for_recall(tmp_path: Path, pool: ThreadPool) -> None:
    with run_proxy(
        tmp_path / "m.db", MemoryOnlyUpstream(pool, HashingEmbedder(), 5), recall_timeout_seconds=0.0
    ) as proxy:
        proxy.memory.remember("I moved to Lyon last week.")
        with client_of(proxy) as client:
            raw = client.chat.completions.with_raw_response.create(model="any", messages=QUESTION)
    assert raw.headers["x-thinkback-memory"].startswith("skipped")
    assert "Lyon" in (raw.parse().choices[0].message.content or "")


def test_memory_only_needs_read_scope(tmp_path: Path, pool: ThreadPool) -> None:
    principal = Principal(key="k", scopes=frozenset({"write"}))
    with run_proxy(
        tmp_path / "m.db", MemoryOnlyUpstream(pool, HashingEmbedder(), 5), principal=principal
    ) as proxy:
        proxy.memory.remember("I moved to Lyon last week.")
        with client_of(proxy) as client:
            answer = client.chat.completions.create(model="any", messages=QUESTION)
    assert answer.choices[0].message.content == "You have not told me that."


def test_embeddings_use_memory_embedder(client: openai.OpenAI) -> None:
    texts = ["I moved to Lyon.", "你好"]
    expected = HashingEmbedder().embed(texts)
    packed = client.embeddings.create(model="any", input=texts)  # base64, which the client decodes
    plain = client.embeddings.create(model="any", input=texts, encoding_format="float")
    for made in (packed, plain):
        assert np.allclose([each.embedding for each in made.data], expected, atol=1e-6)


def test_model_list_has_one_model(client: openai.OpenAI) -> None:
    assert [model.id for model in client.models.list()] == ["thinkback"]
    assert client.models.retrieve("thinkback").id == "thinkback"
    with pytest.raises(openai.NotFoundError):
        client.models.retrieve("gpt-4o")


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("chat/completions", {"messages": "x"}),
        ("chat/completions", {"messages": []}),
        ("completions", {"prompt": [1, 2]}),
        ("embeddings", {"input": [1, 2]}),
        ("embeddings", {"input": []}),
        ("embeddings", {"input": ["x"] * 2049}),
        ("embeddings", {"input": "x", "dimensions": 7}),
        ("embeddings", ["x"]),
    ],
)
def test_unsupported_requests_have_clear_errors(client: openai.OpenAI, path: str, body: Any) -> None:
    with pytest.raises(openai.APIStatusError) as refused:
        client.post(f"/{path}", body=body, cast_to=object)
    assert refused.value.status_code in (400, 422)
    assert refused.value.message


def test_choose_upstream(tmp_path: Path, pool: ThreadPool) -> None:
    def choice(llm: Any = None, **options: Any) -> object:
        with Memory.open(":memory:", embedder="hashing", llm=llm, background=False) as memory:
            return choose_upstream(Services(Options(**options), MemoryRegistry(memory), pool, Telemetry()))

    assert isinstance(choice(), MemoryOnlyUpstream)
    assert isinstance(choice(upstream="http://127.0.0.1:1/v1"), RemoteUpstream)
    model = tmp_path / "small.gguf"
    model.write_bytes(b"GGUF")
    assert isinstance(choice(LocalLLM(model)), LocalModelUpstream)
    with pytest.raises(InvalidInput, match="base URL"):
        choice(ScriptedLLM([]))
    with pytest.raises(InvalidInput, match="upstream"):
        choice(upstream="file:///etc/passwd")


@pytest.mark.model
def test_local_model_answers(tmp_path: Path, pool: ThreadPool) -> None:
    try:
        find_model_file("smollm2")
    except ModelUnavailable as absent:
        pytest.skip(f"{absent}")
    llm = LocalLLM("smollm2", context=1024)
    with (
        run_proxy(tmp_path / "m.db", LocalModelUpstream(llm, pool, HashingEmbedder(), 512)) as proxy,
        client_of(proxy) as client,
    ):
        ask: Any = [{"role": "user", "content": "Say hello."}]
        answer = client.chat.completions.create(model="any", messages=ask, max_tokens=8, temperature=0)
        stream = client.chat.completions.create(
            model="any", messages=ask, max_tokens=8, temperature=0, stream=True
        )
        said = "".join(chunk.choices[0].delta.content or "" for chunk in stream)
        assert said
        assert answer.choices[0].message.content
        assert answer.model == "local:smollm2"
        assert client.completions.create(model="any", prompt="Once", max_tokens=4).choices[0].text
        with pytest.raises(openai.BadRequestError, match="context size"):
            client.chat.completions.create(
                model="any", messages=[{"role": "user", "content": "word " * 3000}]
            )
        assert [turn.response for turn in proxy.memory.turns()][:2] == [
            answer.choices[0].message.content,
            said,
        ]
    llm.close()


@pytest.mark.parametrize(
    ("named", "limit"),
    [
        ({}, 512),
        ({"max_tokens": 9}, 9),
        ({"max_completion_tokens": 2000}, 2000),
        ({"max_tokens": -1}, 512),
        ({"max_tokens": 0, "n_predict": -1}, 512),
        ({"max_tokens": 9, "n_predict": -1}, 9),
        ({"max_tokens": None}, 512),
        ({"max_tokens": True}, 512),
        ({"max_tokens": "all"}, 512),
    ],
)
def test_every_answer_has_a_token_limit(named: dict[str, Any], limit: int) -> None:
    body = {"model": "m", "messages": QUESTION, **named}
    assert limit_tokens(body, 512) == {"model": "m", "messages": QUESTION, "max_tokens": limit}


def test_default_token_limit_reaches_the_model(tmp_path: Path, pool: ThreadPool) -> None:
    class RecordingLLM:
        name = "local:recording"
        requests: list[dict[str, Any]] = []  # noqa: RUF012

        def create_completion(self, request: dict[str, Any], *, text_completion: bool) -> Iterator[Any]:
            self.requests.append(request)
            yield {"choices": [{"index": 0, "message": {"content": "Yes."}, "finish_reason": "stop"}]}

    llm: Any = RecordingLLM()
    upstream = LocalModelUpstream(llm, pool, HashingEmbedder(), 77)
    with run_proxy(tmp_path / "m.db", upstream) as proxy, client_of(proxy) as client:
        client.chat.completions.create(model="m", messages=QUESTION)
    assert [request["max_tokens"] for request in llm.requests] == [77]
