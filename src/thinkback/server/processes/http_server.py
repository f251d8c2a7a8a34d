"""uvicorn as this server runs it: time limits for slow clients, header limits, and a clean shutdown.

uvicorn itself has no such limits. Its parser already refuses ambiguous framing (two lengths, or a length and
chunks) with 400.
"""

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

from thinkback.server.services import Options

MAX_HEAD_BYTES = 64 << 10
MAX_HEADERS = 128
ACCEPT_BACKLOG = 1024
KEEP_ALIVE_SECONDS = 30

_TIMED_OUT = b"HTTP/1.1 408 Request Timeout\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
_TOO_LONG = b"HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"


class HeadTooLong(Exception):
    """A request has too many headers, or they are too long."""


def uvicorn_config(options: Options, app: ASGIApp) -> uvicorn.Config:
    """uvicorn's configuration. X-Forwarded-* is ignored; paths are not logged, they may contain content."""
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
    """The protocol class with this server's timeouts; uvicorn creates an instance per connection."""

    class Timed(TimedHttpProtocol):
        request_timeout_seconds = options.request_timeout_seconds
        stall_timeout_seconds = options.stall_timeout_seconds

    return Timed


class TimedHttpProtocol(HttpToolsProtocol):
    """One connection, with timeouts.

    The security middleware answers late bodies and aborts responses that nobody reads; this class handles
    idle connections, late headers, and complete responses that stay unread.
    """

    request_timeout_seconds: float
    stall_timeout_seconds: float

    _deadline: asyncio.TimerHandle | None = None  # for the next request to be complete
    _unread_timer: asyncio.TimerHandle | None = None  # for a complete response to be read
    _receiving = False  # a request has started and is not complete
    _has_head = False
    _head_bytes = 0
    _body_overdue = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._await_request()

    def connection_lost(self, exc: Exception | None) -> None:
        self._cancel_timer("_deadline")
        self._cancel_timer("_unread_timer")
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
        self._receiving, self._has_head, self._head_bytes, self._body_overdue = True, False, 0, False
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
        self._cancel_timer("_unread_timer")
        if self.transport.get_write_buffer_size():
            self._unread_timer = self.loop.call_later(self.stall_timeout_seconds, self._abort_if_unread)

    @property
    def write_blocked(self) -> bool:
        """Whether data that was sent has not been read by the client."""
        return self.flow.write_paused

    def abort(self) -> None:
        """Close the connection now and drop unread data."""
        self.transport.abort()

    def _is_idle(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    def _await_request(self) -> None:
        self._deadline = self.loop.call_later(self.request_timeout_seconds, self._on_deadline)

    def _on_deadline(self) -> None:
        """The time for a complete request is over."""
        if self.pipeline:  # a pipelined request is not read until the one before it is answered
            self._await_request()
        elif self._receiving and self._has_head and not self._body_overdue:
            # The security middleware has the same timeout for the body, and answers with 408.
            self._body_overdue = True
            self._await_request()
        elif self._receiving and not self._has_head and self._is_idle():
            self._refuse(_TIMED_OUT)
        else:
            self.abort()

    def _refuse(self, response: bytes) -> None:
        """Send an error response, stop reading, and close the connection even if it is not read."""
        if self.transport.is_closing() or not self._is_idle():
            self.abort()
            return
        self.transport.write(response)
        self.transport.close()
        self._unread_timer = self.loop.call_later(self.stall_timeout_seconds, self.abort)

    def _abort_if_unread(self) -> None:
        if self.transport.get_write_buffer_size():
            self.abort()

    def _cancel_timer(self, timer: Literal["_deadline", "_unread_timer"]) -> None:
        handle = getattr(self, timer)
        if handle is not None:
            handle.cancel()
            setattr(self, timer, None)


class Server(uvicorn.Server):
    """A uvicorn server that finishes running requests after `stop` (from any thread) or SIGTERM."""

    def __init__(self, config: uvicorn.Config, stopping: threading.Event) -> None:
        super().__init__(config)
        self._stopping = stopping

    def stop(self) -> None:
        self._stopping.set()
        self.should_exit = True

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Handle signals here: uvicorn would raise them again at its end, which falsifies the exit code."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        wanted = [signal.SIGTERM]
        if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:  # otherwise the supervisor handles it
            wanted.append(signal.SIGINT)
        before = {number: signal.signal(number, self._on_signal) for number in wanted}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _on_signal(self, number: int, frame: object) -> None:
        self.force_exit = self.should_exit  # a second signal ends it at once
        self.stop()
