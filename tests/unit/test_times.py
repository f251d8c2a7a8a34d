"""Conversion of datetimes to UTC and to microseconds."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thinkback.errors import InvalidInput
from thinkback.times import from_micros, to_micros, to_utc, utc_now

zones = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
times = st.datetimes(min_value=datetime(2, 1, 1), max_value=datetime(9998, 1, 1), timezones=zones)


@given(times)
def test_microseconds_round_trip(value: datetime) -> None:
    assert from_micros(to_micros(value)) == value


@given(times, times)
def test_microseconds_keep_the_order(one: datetime, other: datetime) -> None:
    assert (to_micros(one) < to_micros(other)) == (one < other)


@given(times)
def test_an_aware_time_is_the_same_instant_in_utc(value: datetime) -> None:
    assert to_utc(value, "at") == value
    assert to_utc(value, "at").tzinfo is UTC


def test_naive_datetime_is_rejected() -> None:
    with pytest.raises(InvalidInput, match=r"at=2024-01-02T00:00:00 has no time zone"):
        to_utc(datetime(2024, 1, 2), "at")


@pytest.mark.parametrize("value", ["2024-01-02", 5, None])
def test_other_types_are_rejected(value: object) -> None:
    with pytest.raises(InvalidInput, match="as_of must be a datetime"):
        to_utc(value, "as_of")  # type: ignore[arg-type]


def test_the_clock_is_in_utc() -> None:
    before, now = datetime.now(UTC), utc_now()
    assert now.tzinfo is UTC
    assert before <= now <= before + timedelta(minutes=1)


def test_time_outside_the_utc_range_is_rejected() -> None:
    with pytest.raises(InvalidInput, match="outside the years 1 to 9999"):
        to_utc(datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=2))), "at")
