"""The circuit breaker opens, allows one trial, and closes again."""

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


def test_opens_after_consecutive_failures(time: Time) -> None:
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


def test_successful_trial_after_pause_closes(time: Time) -> None:
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


def test_failed_trial_doubles_pause(time: Time) -> None:
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
def test_trials_become_rarer(steps: list[str]) -> None:
    time, tried = Time(), 0
    breaker = CircuitBreaker(failures=2, pause_seconds=1, max_pause_seconds=8, clock=time)
    for step in steps:
        if step == "wait":
            time.now += 1
        elif breaker.allows_call():
            tried += 1
            breaker.record_failure()
    assert tried <= 2 + max(0, time.now)


def test_abandoned_trial_is_repeated_after_the_first_pause(time: Time) -> None:
    breaker = CircuitBreaker(failures=1, pause_seconds=10, clock=time)
    breaker.record_abandoned()
    assert not breaker.is_open, "what was tried while all is well is no failure"
    breaker.record_failure()
    for _ in range(5):  # the pause does not grow
        time.now += 9
        assert not breaker.allows_call()
        time.now += 1
        assert breaker.allows_call()
        breaker.record_abandoned()
    time.now += 10
    assert breaker.allows_call()
    breaker.record_success()
    assert not breaker.is_open


def test_success_of_another_call_closes(time: Time) -> None:
    breaker = CircuitBreaker(failures=1, pause_seconds=10, clock=time)
    breaker.record_failure()
    breaker.record_success()  # a call that began before the failure, or a reconnect
    assert breaker.allows_call()
