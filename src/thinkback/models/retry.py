"""Trying again where a fault may pass: a bounded number of times, with doubling pauses and no dice."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from thinkback.errors import ModelError, RateLimited

T = TypeVar("T")

FIRST_PAUSE = 0.5
LONGEST_PAUSE = 30.0


@dataclass(frozen=True, slots=True)
class Fault:
    """What went wrong, in thinkback's words, and whether it may pass by itself; `status` is the server's."""

    error: ModelError
    transient: bool
    status: int | None = None


class Passing(Exception):
    """Carries a fault from the place that knows the wire to the place that decides to try again."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(str(fault.error))
        self.fault = fault


def patiently(call: Callable[[], T], *, retries: int, sleep: Callable[[float], None]) -> T:
    """The result of the call; on a transient fault it is repeated, at last the fault's error is raised."""
    attempt = 0
    while True:
        try:
            return call()
        except Passing as passing:
            fault = passing.fault
        pause = _pause(fault.error, attempt)
        if not fault.transient or attempt >= retries or pause > LONGEST_PAUSE:
            raise fault.error
        sleep(pause)
        attempt += 1


def _pause(error: ModelError, attempt: int) -> float:
    """The server's own wish where it has one: asking earlier would only be refused again."""
    if isinstance(error, RateLimited) and error.retry_after is not None:
        return error.retry_after
    return min(FIRST_PAUSE * 2.0**attempt, LONGEST_PAUSE)
