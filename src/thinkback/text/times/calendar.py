"""Whole days, weeks, months and years around a day, as half-open UTC intervals: what `dates` reckons with."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

Interval = tuple[datetime, datetime]


def days(day: datetime, count: int = 1) -> Interval:
    start = day.replace(hour=0, minute=0, second=0, microsecond=0)
    return start, start + timedelta(days=count)


def shift_days(now: datetime, by: int, count: int = 1) -> Interval:
    return days(now + timedelta(days=by), count)


def week(now: datetime, by: int = 0) -> Interval:
    """Monday to Monday."""
    return shift_days(now, 7 * by - now.weekday(), 7)


def month(year: int, number: int) -> Interval:
    return datetime(year, number, 1, tzinfo=UTC), datetime(
        year + number // 12, number % 12 + 1, 1, tzinfo=UTC
    )


def shift_months(now: datetime, by: int) -> Interval:
    index = now.year * 12 + now.month - 1 + by
    return month(index // 12, index % 12 + 1)


def year(number: int) -> Interval:
    return datetime(number, 1, 1, tzinfo=UTC), datetime(number + 1, 1, 1, tzinfo=UTC)


def day_of(year_number: int, month_number: int, day_number: int) -> Interval:
    return days(datetime(year_number, month_number, day_number, tzinfo=UTC))


def months_away(now: datetime, by: int) -> Interval:
    """The day `by` months away, or the last day of that month if it is shorter."""
    start, end = shift_months(now, by)
    return days(min(start + timedelta(days=now.day - 1), end - timedelta(days=1)))


def weekday(now: datetime, number: int, *, past: bool) -> Interval:
    """The nearest such weekday before (or after) today, never today itself."""
    ahead = (number - now.weekday()) % 7 or 7
    return shift_days(now, ahead - 7 if past and ahead < 7 else -7 if past else ahead)
