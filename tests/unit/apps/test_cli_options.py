"""How the words of an option are read."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime, timedelta

import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st

from thinkback.apps.cli.options import moment

ZONES = st.timezones() | st.just(UTC)


@given(st.datetimes(datetime(1900, 1, 1), datetime(2200, 1, 1), timezones=ZONES))
def test_a_time_with_a_zone_is_that_moment(time: datetime) -> None:
    read = moment(time.isoformat())
    assert abs(read - time) < timedelta(seconds=1)
    assert read.tzinfo is UTC


@given(st.datetimes(datetime(1980, 1, 1), datetime(2035, 1, 1)))
def test_a_time_without_one_is_local(time: datetime) -> None:
    assert moment(f" {time.isoformat()} ") == time.astimezone(UTC)


def test_a_day_is_its_beginning() -> None:
    assert moment("2024-05-31") == datetime(2024, 5, 31).astimezone(UTC)


@given(st.text())
def test_anything_is_a_time_or_used_wrongly(text: str) -> None:
    with suppress(typer.BadParameter):
        assert moment(text).tzinfo is UTC


@pytest.mark.parametrize("text", ["", "0001-01-01T00:00+14:00", "9999-12-31T23:59-14:00", "24:00", "\ud800"])
def test_times_outside_time(text: str) -> None:
    with pytest.raises(typer.BadParameter):
        moment(text)
