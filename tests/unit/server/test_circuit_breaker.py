"""The circuit breaker: it opens, lets one trial through, and closes again."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thinkback.server.circuit_breaker import CircuitBreaker


class Time:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def time() -> Time:
    return Time()


def test_it_opens_after_failures_in_a_row_only(time: Time) -> None:
    breaker = CircuitBreaker(failures=3, pause_seconds=10, clock=time)
    for _ in range(5):
        breaker.record_failure()
        breaker.record_failure()
        assert breaker.allows_call()
        breaker.record_success()
    for _ in range(3):
        assert breaker.allows_call()
        breaker.record_failure()
    assert breaker.is_open
    assert not breaker.allows_call()


def test_one_trial_after_the_pause_and_success_closes_it(time: Time) -> None:
    breaker = CircuitBreaker(failures=1, pause_seconds=10, clock=time)
    breaker.record_failure()
    time.now = 9.9
    assert not breaker.allows_call()
    time.now = 10
    assert breaker.allows_call()
    assert not breaker.allows_call(), "one trial at a time"
    breaker.record_success()
    assert not breaker.is_open
    assert breaker.allows_call()
    assert breaker.allows_call()


def test_a_failed_trial_doubles_the_pause_up_to_the_longest(time: Time) -> None:
    breaker = CircuitBreaker(failures=1, pause_seconds=10, max_pause_seconds=35, clock=time)
    breaker.record_failure()
    for pause in (10, 20, 35, 35):
        time.now += pause - 0.5
        assert not breaker.allows_call()
        time.now += 0.5
        assert breaker.allows_call()
        breaker.record_failure()
    time.now += 35
    assert breaker.allows_call()
    breaker.record_success()
    breaker.record_failure()
    time.now += 10
    assert breaker.allows_call(), "after a success the pause is the first one again"


@given(st.lists(st.sampled_from(["ask", "wait"]), max_size=60))
def test_while_all_fails_it_tries_ever_more_rarely(steps: list[str]) -> None:
    time, tried = Time(), 0
    breaker = CircuitBreaker(failures=2, pause_seconds=1, max_pause_seconds=8, clock=time)
    for step in steps:
        if step == "wait":
            time.now += 1
        elif breaker.allows_call():
            tried += 1
            breaker.record_failure()
    assert tried <= 2 + max(0, time.now)


def test_a_trial_that_nobody_waited_for_is_no_end(time: Time) -> None:
    breaker = CircuitBreaker(failures=1, pause_seconds=10, clock=time)
    breaker.record_abandoned()
    assert not breaker.is_open, "what was tried while all is well is no failure"
    breaker.record_failure()
    time.now = 10
    assert breaker.allows_call()
    breaker.record_abandoned()
    time.now = 29
    assert not breaker.allows_call()
    time.now = 30
    assert breaker.allows_call(), "after twice the pause there is another trial"
