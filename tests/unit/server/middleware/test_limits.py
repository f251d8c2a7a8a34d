"""Limits hold, in bounded memory and linear time."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Awaitable, Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from starlette.types import Message
from tests import timing

from thinkback.server.errors import RequestRefused
from thinkback.server.middleware import limits
from thinkback.server.middleware.limits import (
    BodyReader,
    ConcurrencyLimiter,
    IncompleteRequest,
    JsonDepthCounter,
    RateLimiter,
)

Receive = Callable[[], Awaitable[Message]]


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def arriving(*pieces: bytes, gone: bool = False) -> Receive:
    left = list(pieces)

    async def receive() -> Message:
        if not left:
            if gone:
                return {"type": "http.disconnect"}
            await asyncio.Event().wait()
        return {"type": "http.request", "body": left.pop(0), "more_body": bool(left) or gone}

    return receive


def read(bodies: BodyReader, receive: Receive, length: int = 0) -> bytes:
    return asyncio.run(bodies.read(receive, length))


def bodies(most: int = 1000, depth: int = 4, seconds: float = 5.0, held: int = 10_000) -> BodyReader:
    return BodyReader(most, depth, seconds, held)


# --- rate ---


def test_rate_allows_one_second_burst_then_rate() -> None:
    clock = Clock()
    rates = RateLimiter(4.0, clock)
    for _ in range(4):
        rates.acquire("a")
    with pytest.raises(RequestRefused) as refused:
        rates.acquire("a")
    assert (refused.value.status, refused.value.headers) == (429, {"Retry-After": "1"})
    rates.acquire("b")
    clock.now += 0.25
    rates.acquire("a")
    with pytest.raises(RequestRefused):
        rates.acquire("a")


def test_slow_rate_reports_retry_after() -> None:
    rates = RateLimiter(0.1, Clock())
    rates.acquire("a")
    with pytest.raises(RequestRefused) as refused:
        rates.acquire("a")
    assert refused.value.headers["Retry-After"] == "10"


def test_refused_requests_do_not_extend_the_wait() -> None:
    clock = Clock()
    rates = RateLimiter(1.0, clock)
    rates.acquire("a")
    for _ in range(9):
        clock.now += 0.1
        with pytest.raises(RequestRefused):
            rates.acquire("a")
    clock.now += 0.11
    rates.acquire("a")


def test_zero_rate_is_unlimited() -> None:
    rates = RateLimiter(0.0, Clock())
    for _ in range(1000):
        rates.acquire("a")


def test_rate_limiter_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_RATE_BUCKETS", 10)
    rates = RateLimiter(1.0, Clock())
    for number in range(100):
        rates.acquire(str(number))
    assert len(rates._buckets) == 10


# --- at once ---


def test_concurrency_limit_per_client() -> None:
    limiter = ConcurrencyLimiter(2)
    with limiter.slot("a"), limiter.slot("b"):
        with limiter.slot("a"), pytest.raises(RequestRefused) as refused, limiter.slot("a"):
            pass
        assert refused.value.status == 429
        with limiter.slot("a"):
            pass
    assert limiter._counts == {}


def test_failed_request_frees_its_slot() -> None:
    limiter = ConcurrencyLimiter(1)
    for _ in range(3):
        with pytest.raises(ZeroDivisionError), limiter.slot("a"):
            raise ZeroDivisionError


# --- depth ---

jsons = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(alphabet='[]{}"\\ab\u2200é\n', max_size=12),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text('[{"\\x', max_size=4), inner, max_size=4)
    ),
    max_leaves=25,
)


def depth_of(value: object) -> int:
    if isinstance(value, list):
        return 1 + max(map(depth_of, value), default=0)
    if isinstance(value, dict):
        return 1 + max(map(depth_of, value.values()), default=0)
    return 0


@settings(max_examples=300, deadline=None)
@given(jsons, st.booleans(), st.lists(st.integers(0, 200), max_size=6))
def test_depth_is_independent_of_chunks(value: object, ascii_: bool, cuts: list[int]) -> None:
    data = json.dumps(value, ensure_ascii=ascii_).encode()
    edges = sorted({0, len(data), *(min(cut, len(data)) for cut in cuts)})
    pieces = [data[a:b] for a, b in itertools.pairwise(edges)]
    true = depth_of(value)
    enough = JsonDepthCounter(true)
    assert all(enough.feed(piece) for piece in pieces)
    if true:
        one_less = JsonDepthCounter(true - 1)
        assert not all(one_less.feed(piece) for piece in pieces)


@given(st.lists(st.integers(0, 7), max_size=40))
def test_depth_with_single_byte_chunks(choices: list[int]) -> None:
    data = b"".join((b'"', b"\\", b"[", b"]", b"{", b"}", b"x", b'\\"')[choice] for choice in choices)
    whole, cut = JsonDepthCounter(10**6), JsonDepthCounter(10**6)
    whole.feed(data)
    for byte in data:
        cut.feed(bytes([byte]))
    assert (whole._depth, whole._in_string, whole._backslash) == (cut._depth, cut._in_string, cut._backslash)


def test_surplus_closing_brackets_do_not_lower_depth() -> None:
    assert not JsonDepthCounter(3).feed(b"]]]]]]\n[[[[")
    scan = JsonDepthCounter(3)
    assert scan.feed(b"]]]]]]")
    assert not scan.feed(b"[[[[")


@pytest.mark.parametrize("unit", [b"[", b"[]", b'"', b'\\"', b"\\", b'{"a":', b'"[[[[",', b"]"])
def test_depth_takes_linear_time(unit: bytes) -> None:
    data = unit * 400_000
    assert (
        timing.time_growth(lambda size: JsonDepthCounter(10**9).feed(data[:size]), len(data))
        < timing.MAX_LINEAR_GROWTH
    )


# --- bodies ---


def test_body_is_read_completely() -> None:
    assert read(bodies(), arriving(b'{"a":', b" [1]", b"}"), 10) == b'{"a": [1]}'


def test_single_chunk_body_is_not_copied() -> None:
    piece = b'{"a": 1}'
    assert read(bodies(), arriving(piece)) is piece


@pytest.mark.parametrize(
    ("receive", "length", "status", "code"),
    [
        (arriving(), 1001, 413, "too_large"),
        (arriving(b"x" * 600, b"x" * 600, b"x"), 0, 413, "too_large"),
        (arriving(b"[[[[[]]]]]"), 0, 400, "too_deep"),
        (arriving(b"[[[", b"[[", b"]]]]]"), 0, 400, "too_deep"),
        (arriving("[1]".encode("utf-16")), 0, 400, "not_utf8"),
    ],
)
def test_invalid_body_is_refused(receive: Receive, length: int, status: int, code: str) -> None:
    limited = bodies()
    with pytest.raises(RequestRefused) as refused:
        read(limited, receive, length)
    assert (refused.value.status, refused.value.code) == (status, code)
    assert limited._buffered == 0


def test_many_brackets_without_depth_are_accepted() -> None:
    body = json.dumps([[["[[[[[["]]] * 50).encode()
    assert read(bodies(depth=4), arriving(body)) == body


def test_late_body_is_refused() -> None:
    limited = bodies(seconds=0.02)

    async def receive() -> Message:
        await asyncio.sleep(0.005)
        return {"type": "http.request", "body": b"x", "more_body": True}

    with pytest.raises(RequestRefused) as refused:
        read(limited, receive)
    assert (refused.value.status, refused.value.headers["Connection"]) == (408, "close")
    assert limited._buffered == 0


def test_client_disconnect_while_reading_body() -> None:
    limited = bodies()
    with pytest.raises(IncompleteRequest):
        read(limited, arriving(b"x", gone=True))
    assert limited._buffered == 0


def test_total_buffered_bytes_are_bounded() -> None:
    limited = bodies(most=1000, held=1500)
    first = read(limited, arriving(b"x" * 1000))
    with pytest.raises(RequestRefused) as refused:
        read(limited, arriving(b"x" * 1000))
    assert refused.value.status == 503
    limited.release(first)
    assert len(read(limited, arriving(b"x" * 1000))) == 1000
