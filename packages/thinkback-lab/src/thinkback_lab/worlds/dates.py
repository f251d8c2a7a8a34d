"""Dates as PerLTQA writes them: `2022-05-15 10:00`, `May 12, 2022`, `October 2021`, `2012`, `2021年10月`.

Missing parts default to the beginning: `2012` is the first of January, a season its first month. Text without
a year ("during an election") is not a date.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime

_MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_FIRST_MONTH = {
    **{name: month for month, name in enumerate(_MONTHS, start=1)},
    **{name[:3]: month for month, name in enumerate(_MONTHS, start=1)},
    "sept": 9,
    "spring": 3,
    "summer": 6,
    "autumn": 9,
    "fall": 9,
    "winter": 12,
    "春": 3,
    "夏": 6,
    "秋": 9,
    "冬": 12,
}
_NUMERIC_DATE = re.compile(
    r"(?<!\d)(?P<year>\d{4})\s?[-/.年]\s?(?P<month>\d{1,2})(?:\s?[-/.月]\s?(?P<day>\d{1,2}))?(?!\d)"
)
_YEAR = re.compile(r"(?<!\d)\d{4}(?!\d)")
_CLOCK = re.compile(r"(?<!\d)(\d{1,2}):(\d{2})(?::(\d{2})(?:\.(\d{1,6}))?)?(?!\d)")
_WORD = re.compile(r"[a-z]+|\d+|[春夏秋冬]")


def format_date(at: datetime) -> str:
    """Format a time so that `parse_date` can read it: in UTC, which is also assumed without a zone."""
    whole = at.astimezone(UTC).replace(tzinfo=None) if at.tzinfo else at
    return whole.isoformat(sep=" ", timespec="auto" if whole.second or whole.microsecond else "minutes")


def parse_date(text: str) -> datetime | None:
    """The first date in a text, in UTC, or None."""
    for year, month, day in _candidate_days(text):
        try:
            return datetime(year, month, day, *_parse_clock(text), tzinfo=UTC)
        except ValueError:  # for example 31 June
            continue
    return None


def _candidate_days(text: str) -> Iterator[tuple[int, int, int]]:
    """Possible (year, month, day) values, most likely first."""
    for match in _NUMERIC_DATE.finditer(text):
        yield int(match["year"]), int(match["month"]), int(match["day"] or 1)
    for match in _YEAR.finditer(text):
        year = int(match[0])
        month, day = _month_and_day(text, match.start())
        yield year, month, day
        yield year, month, 1
        yield year, 1, 1


def _month_and_day(text: str, year_at: int) -> tuple[int, int]:
    """Month and day of `May 12, 2022` and `12 May 2022`: the named month, and the number of one or two
    digits.
    """
    tokens = [(match[0], match.start()) for match in _WORD.finditer(_CLOCK.sub(_blank_out, text.lower()))]
    months = [_FIRST_MONTH[token] for token, _ in tokens if token in _FIRST_MONTH]
    if not months:
        return 1, 1
    days = [int(token) for token, at in tokens if token.isdigit() and len(token) <= 2 and at != year_at]
    return months[0], days[0] if days else 1


def _blank_out(found: re.Match[str]) -> str:
    return " " * len(found[0])


def _parse_clock(text: str) -> tuple[int, int, int, int]:
    match = _CLOCK.search(text)
    if not match:
        return 0, 0, 0, 0
    hour, minute, second, part = match.groups()
    moment = int(hour), int(minute), int(second or 0), int((part or "").ljust(6, "0"))
    return moment if moment < (24,) and moment[1] < 60 and moment[2] < 60 else (0, 0, 0, 0)
