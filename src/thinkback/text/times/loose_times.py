"""Times said loosely -> intervals wide enough to search in: "a few days ago", "lately", 前几天, 上半年.

A fact must not be dated by these (that is `dates`); a question may be narrowed by them. The longer ago
something is, the less the number is meant: "two weeks ago" allows a fifth of it on either side.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta

from thinkback.text.numbers import english_number, number
from thinkback.text.times import calendar as cal
from thinkback.text.times.dates import DAYS, MONTHS, SHIFT_EN, SHIFT_ZH, YEARS_ZH, lean_year, period

_LENGTH = {"hour": 0, "minute": 0, "day": 1, "week": 7, "month": 30, "year": 365}
RECENT = 30  # days that "lately" and 最近 reach back
_FEW = {"day": 14, "week": 60, "month": 270, "year": 3300}  # days that "a few ... ago" reaches back


def back(now: datetime, first: int, last: int = -1) -> cal.Interval:
    """From `first` days ago up to `last` days ago, that day left out; -1 is tomorrow, so today counts."""
    today = cal.days(now)[0]
    return today - timedelta(days=first), today - timedelta(days=last)


def ago(now: datetime, count: float, unit: str) -> cal.Interval:
    """About so long ago: a whole year for years, else the day and a fifth of the distance around it."""
    if unit == "year" and count == int(count):
        return cal.year(now.year - int(count))
    away = round(count * _LENGTH[unit])
    return back(now, away + away // 5, away - away // 5 - 1)


def few(now: datetime, unit: str) -> cal.Interval:
    return cal.days(now) if not _LENGTH[unit] else back(now, _FEW[unit], _LENGTH[unit] - 1)


def rolling(now: datetime, words: str | None, unit: str) -> cal.Interval:
    """The last so many days, weeks, months or years, today among them."""
    if words is None:
        count = 1
    elif words.lower().startswith(("few", "several", "couple", "几", "好几", "数")):
        return back(now, _FEW[unit] if _LENGTH[unit] else 0)
    else:
        count = english_number(words) if words.isascii() else number(words)
    return back(now, count * _LENGTH[unit])


def _month_number(word: str) -> int:
    return MONTHS.index(word[:3].lower()) + 1


def in_month(m: re.Match[str], now: datetime, past: bool) -> cal.Interval:
    index = _month_number(m["m"])
    return cal.month(int(m["y"]) if m["y"] else lean_year(now, index, 1, past), index)


def months(m: re.Match[str], now: datetime, past: bool) -> cal.Interval:
    """From one month to another, of one year or of two."""
    first, last = _month_number(m["m1"]), _month_number(m["m"])
    year = int(m["y"]) if m["y"] else lean_year(now, last, 1, past)
    return cal.month(year - (first > last), first)[0], cal.month(year, last)[1]


def days_of_month(m: re.Match[str], now: datetime, past: bool) -> cal.Interval:
    """May 1 to 3, 5月1日到3日."""
    index = _month_number(m["m"]) if "m" in m.groupdict() else number(m["zm"])
    first, last = number(m["d"]), number(m["d2"])
    said = m.groupdict().get("y")
    year = int(said) if said else lean_year(now, index, first, past)
    start, end = cal.day_of(year, index, first)[0], cal.day_of(year, index, last)[1]
    if start >= end:
        raise ValueError("backwards")
    return start, end


def years(m: re.Match[str], now: datetime, past: bool) -> cal.Interval:
    if int(m["y"]) > int(m["y2"]):
        raise ValueError("backwards")
    return cal.year(int(m["y"]))[0], cal.year(int(m["y2"]))[1]


def slashed(m: re.Match[str], now: datetime, past: bool) -> cal.Interval:
    """Month first, as where dates are written with a slash and the year last."""
    month, day = int(m["n"]), int(m["d"])
    return cal.day_of(int(m["y"]) if m["y"] else lean_year(now, month, day, past), month, day)


def day_of_this_month(m: re.Match[str], now: datetime, past: bool) -> cal.Interval:
    """The 6th, 上个月6号: of the month that is named, else the nearest on the side the text leans to."""
    parts, day = m.groupdict(), number(m["d"])
    said = (parts.get("rm") or "").lower()
    by = SHIFT_EN.get(said, SHIFT_ZH.get(said))
    if by is None:
        by = -1 if past and day > now.day else 1 if not past and day < now.day else 0
    start, end = cal.shift_months(now, by)
    if not 0 < day <= (end - start).days:
        raise ValueError("no such day")
    return cal.days(start + timedelta(days=day - 1))


def _cut(whole: cal.Interval, part: str) -> cal.Interval:
    """The early, middle or late part of a month or a year, a little more than a third."""
    start, end = whole
    twelfth = (end - start) / 12
    if part in ("early", "beginning", "start", "年初", "初"):
        return start, start + 5 * twelfth
    if part in ("mid", "middle", "年中"):
        return start + 3 * twelfth, end - 3 * twelfth
    if part == "上半年":
        return start, start + 6 * twelfth
    return (start + 6 * twelfth if part == "下半年" else end - 5 * twelfth), end


def part_en(m: re.Match[str], now: datetime, past: bool) -> cal.Interval:
    if m["m"]:
        whole = in_month(m, now, past)
    elif m["rel"]:
        whole = period(now, SHIFT_EN[m["rel"].lower()], m["unit"].lower())
    else:
        whole = cal.year(int(m["y2"]))
    return _cut(whole, (m["part"] or m["part2"]).lower())


def part_zh(m: re.Match[str], now: datetime, past: bool) -> cal.Interval:
    year = int(m["y"]) if m["y"] else now.year + YEARS_ZH[m["ry"]] if m["ry"] else now.year
    return _cut(cal.year(year), m["part"])


def decade(m: re.Match[str], now: datetime, past: bool) -> cal.Interval:
    first = int(m["y"]) if len(m["y"]) == 4 else 1900 + int(m["y"])
    return cal.year(first)[0], cal.year(first + 9)[1]


def weekend(now: datetime, past: bool) -> cal.Interval:
    return period(now, -1 if past and now.weekday() < 5 else 0, "weekend")


def weekday_of_week(m: re.Match[str], now: datetime, past: bool) -> cal.Interval:
    by = SHIFT_EN[(m["rel"] or m["rel2"]).lower()]
    return cal.shift_days(now, 7 * by - now.weekday() + DAYS.index((m["wd"] or m["wd2"])[:3].lower()))


def part_of_a_year(m: re.Match[str], now: datetime, past: bool) -> cal.Interval:
    """年初 and 年底 of this year, or of the last one while that part of this year is still to come."""
    start, end = _cut(cal.year(now.year), m["part"])
    return (start, end) if start <= now or not past else _cut(cal.year(now.year - 1), m["part"])
