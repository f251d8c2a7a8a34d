"""HTTP as this server speaks it: who does not send in time, or does not read, loses the connection.

uvicorn has no such limits. Its parser refuses odd framing (two lengths, a length and chunks) with 400.
"""

from __future__ import annotations

import asyncio
from typing import Literal

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from thinkback.apps.server.options import Options

HEAD_BYTES = 64 << 10
HEADERS = 128
BACKLOG = 1024
KEEP_ALIVE_S = 30

_TIMED_OUT = b"HTTP/1.1 408 Request Timeout\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
_TOO_LONG = b"HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"


class HeadTooLong(Exception):
    """A request's head has too many headers, or too long ones."""


def config(options: Options, app: ASGIApp) -> uvicorn.Config:
    """uvicorn's settings. Nobody's X-Forwarded-* is believed; paths are not logged: they may tell content."""
    return uvicorn.Config(
        app,
        host=options.host,
        port=options.port,
        http=protocol(options),
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        date_header=True,
        backlog=BACKLOG,
        timeout_keep_alive=KEEP_ALIVE_S,
        timeout_graceful_shutdown=max(1, round(options.grace_s)),
    )


def protocol(options: Options) -> type[HttpToolsProtocol]:
    """The protocol with this server's times: uvicorn makes one for each connection and gives it none."""

    class Timed(Protocol):
        request_s = options.request_s
        stall_s = options.stall_s

    return Timed


class Protocol(HttpToolsProtocol):
    """One connection. The gate answers a late body and cuts a stream nobody reads; the rest is cut here."""

    request_s: float
    stall_s: float

    _deadline: asyncio.TimerHandle | None = None  # of the request that is awaited or arriving
    _lingering: asyncio.TimerHandle | None = None  # of a whole response that waits to be read
    _receiving = False  # a request has begun and has not ended
    _has_head = False
    _head_bytes = 0
    _late = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._await_request()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop("_deadline")
        self._stop("_lingering")
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._receiving and not self._has_head:
            self._head_bytes += len(data)
            if self._head_bytes > HEAD_BYTES:
                self._refuse(_TOO_LONG)
        if self._deadline is None and (self._receiving or self._is_idle()):
            self._await_request()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._receiving, self._has_head, self._head_bytes, self._late = True, False, 0, False
        self.scope["state"]["connection"] = self

    def on_headers_complete(self) -> None:
        if len(self.headers) > HEADERS or len(self.url) > HEAD_BYTES:
            raise HeadTooLong
        self._has_head = True
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._receiving = False
        self._stop("_deadline")
        super().on_message_complete()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._stop("_lingering")
        if self.transport.get_write_buffer_size():
            self._lingering = self.loop.call_later(self.stall_s, self._cut_if_unread)

    @property
    def full(self) -> bool:
        """Whether what was sent waits to be read."""
        return self.flow.write_paused

    def cut(self) -> None:
        """End the connection now, with whatever has not been read."""
        self.transport.abort()

    def _is_idle(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    def _await_request(self) -> None:
        self._deadline = self.loop.call_later(self.request_s, self._too_late)

    def _too_late(self) -> None:
        """No request, or no whole one, though its time is over."""
        if self.pipeline:  # it waits for the one before, and is not read until then
            self._await_request()
        elif self._receiving and self._has_head and not self._late:  # the gate has the same time for the body
            self._late = True
            self._await_request()
        elif self._receiving and not self._has_head and self._is_idle():
            self._refuse(_TIMED_OUT)
        else:
            self.cut()

    def _refuse(self, response: bytes) -> None:
        """Nothing more is read; what is not taken of the response in time is dropped."""
        if self.transport.is_closing() or not self._is_idle():
            self.cut()
            return
        self.transport.write(response)
        self.transport.close()
        self._lingering = self.loop.call_later(self.stall_s, self.cut)

    def _cut_if_unread(self) -> None:
        if self.transport.get_write_buffer_size():
            self.cut()

    def _stop(self, timer: Literal["_deadline", "_lingering"]) -> None:
        handle = getattr(self, timer)
        if handle is not None:
            handle.cancel()
            setattr(self, timer, None)
