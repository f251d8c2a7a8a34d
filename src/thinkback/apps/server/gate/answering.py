"""How a response leaves: with the headers every response has, and only while the client reads."""

from __future__ import annotations

import asyncio
import re
import secrets
from typing import Any, Protocol

from starlette.types import Message, Send

_REQUEST_ID = re.compile(rb"[!-~]{1,64}")
_EXPOSED = (
    b"X-Request-Id, Retry-After, Mcp-Session-Id, X-Thinkback-Memory, X-Thinkback-Recalled, X-Thinkback-Turn"
)
_EVERY = ((b"x-content-type-options", b"nosniff"), (b"cache-control", b"no-store"))


NOTICE_S = 0.5  # for a room to notice by itself that the client has gone


class Stalled(ConnectionError):
    """The client has stopped reading; the response ends here."""


class Connection(Protocol):
    """What `protocol` tells of a client, so that only who does not read costs a timer."""

    @property
    def full(self) -> bool:
        """Whether what was sent waits to be read."""
        ...

    def cut(self) -> None:
        """End it now, with whatever has not been read."""
        ...


class Answer:
    """`send` for the rooms. What a room says of caching or of its request's id stays."""

    def __init__(self, send: Send, state: dict[str, Any], stall_s: float) -> None:
        self._send = send
        self._connection: Connection | None = state.get("connection")
        self._stall_s = stall_s
        self._request_id: str = state["request_id"]
        self.vary = False  # by origin
        self.origin: str | None = None  # of the page that is to be answered
        self.started = False
        self.stalled = False

    async def __call__(self, message: Message) -> None:
        if self.stalled:
            raise Stalled
        if message["type"] == "http.response.start":
            self.started = True
            message = {**message, "headers": self._headers(message.get("headers", ()))}
        if self._connection is not None and not self._connection.full:
            await self._send(message)
        else:
            await self._send_in_time(message)

    async def _send_in_time(self, message: Message) -> None:
        try:
            async with asyncio.timeout(self._stall_s):
                await self._send(message)
            return
        except TimeoutError:
            self.stalled = True
        if self._connection is not None:
            self._connection.cut()
        await asyncio.sleep(NOTICE_S)  # a room that watches for the client's going ends by itself meanwhile
        raise Stalled

    def _headers(self, said: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
        headers = list(said)
        names = {name.lower() for name, _ in headers}
        headers += [header for header in _EVERY if header[0] not in names]
        if b"x-request-id" not in names:
            headers.append((b"x-request-id", self._request_id.encode()))
        if self.vary:
            headers.append((b"vary", b"Origin"))
        if self.origin is not None:
            headers.append((b"access-control-allow-origin", self.origin.encode("latin-1")))
            headers.append((b"access-control-expose-headers", _EXPOSED))
        return headers


def request_id(given: list[bytes] | None) -> str:
    """The client's own if it is short and printable, else a new one."""
    if given and _REQUEST_ID.fullmatch(given[0]):
        return given[0].decode()
    return secrets.token_hex(8)
