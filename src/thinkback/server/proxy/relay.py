"""Relays an answer byte for byte and filters headers in both directions; the last bytes are held back until the turn is durable."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import aclosing

from starlette.datastructures import Headers as Given
from starlette.types import Send

from thinkback.api_keys import looks_like_key
from thinkback.server.proxy.answer_reader import AnswerReader, AnswerText, create_reader
from thinkback.server.proxy.upstreams import RawHeaders, UpstreamBroken, UpstreamResponse

FORWARDED_HEADERS = (
    "content-type",
    "content-encoding",
    "accept",
    "openai-organization",
    "openai-project",
    "openai-beta",
)

_HOP_BY_HOP_HEADERS = {
    *(b"connection", b"keep-alive", b"proxy-authenticate", b"proxy-authorization", b"proxy-connection"),
    *(b"te", b"trailer", b"transfer-encoding", b"upgrade"),
}
_SERVER_HEADERS = {b"date", b"server", b"set-cookie", b"alt-svc", b"strict-transport-security"}
_RESERVED_PREFIXES = (b"x-thinkback-", b"access-control-")
"""The upstream cannot speak in our name, nor open this server to other pages."""


def upstream_headers(given: Given, key: str) -> dict[str, str]:
    """What the upstream is told. A key of this server never leaves it: the gate took the one it was shown,
    and whatever else has the form of one stays here."""
    headers = {name: given[name] for name in FORWARDED_HEADERS if name in given}
    headers["accept-encoding"] = "identity"
    if key:
        headers["authorization"] = f"Bearer {key}"
    elif (credential := given.get("authorization")) and not looks_like_key(credential.rpartition(" ")[2]):
        headers["authorization"] = credential
    return headers


def client_headers(headers: RawHeaders) -> RawHeaders:
    """What the client is told of what the upstream says."""
    each = [(name.lower(), value) for name, value in headers]
    named = {
        token.strip().lower() for name, value in each if name == b"connection" for token in value.split(b",")
    }
    dropped = _HOP_BY_HOP_HEADERS | _SERVER_HEADERS | named
    return [
        (name, value)
        for name, value in each
        if name not in dropped and not name.startswith(_RESERVED_PREFIXES)
    ]


def encode_headers(headers: Mapping[str, str]) -> RawHeaders:
    return [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]


MAX_HELD_BYTES = 1 << 20  # bytes of a plain answer that may wait for their turn

RememberAnswer = Callable[[AnswerText], Awaitable[dict[str, str]]]
"""Remembers the turn, and gives the headers that tell what became of it."""


class Relay:
    def __init__(
        self, answer: UpstreamResponse, send: Send, told: dict[str, str], keep: RememberAnswer | None
    ) -> None:
        self._answer = answer
        self._send = send
        self._extra_headers = told  # the headers we add
        self._keep = keep
        self._headers = client_headers(answer.headers)
        self._reading: AnswerReader | None = (
            create_reader(answer.status, dict(self._headers)) if keep else None
        )

    async def run(self) -> None:
        kind = dict(self._headers).get(b"content-type", b"")
        at_once = self._keep is None or kind.lower().startswith(b"text/event-stream")
        async with aclosing(self._answer.chunks):  # an upstream that is not read to its end is let go
            await (self._relay_stream() if at_once else self._relay_held())

    async def remember(self, *, whole: bool) -> dict[str, str]:
        """The turn is remembered, once, with what was read so far."""
        if self._keep is None or self._reading is None:
            return {}
        keep, self._keep = self._keep, None
        return await keep(self._reading.result(whole))

    async def _relay_stream(self) -> None:
        await self._start({})
        try:
            async for chunk in self._answer.chunks:
                if self._reading is not None and self._reading.feed(chunk):
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
                if self._reading is not None:
                    self._reading.feed(chunk)
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
        told = await self.remember(whole=whole)
        if not started:
            await self._start(told)
        await self._send_chunk(b"".join(held), more=not whole)

    async def _start(self, told: dict[str, str]) -> None:
        headers = [*self._headers, *encode_headers({**self._extra_headers, **told})]
        await self._send({"type": "http.response.start", "status": self._answer.status, "headers": headers})

    async def _send_chunk(self, chunk: bytes, *, more: bool) -> None:
        await self._send({"type": "http.response.body", "body": chunk, "more_body": more})
