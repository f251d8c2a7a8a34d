"""The backlog: counted now and then, and a bound beyond which writing waits."""

from __future__ import annotations

import pytest

from thinkback.apps.server.backlog import FRESH_S, Backlog
from thinkback.apps.server.faults import Refused, told


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_it_is_counted_once_a_moment_however_often_it_is_asked() -> None:
    asked: list[int] = []
    clock = Clock()

    def count() -> int:
        asked.append(1)
        return len(asked)

    backlog = Backlog(count, clock=clock)
    assert [backlog.pending() for _ in range(5)] == [1] * 5
    clock.now += FRESH_S
    assert backlog.pending() == 2


def test_writing_waits_beyond_the_bound_and_no_longer() -> None:
    clock, waiting = Clock(), [11]
    backlog = Backlog(lambda: waiting[0], 10, clock=clock)
    with pytest.raises(Refused) as refused:
        backlog.check()
    response = told(refused.value)
    assert (response.status_code, response.headers["retry-after"]) == (503, "10")
    waiting[0], clock.now = 10, clock.now + FRESH_S
    backlog.check()


def test_without_a_bound_nothing_is_refused_nor_counted() -> None:
    def count() -> int:
        raise AssertionError("counted")

    Backlog(count).check()
