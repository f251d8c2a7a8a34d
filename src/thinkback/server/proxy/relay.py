"""Relays an answer byte for byte; its end is held back until the turn is durable.

JSON answers     held completely if short, and sent with the turn's name; if long, all but the last chunk
event streams    each chunk is sent at once, except the one with the end mark
broken answers   all received bytes are sent, then the connection is closed without a clean end, as the
                 upstream did

Also filters the headers in both directions.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import aclosing

from starlette.datastructures import Headers
from starlette.types import Send

from thinkback.api_keys import looks_like_key
from thinkback.server.proxy.answer_capture import AnswerReader, AnswerText, create_reader
from thinkback.server.proxy.upstreams import RawHeaders, UpstreamBroken, UpstreamResponse

FORWARDED_HEADERS = frozenset(
    {
        b"content-type",
        b"content-encoding",
        b"accept",
        b"openai-organization",
        b"openai-project",
        b"openai-beta",
    }
)

_HOP_BY_HOP_HEADERS = frozenset(
    {
        b"connection",
        b"keep-alive",
        b"proxy-authenticate",
        b"proxy-authorization",
        b"proxy-connection",
        b"te",
        b"trailer",
        b"transfer-encoding",
        b"upgrade",
    }
)
_SERVER_HEADERS = frozenset({b"date", b"server", b"set-cookie", b"alt-svc", b"strict-transport-security"})
_DROPPED_HEADERS = _HOP_BY_HOP_HEADERS | _SERVER_HEADERS
_RESERVED_PREFIXES = (b"x-thinkback-", b"access-control-")
"""The upstream must not send headers in our name, or open this server to other web origins."""

MAX_HELD_BYTES = 1 << 20  # of a JSON answer that is held back completely

RememberAnswer = Callable[[AnswerText], Awaitable[dict[str, str]]]
"""Remembers the turn, and returns the response headers that report it."""


def upstream_headers(request_headers: Headers, key: str) -> dict[str, str]:
    """Headers for the upstream.

    A key of this server is never forwarded: the middleware has removed the one it verified, and anything else
    in the format of our keys is dropped here.
    """
    headers: dict[str, str] = {}
    for name, value in request_headers.raw:
        if name in FORWARDED_HEADERS:
            headers.setdefault(name.decode(), value.decode("latin-1"))
    headers["accept-encoding"] = "identity"
    credential = request_headers.get("authorization")
    if key:
        headers["authorization"] = f"Bearer {key}"
    elif credential and not looks_like_key(credential.rpartition(" ")[2]):
        headers["authorization"] = credential
    return headers


def client_headers(headers: RawHeaders) -> RawHeaders:
    """Headers for the client: those of the upstream, except for connection and server headers."""
    lowered = [(name.lower(), value) for name, value in headers]
    connection_headers = {
        token.strip().lower()
        for name, value in lowered
        if name == b"connection"
        for token in value.split(b",")
    }
    dropped = _DROPPED_HEADERS | connection_headers
    return [
        (name, value)
        for name, value in lowered
        if name not in dropped and not name.startswith(_RESERVED_PREFIXES)
    ]


def encode_headers(headers: Mapping[str, str]) -> RawHeaders:
    return [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]


class Relay:
    """Relays one answer. Without `remember_answer` it is passed on without being read."""

    def __init__(
        self,
        answer: UpstreamResponse,
        send: Send,
        extra_headers: dict[str, str],
        remember_answer: RememberAnswer | None,
    ) -> None:
        self._answer = answer
        self._send = send
        self._extra_headers = extra_headers
        self._remember_answer = remember_answer
        self._headers = client_headers(answer.headers)
        self._reader: AnswerReader | None = (
            create_reader(answer.status, dict(self._headers)) if remember_answer else None
        )

    async def run(self) -> None:
        content_type = dict(self._headers).get(b"content-type", b"")
        streamed = self._remember_answer is None or content_type.lower().startswith(b"text/event-stream")
        async with aclosing(self._answer.chunks):  # closes the upstream if it is not read to its end
            await (self._relay_stream() if streamed else self._relay_held())

    async def remember(self, *, whole: bool) -> dict[str, str]:
        """Remember the turn, once, with what was read so far; returns the headers that report it."""
        if self._remember_answer is None or self._reader is None:
            return {}
        remember_answer, self._remember_answer = self._remember_answer, None
        return await remember_answer(self._reader.result(whole))

    async def _relay_stream(self) -> None:
        await self._start({})
        try:
            async for chunk in self._answer.chunks:
                if self._reader is not None and self._reader.feed(chunk):
                    await self.remember(whole=True)
                await self._send_chunk(chunk, more=True)
        except UpstreamBroken:
            await self.remember(whole=False)
            return
        await self.remember(whole=True)
        await self._send_chunk(b"", more=False)

    async def _relay_held(self) -> None:
        held: list[bytes] = []
        size, started = 0, False
        try:
            async for chunk in self._answer.chunks:
                if self._reader is not None:
                    self._reader.feed(chunk)
                held.append(chunk)
                size += len(chunk)
                if size > MAX_HELD_BYTES:
                    if not started:
                        await self._start({})
                        started = True
                    *ready, last = held
                    held = [last]
                    if ready:
                        await self._send_chunk(b"".join(ready), more=True)
        except UpstreamBroken:
            await self._finish(held, started, whole=False)
            return
        await self._finish(held, started, whole=True)

    async def _finish(self, held: list[bytes], started: bool, *, whole: bool) -> None:
        extra_headers = await self.remember(whole=whole)
        if not started:
            await self._start(extra_headers)
        await self._send_chunk(b"".join(held), more=not whole)

    async def _start(self, extra_headers: dict[str, str]) -> None:
        headers = [*self._headers, *encode_headers({**self._extra_headers, **extra_headers})]
        await self._send({"type": "http.response.start", "status": self._answer.status, "headers": headers})

    async def _send_chunk(self, chunk: bytes, *, more: bool) -> None:
        await self._send({"type": "http.response.body", "body": chunk, "more_body": more})
