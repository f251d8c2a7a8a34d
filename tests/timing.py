"""Machine-independent timing: how much longer does eight times the work take, within one run?"""

from __future__ import annotations

import time
from collections.abc import Callable

MIN_SECONDS = 0.01  # shorter times are fast enough and too imprecise to compare
MAX_LINEAR_GROWTH = (
    24.0  # eight times the work: 8 if linear, 64 if quadratic; three times as much for a busy machine
)


def cpu_seconds(work: Callable[[], object], tries: int = 3) -> float:
    """CPU seconds of this thread, the best of several tries."""
    best = float("inf")
    for _ in range(tries):
        started = time.thread_time()
        work()
        best = min(best, time.thread_time() - started)
    return best


def time_growth(work: Callable[[int], object], size: int) -> float:
    """How many times longer `work(size)` takes than `work(size // 8)`."""
    work(size // 8)
    return cpu_seconds(lambda: work(size)) / max(cpu_seconds(lambda: work(size // 8)), MIN_SECONDS)
