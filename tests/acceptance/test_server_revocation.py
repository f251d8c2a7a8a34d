"""A key that is revoked while an answer runs: the answer ends, and nothing of it is stored."""

from __future__ import annotations

import asyncio
import http.client
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

import pytest
from tests.asgi_server import AsgiServer
from tests.server_app import ServerApp, open_server_app

from thinkback.api_keys import parse_key_id
from thinkback.server.middleware import auth
from thinkback.server.processes.http_server import protocol_class
from thinkback.server.services import Options
from thinkback.times import utc_now

CHECK_SECONDS = 0.2  # instead of two seconds
STREAM_SECONDS = 30.0  # of the upstream, if nobody ends it


class EndlessUpstream:
    """Streams one word every 20 ms; a request without `stream` is answered after `STREAM_SECONDS`."""

    def __enter__(self) -> Self:
        self._loop = asyncio.new_event_loop()
        self.finish = asyncio.Event()
        self._answering: set[asyncio.Task[Any] | None] = set()
        started = threading.Event()

        async def serve() -> None:
            self._server = await asyncio.start_server(self._answer, "127.0.0.1", 0)
            self.port = self._server.sockets[0].getsockname()[1]
            started.set()

        def run() -> None:
            self._loop.create_task(serve())
            self._loop.run_forever()

        self._thread = threading.Thread(target=run, daemon=True)
        self._thread.start()
        assert started.wait(10)
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self._close(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    async def _close(self) -> None:
        self.finish.set()
        self._server.close()
        await asyncio.gather(*(task for task in self._answering if task), return_exceptions=True)

    def end_stream(self) -> None:
        self._loop.call_soon_threadsafe(self.finish.set)

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._answering.add(asyncio.current_task())
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")
        event = {"choices": [{"index": 0, "delta": {"content": "word "}, "finish_reason": None}]}
        until = time.monotonic() + STREAM_SECONDS
        while time.monotonic() < until and not self.finish.is_set():
            writer.write(f"data: {json.dumps(event)}\n\n".encode())
            await asyncio.sleep(0.02)
        writer.write(b"data: [DONE]\n\n")
        writer.close()


@pytest.fixture
def upstream() -> Iterator[EndlessUpstream]:
    with EndlessUpstream() as upstream:
        yield upstream


@pytest.fixture
def server(
    tmp_path: Path, upstream: EndlessUpstream, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[ServerApp, str]]:
    monkeypatch.setattr(auth, "KEY_CACHE_SECONDS", CHECK_SECONDS)
    with open_server_app(tmp_path, upstream=f"http://127.0.0.1:{upstream.port}/v1") as app:
        running = AsgiServer(app.app)
        running._server.config.http = protocol_class(Options())
        with running:
            yield app, running.url


@contextmanager
def start_chat(url: str, key: str) -> Iterator[http.client.HTTPResponse]:
    connection = http.client.HTTPConnection("127.0.0.1", urlsplit(url).port or 0, timeout=20)
    chat: dict[str, Any] = {
        "model": "m",
        "stream": True,
        "messages": [{"role": "user", "content": "I live in Lyon."}],
    }
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    connection.request("POST", "/v1/chat/completions", json.dumps(chat), headers)
    response = connection.getresponse()
    assert response.status == 200
    try:
        assert response.readline().startswith(b"data:")
        yield response
    finally:
        response.close()
        connection.close()


def turns(app: ServerApp) -> list[str]:
    return [turn.response for turn in app.services.memories.for_tenant("acme").turns()]


def test_stream_of_a_revoked_key_ends_and_nothing_is_stored(server: tuple[ServerApp, str]) -> None:
    app, url = server
    key = app.key("acme")
    with start_chat(url, key) as response:
        app.services.memories.root.store.revoke_key(parse_key_id(key), utc_now())
        revoked_at = time.monotonic()
        with pytest.raises((http.client.IncompleteRead, ConnectionError)):
            response.read()
    assert time.monotonic() - revoked_at < STREAM_SECONDS / 2
    time.sleep(0.3)
    assert turns(app) == []


def test_answer_that_ends_just_after_the_revocation_is_not_stored(
    server: tuple[ServerApp, str], upstream: EndlessUpstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(auth, "KEY_CACHE_SECONDS", STREAM_SECONDS)  # the running request is not checked
    app, url = server
    key = app.key("acme")
    with start_chat(url, key) as response:
        app.services.memories.root.store.revoke_key(parse_key_id(key), utc_now())
        upstream.end_stream()
        assert b"[DONE]" in response.read()
    assert turns(app) == []


def test_stream_of_a_valid_key_is_stored(server: tuple[ServerApp, str], upstream: EndlessUpstream) -> None:
    app, url = server
    with start_chat(url, app.key("acme")) as response:
        time.sleep(3 * CHECK_SECONDS)
        upstream.end_stream()
        assert b"[DONE]" in response.read()
    (answer,) = turns(app)
    assert answer.startswith("word word")
