"""The backlog: cached count, and a limit for writes."""

from __future__ import annotations

import pytest

from thinkback.server.errors import RequestRefused, error_response
from thinkback.server.services import COUNT_CACHE_SECONDS, Backlog


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_count_is_cached_for_writes() -> None:
    asked: list[int] = []
    clock = Clock()

    def count() -> int:
        asked.append(1)
        return 0

    backlog = Backlog(count, 10, clock=clock)
    for _ in range(5):
        backlog.check()
    assert len(asked) == 1
    clock.now += COUNT_CACHE_SECONDS
    backlog.check()
    assert len(asked) == 2


def test_pending_is_counted_now() -> None:
    waiting = [1]
    backlog = Backlog(lambda: waiting[0], 10)
    assert backlog.pending() == 1
    waiting[0] = 7
    assert backlog.pending() == 7


def test_writes_are_refused_beyond_limit() -> None:
    clock, waiting = Clock(), [11]
    backlog = Backlog(lambda: waiting[0], 10, clock=clock)
    with pytest.raises(RequestRefused) as refused:
        backlog.check()
    response = error_response(refused.value)
    assert (response.status_code, response.headers["retry-after"]) == (503, "10")
    waiting[0], clock.now = 10, clock.now + COUNT_CACHE_SECONDS
    backlog.check()


def test_no_limit_refuses_nothing() -> None:
    def count() -> int:
        raise AssertionError("counted")

    Backlog(count).check()
