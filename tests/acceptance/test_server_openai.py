"""The proxy with the clients people have: OpenAI's for Python and JavaScript, and curl."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import openai
import pytest
from tests.proxying import Proxy, proxying
from tests.upstream import Upstream

MODEL = "any"


@pytest.fixture
def upstream() -> Iterator[Upstream]:
    with Upstream() as server:
        yield server


@pytest.fixture
def proxy(tmp_path: Path, upstream: Upstream) -> Iterator[Proxy]:
    with proxying(tmp_path / "memory.db", upstream.url) as served:
        yield served


@pytest.fixture
def client(proxy: Proxy) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=proxy.url, api_key="the-client's-own", max_retries=0) as client:
        yield client


def test_a_chat_is_remembered_and_recalled_in_the_next(
    client: openai.OpenAI, proxy: Proxy, upstream: Upstream
) -> None:
    upstream.reply = lambda body: "How exciting!"
    first = client.chat.completions.with_raw_response.create(
        model=MODEL, messages=[{"role": "user", "content": "I moved to Lyon last week."}]
    )
    assert first.parse().choices[0].message.content == "How exciting!"
    assert first.headers["x-thinkback-turn"] == "turn:1"
    second = client.chat.completions.with_raw_response.create(
        model=MODEL, messages=[{"role": "user", "content": "Where did I move to?"}]
    )
    assert second.headers["x-thinkback-memory"].startswith("recalled; count=1")
    assert "Lyon" in upstream.seen[1].body["messages"][0]["content"]
    assert [(turn.query, turn.response) for turn in proxy.memory.turns()] == [
        ("I moved to Lyon last week.", "How exciting!"),
        ("Where did I move to?", "How exciting!"),
    ]


def test_a_streamed_chat_comes_piece_by_piece_and_is_remembered_whole(
    client: openai.OpenAI, proxy: Proxy, upstream: Upstream
) -> None:
    upstream.reply = lambda body: "The sky is blue today."
    stream = client.chat.completions.create(
        model=MODEL, messages=[{"role": "user", "content": "How is the sky?"}], stream=True
    )
    pieces = [chunk.choices[0].delta.content or "" for chunk in stream]
    assert len(pieces) > 4
    assert "".join(pieces) == "The sky is blue today."
    (turn,) = proxy.memory.turns()
    assert (turn.query, turn.response) == ("How is the sky?", "The sky is blue today.")
