"""Bootstrap intervals: position, width, determinism and coverage."""

from __future__ import annotations

import random
from statistics import fmean

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thinkback_lab.metrics.statistics import bootstrap_interval

SHARES = st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=1, max_size=60)


@given(SHARES, st.integers(0, 5))
@settings(max_examples=60, deadline=None)
def test_interval_contains_mean_and_lies_within_values(values: list[float], seed: int) -> None:
    low, high = bootstrap_interval(values, seed)
    assert min(values) <= low <= fmean(values) <= high <= max(values)


def test_constant_values_are_their_own_interval() -> None:
    assert bootstrap_interval([0.3]) == (0.3, 0.3)
    assert bootstrap_interval([1.0] * 9) == (1.0, 1.0)


def test_more_data_narrows_interval_by_root() -> None:
    rng = random.Random(1)
    widths = []
    for n in (50, 200, 800, 3200):
        low, high = bootstrap_interval([float(rng.random() < 0.4) for _ in range(n)])
        widths.append(high - low)
    assert widths == sorted(widths, reverse=True)
    assert widths[0] / widths[-1] == pytest.approx(8, rel=0.3)


def test_same_seed_gives_same_interval() -> None:
    rng = random.Random(2)
    values = [rng.random() for _ in range(70)]
    assert bootstrap_interval(values, 3) == bootstrap_interval(values, 3) != bootstrap_interval(values, 4)


def test_coverage_is_about_nominal() -> None:
    rng = random.Random(3)
    hits = 0
    for seed in range(300):
        low, high = bootstrap_interval([float(rng.random() < 0.6) for _ in range(100)], seed)
        hits += low <= 0.6 <= high
    assert 0.90 <= hits / 300 <= 0.99


def test_long_column_is_drawn_in_blocks() -> None:
    rng = random.Random(4)
    low, high = bootstrap_interval([float(rng.random() < 0.5) for _ in range(60_000)])
    assert 0.49 < low < high < 0.51
