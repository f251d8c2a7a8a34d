"""uvicorn as this server runs it: time limits for slow clients, header limits, and a clean shutdown."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from thinkback.server.options import Options

MAX_HEAD_BYTES = 64 << 10
MAX_HEADERS = 128
ACCEPT_BACKLOG = 1024
KEEP_ALIVE_SECONDS = 30

_TIMED_OUT = b"HTTP/1.1 408 Request Timeout\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
_TOO_LONG = b"HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"


class HeadTooLong(Exception):
    """A request's head has too many headers, or too long ones."""


def uvicorn_config(options: Options, app: ASGIApp) -> uvicorn.Config:
    """uvicorn's settings. Nobody's X-Forwarded-* is believed; paths are not logged: they may tell content."""
    return uvicorn.Config(
        app,
        host=options.host,
        port=options.port,
        http=protocol_class(options),
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        date_header=True,
        backlog=ACCEPT_BACKLOG,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=max(1, round(options.grace_seconds)),
    )


def protocol_class(options: Options) -> type[HttpToolsProtocol]:
    """The protocol with this server's times: uvicorn makes one for each connection and gives it none."""

    class Timed(TimedHttpProtocol):
        request_s = options.request_timeout_seconds
        stall_s = options.stall_timeout_seconds

    return Timed


class TimedHttpProtocol(HttpToolsProtocol):
    """One connection. The gate answers a late body and cuts a stream nobody reads; the rest is cut here."""

    request_timeout_seconds: float
    stall_timeout_seconds: float

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
        self._cancel_timer("_deadline")
        self._cancel_timer("_lingering")
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._receiving and not self._has_head:
            self._head_bytes += len(data)
            if self._head_bytes > MAX_HEAD_BYTES:
                self._refuse(_TOO_LONG)
        if self._deadline is None and (self._receiving or self._is_idle()):
            self._await_request()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._receiving, self._has_head, self._head_bytes, self._late = True, False, 0, False
        self.scope["state"]["connection"] = self

    def on_headers_complete(self) -> None:
        if len(self.headers) > MAX_HEADERS or len(self.url) > MAX_HEAD_BYTES:
            raise HeadTooLong
        self._has_head = True
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._receiving = False
        self._cancel_timer("_deadline")
        super().on_message_complete()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._cancel_timer("_lingering")
        if self.transport.get_write_buffer_size():
            self._lingering = self.loop.call_later(self.stall_timeout_seconds, self._abort_if_unread)

    @property
    def write_blocked(self) -> bool:
        """Whether what was sent waits to be read."""
        return self.flow.write_paused

    def abort(self) -> None:
        """End the connection now, with whatever has not been read."""
        self.transport.abort()

    def _is_idle(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    def _await_request(self) -> None:
        self._deadline = self.loop.call_later(self.request_timeout_seconds, self._on_deadline)

    def _on_deadline(self) -> None:
        """No request, or no whole one, though its time is over."""
        if self.pipeline:  # it waits for the one before, and is not read until then
            self._await_request()
        elif self._receiving and self._has_head and not self._late:  # the gate has the same time for the body
            self._late = True
            self._await_request()
        elif self._receiving and not self._has_head and self._is_idle():
            self._refuse(_TIMED_OUT)
        else:
            self.abort()

    def _refuse(self, response: bytes) -> None:
        """Nothing more is read; what is not taken of the response in time is dropped."""
        if self.transport.is_closing() or not self._is_idle():
            self.abort()
            return
        self.transport.write(response)
        self.transport.close()
        self._lingering = self.loop.call_later(self.stall_timeout_seconds, self.abort)

    def _abort_if_unread(self) -> None:
        if self.transport.get_write_buffer_size():
            self.abort()

    def _cancel_timer(self, timer: Literal["_deadline", "_lingering"]) -> None:
        handle = getattr(self, timer)
        if handle is not None:
            handle.cancel()
            setattr(self, timer, None)


class Server(uvicorn.Server):
    """Ends after what is in hand when `stop` is called, from any thread or by SIGTERM."""

    def __init__(self, config: uvicorn.Config, stopping: threading.Event) -> None:
        super().__init__(config)
        self._stopping = stopping

    def stop(self) -> None:
        self._stopping.set()
        self.should_exit = True

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """uvicorn raises a signal again once it has ended, which would turn a good end into a death by it."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        wanted = [signal.SIGTERM]
        if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:  # else the supervisor hears it
            wanted.append(signal.SIGINT)
        before = {number: signal.signal(number, self._on_signal) for number in wanted}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _on_signal(self, number: int, frame: object) -> None:
        self.force_exit = self.should_exit  # the second time, at once
        self.stop()
