"""Limits per client: request rate, concurrent requests, body size and JSON depth; all in bounded memory."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
from starlette.types import Receive

from thinkback.server.errors import RequestRefused, busy

MAX_RATE_BUCKETS = 8192  # clients whose rate is tracked; the least recently seen are dropped
MAX_BUFFERED_BYTES = 256 << 20  # bodies of all running requests together

_NOT_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_DEPTH_CHANGE = np.zeros(256, np.int32)
_DEPTH_CHANGE[list(b"[{")] = 1
_DEPTH_CHANGE[list(b"]}")] = -1


class IncompleteRequest(Exception):
    """The client disconnected before its request was complete."""


class RateLimiter:
    """Token bucket per client: a burst of one second's worth of requests, then `rate` per second."""

    def __init__(self, rate: float, clock: Callable[[], float]) -> None:
        self._rate = rate
        self._capacity = max(1.0, rate)
        self._clock = clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    @property
    def rate(self) -> float:
        """Requests per second; 0: no limit."""
        return self._rate

    @property
    def burst(self) -> float:
        """Requests that a client may send at once."""
        return self._capacity

    def acquire(self, client: str) -> None:
        """Count one request; raise `RequestRefused` (429, with Retry-After) if there are too many."""
        if not self._rate:
            return
        now = self._clock()
        tokens, updated_at = self._buckets.pop(client, (self._capacity, now))
        tokens = min(self._capacity, tokens + (now - updated_at) * self._rate)
        self._buckets[client] = (tokens - 1 if tokens >= 1 else tokens, now)
        if len(self._buckets) > MAX_RATE_BUCKETS:
            self._buckets.popitem(last=False)
        if tokens < 1:
            raise too_many_requests("too many requests per second", (1 - tokens) / self._rate)


class ConcurrencyLimiter:
    """Limits the number of concurrent requests per client; `limit` 0 means no limit."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._counts: dict[str, int] = {}

    @property
    def limit(self) -> int:
        return self._limit

    def running(self, client: str) -> int:
        return self._counts.get(client, 0)

    @contextmanager
    def slot(self, client: str) -> Iterator[None]:
        count = self._counts.get(client, 0)
        if self._limit and count >= self._limit:
            raise too_many_requests(f"more than {self._limit} concurrent requests", 1.0)
        self._counts[client] = count + 1
        try:
            yield
        finally:
            remaining = self._counts[client] - 1
            if remaining:
                self._counts[client] = remaining
            else:
                del self._counts[client]


def too_many_requests(message: str, wait_seconds: float) -> RequestRefused:
    retry_after = str(max(1, int(wait_seconds + 0.999)))
    return RequestRefused(429, message, "rate_limited", {"Retry-After": retry_after})


class JsonDepthCounter:
    """Measures the nesting depth of JSON that arrives in chunks, without parsing it.

    Exact for valid JSON; for invalid JSON the result may be too high, but never too low.
    """

    def __init__(self, max_depth: int) -> None:
        self._max_depth = max_depth
        self._depth = 0
        self._in_string = False
        self._backslash = b""

    def feed(self, chunk: bytes) -> bool:
        """Add a chunk; returns whether the depth is still within the limit."""
        if self._backslash or b"\\" in chunk:
            chunk = (self._backslash + chunk).replace(b"\\\\", b"")
            self._backslash = b"\\" if chunk.endswith(b"\\") else b""
            chunk = chunk.replace(b'\\"', b"")
        parts = chunk.split(b'"')
        brackets = b"".join(parts[self._in_string :: 2]).translate(None, _NOT_BRACKETS)
        self._in_string ^= len(parts) % 2 == 0
        if not brackets:
            return True
        depths = self._depth + np.cumsum(_DEPTH_CHANGE[np.frombuffer(brackets, np.uint8)])
        depths -= np.minimum.accumulate(np.minimum(depths, 0))  # surplus closing brackets count as zero
        self._depth = int(depths[-1])
        return int(depths.max()) <= self._max_depth


class BodyReader:
    """Reads whole request bodies before a route sees them, within limits of size, depth and time.

    Every body is treated as JSON, whatever its Content-Type: the client chooses the type, and routes parse.
    """

    def __init__(
        self, max_bytes: int, max_depth: int, seconds: float, max_buffered: int = MAX_BUFFERED_BYTES
    ) -> None:
        self._max_bytes = max_bytes
        self._max_depth = max_depth
        self._seconds = seconds
        self._max_buffered = max_buffered
        self._buffered = 0

    async def read(self, receive: Receive, length: int) -> bytes:
        """Return the whole body; the caller passes it to `release` afterwards.

        `length` is the declared Content-Length (0 if unknown). Raises `RequestRefused` as soon as the body is
        too large, too deep, too slow or not UTF-8.
        """
        self._check_size(length)
        chunks: list[bytes] = []
        try:
            async with asyncio.timeout(self._seconds):
                await self._receive(receive, chunks)
        except BaseException as error:
            self._buffered -= sum(map(len, chunks))
            if not isinstance(error, TimeoutError):
                raise
            message = f"the request was not complete after {self._seconds:g} seconds"
            raise RequestRefused(408, message, "too_slow", {"Connection": "close"}) from None
        return chunks[0] if len(chunks) == 1 else b"".join(chunks)

    def release(self, body: bytes) -> None:
        self._buffered -= len(body)

    async def _receive(self, receive: Receive, chunks: list[bytes]) -> None:
        size = 0
        depth = JsonDepthCounter(self._max_depth)
        more = True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise IncompleteRequest
            chunk = message.get("body", b"")
            more = message.get("more_body", False)
            size += len(chunk)
            self._check_size(size)
            if self._buffered + len(chunk) > self._max_buffered:
                raise busy("the running requests are too large together: try again in a moment")
            single_chunk = not more and not chunks
            chunks.append(chunk)
            self._buffered += len(chunk)
            if b"\0" in chunk:
                # Also UTF-16 and UTF-32, which Python's parser accepts but the depth counter cannot read.
                raise RequestRefused(400, "send JSON in UTF-8", "not_utf8")
            # Fewer brackets than the limit in a single chunk: no need to count.
            shallow = single_chunk and chunk.count(b"[") + chunk.count(b"{") <= self._max_depth
            if not shallow and not depth.feed(chunk):
                raise RequestRefused(400, f"JSON may be nested at most {self._max_depth} deep", "too_deep")

    def _check_size(self, size: int) -> None:
        if size > self._max_bytes:
            raise RequestRefused(413, f"a request may have at most {self._max_bytes} bytes", "too_large")
