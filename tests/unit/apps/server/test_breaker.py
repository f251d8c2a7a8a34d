"""The circuit breaker: it opens, lets one trial through, and closes again."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thinkback.apps.server.breaker import Breaker


class Time:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def time() -> Time:
    return Time()


def test_it_opens_after_failures_in_a_row_only(time: Time) -> None:
    breaker = Breaker(failures=3, pause_s=10, clock=time)
    for _ in range(5):
        breaker.failed()
        breaker.failed()
        assert breaker.allows()
        breaker.succeeded()
    for _ in range(3):
        assert breaker.allows()
        breaker.failed()
    assert breaker.open
    assert not breaker.allows()


def test_one_trial_after_the_pause_and_success_closes_it(time: Time) -> None:
    breaker = Breaker(failures=1, pause_s=10, clock=time)
    breaker.failed()
    time.now = 9.9
    assert not breaker.allows()
    time.now = 10
    assert breaker.allows()
    assert not breaker.allows(), "one trial at a time"
    breaker.succeeded()
    assert not breaker.open
    assert breaker.allows()
    assert breaker.allows()


def test_a_failed_trial_doubles_the_pause_up_to_the_longest(time: Time) -> None:
    breaker = Breaker(failures=1, pause_s=10, longest_s=35, clock=time)
    breaker.failed()
    for pause in (10, 20, 35, 35):
        time.now += pause - 0.5
        assert not breaker.allows()
        time.now += 0.5
        assert breaker.allows()
        breaker.failed()
    time.now += 35
    assert breaker.allows()
    breaker.succeeded()
    breaker.failed()
    time.now += 10
    assert breaker.allows(), "after a success the pause is the first one again"


@given(st.lists(st.sampled_from(["ask", "wait"]), max_size=60))
def test_while_all_fails_it_tries_ever_more_rarely(steps: list[str]) -> None:
    time, tried = Time(), 0
    breaker = Breaker(failures=2, pause_s=1, longest_s=8, clock=time)
    for step in steps:
        if step == "wait":
            time.now += 1
        elif breaker.allows():
            tried += 1
            breaker.failed()
    assert tried <= 2 + max(0, time.now)


def test_a_trial_that_nobody_waited_for_is_no_end(time: Time) -> None:
    breaker = Breaker(failures=1, pause_s=10, clock=time)
    breaker.gave_up()
    assert not breaker.open, "what was tried while all is well is no failure"
    breaker.failed()
    time.now = 10
    assert breaker.allows()
    breaker.gave_up()
    time.now = 29
    assert not breaker.allows()
    time.now = 30
    assert breaker.allows(), "after twice the pause there is another trial"
