"""How much one caller may ask for: bytes, depth of JSON, requests a second and at once; in bounded memory."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
from starlette.types import Receive

from thinkback.server.errors import RequestRefused, busy

MAX_RATE_BUCKETS = 8192  # callers whose rate is remembered; the ones longest silent are forgotten
MAX_BUFFERED_BYTES = 256 << 20  # bodies of all requests in hand

_NOT_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_DEPTH_CHANGE = np.zeros(256, np.int32)
_DEPTH_CHANGE[list(b"[{")] = 1
_DEPTH_CHANGE[list(b"]}")] = -1


class IncompleteRequest(Exception):
    """The client went away before its request had arrived."""


class RateLimiter:
    """Token buckets, one a caller: a second's worth at once, then as many a second."""

    def __init__(self, rate: float, clock: Callable[[], float]) -> None:
        self._rate = rate
        self._most = max(1.0, rate)
        self._clock = clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def acquire(self, who: str) -> None:
        """One request; refused with the time to wait when there are too many."""
        if not self._rate:
            return
        now = self._clock()
        left, then = self._buckets.pop(who, (self._most, now))
        left = min(self._most, left + (now - then) * self._rate)
        self._buckets[who] = (left - 1 if left >= 1 else left, now)
        if len(self._buckets) > MAX_RATE_BUCKETS:
            self._buckets.popitem(last=False)
        if left < 1:
            raise too_many_requests("too many requests a second", (1 - left) / self._rate)


class ConcurrencyLimiter:
    """Requests at once, counted for each caller that has any."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._counts: dict[str, int] = {}

    @contextmanager
    def slot(self, who: str) -> Iterator[None]:
        count = self._counts.get(who, 0)
        if self._most and count >= self._most:
            raise too_many_requests(f"more than {self._most} requests at once", 1.0)
        self._counts[who] = count + 1
        try:
            yield
        finally:
            left = self._counts[who] - 1
            if left:
                self._counts[who] = left
            else:
                del self._counts[who]


def too_many_requests(message: str, wait_s: float) -> RequestRefused:
    return RequestRefused(429, message, "rate_limited", {"Retry-After": str(max(1, int(wait_s + 0.999)))})


class JsonDepthCounter:
    """How deep JSON nests, exactly, piece by piece as it arrives and at the speed of `bytes`' own methods.

    Never less than a parser would go: what is no JSON any more may be counted as deeper.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._depth = 0
        self._in_string = False
        self._backslash = b""

    def feed(self, piece: bytes) -> bool:
        """Whether it is still within the limit."""
        if self._backslash or b"\\" in piece:
            piece = (self._backslash + piece).replace(b"\\\\", b"")
            self._backslash = b"\\" if piece.endswith(b"\\") else b""
            piece = piece.replace(b'\\"', b"")
        runs = piece.split(b'"')
        outside = b"".join(runs[self._in_string :: 2]).translate(None, _NOT_BRACKETS)
        self._in_string ^= len(runs) % 2 == 0
        if not outside:
            return True
        depths = self._depth + np.cumsum(_DEPTH_CHANGE[np.frombuffer(outside, np.uint8)])
        depths -= np.minimum.accumulate(np.minimum(depths, 0))  # a bracket too many closes nothing
        self._depth = int(depths[-1])
        return int(depths.max()) <= self._most


class BodyReader:
    """Reads requests whole before a room sees them: every room needs all of its JSON anyway.

    Each body is taken for JSON whatever its label says: the client writes the label, and rooms parse.
    """

    def __init__(self, most: int, depth: int, seconds: float, held: int = MAX_BUFFERED_BYTES) -> None:
        self._most = most
        self._depth = depth
        self._seconds = seconds
        self._most_held = held
        self._held = 0

    async def read(self, receive: Receive, length: int) -> bytes:
        """The whole body, refused once it is too large, too deep, too slow or no text; to be released."""
        self._check(length)
        pieces: list[bytes] = []
        try:
            async with asyncio.timeout(self._seconds):
                await self._receive(receive, pieces)
        except BaseException as error:
            self._held -= sum(map(len, pieces))
            if not isinstance(error, TimeoutError):
                raise
            message = f"the request had not arrived after {self._seconds:g} seconds"
            raise RequestRefused(408, message, "too_slow", {"Connection": "close"}) from None
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def release(self, body: bytes) -> None:
        self._held -= len(body)

    async def _receive(self, receive: Receive, pieces: list[bytes]) -> None:
        size = 0
        depth = JsonDepthCounter(self._depth)
        more = True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise IncompleteRequest
            piece = message.get("body", b"")
            more = message.get("more_body", False)
            size += len(piece)
            self._check(size)
            if self._held + len(piece) > self._most_held:
                raise busy("the requests in hand are too large together: try again in a moment")
            whole = not more and not pieces
            pieces.append(piece)
            self._held += len(piece)
            if b"\0" in piece:
                # UTF-16 and UTF-32 too: Python's parser would take them, and `Depth` cannot see through them
                raise RequestRefused(400, "a request is JSON in UTF-8", "not_utf8")
            shallow = whole and piece.count(b"[") + piece.count(b"{") <= self._depth
            if not shallow and not depth.feed(piece):
                raise RequestRefused(400, f"JSON may nest {self._depth} deep", "too_deep")

    def _check(self, size: int) -> None:
        if size > self._most:
            raise RequestRefused(413, f"a request may have {self._most} bytes", "too_large")
