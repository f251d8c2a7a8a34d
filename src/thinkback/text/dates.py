"""Time expressions -> half-open UTC intervals, reckoned from the time of the turn; English and Chinese.

One table, one line an expression: add a line to teach another. `past` tells how a bare "on Friday" or
"in May" leans. Where a phrase is ambiguous we choose: "next Friday" is the first Friday after today,
下周五 the Friday of next week. An expression that names no real day (May 32nd) is no expression.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from thinkback.errors import InvalidInput
from thinkback.text import calendar as cal
from thinkback.text.numbers import NUMBER_EN, NUMBER_ZH, english_number, number

Build = Callable[[re.Match[str], datetime, bool], cal.Interval]


class When(NamedTuple):
    """From `start` up to, not including, `end`; said at `text[span[0]:span[1]]`."""

    start: datetime
    end: datetime
    span: tuple[int, int]


_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_DAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
_M = (
    r"(?P<m>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_WD = r"(?P<wd>mon|tues|wednes|thurs|fri|satur|sun)day"
_D = r"(?P<d>\d{1,2})(?:st|nd|rd|th)?"
_Y = r"(?P<y>(?:19|20)\d\d)"
_UNIT = r"(?P<unit>day|week|month|year|hour|minute)s?"
_UNIT2 = r"(?P<unit2>day|week|month|year|hour|minute)s?"
_PART = "(?:morning|afternoon|evening|night)"
_ZH_CLOCK = "(?:\\d{1,2}|[一二两三四五六七八九十]{1,3})(?:[:：]\\d\\d|点(?:钟|整|半|一刻|三刻|\\d\\d分?)?)"
_ZH_PART = f"(?:早上|上午|中午|下午|傍晚|晚上|凌晨|晚)?(?:{_ZH_CLOCK})?"
_ZH_WEEK = "(?:周|星期|礼拜)"
_ZH_MONTH = "1[0-2]|0?[1-9]|十[一二]?|[一二三四五六七八九]"
_ZH_SHIFT = {"上上": -2, "上": -1, "这": 0, "本": 0, "下": 1, "下下": 2}
_ZH_DAY = {"大前": -3, "前": -2, "昨": -1, "今": 0, "明": 1, "后": 2, "大后": 3}
_ZH_YEAR = {"前": -2, "去": -1, "今": 0, "明": 1, "后": 2}
_ZH_UNIT = {
    "天": "day",
    "日": "day",
    "周": "week",
    "星期": "week",
    "礼拜": "week",
    "月": "month",
    "年": "year",
}
_ZH_UNIT |= {"小时": "hour", "分钟": "minute"}


def _away(now: datetime, count: int, unit: str) -> cal.Interval:
    if unit in ("hour", "minute"):
        return cal.days(now + timedelta(**{unit + "s": count}))
    if unit in ("day", "week"):
        return cal.shift_days(now, count * (7 if unit == "week" else 1))
    if unit == "month":
        return cal.months_away(now, count)
    return cal.year(now.year + count)


def _period(now: datetime, by: int, unit: str) -> cal.Interval:
    if unit == "week":
        return cal.week(now, by)
    if unit == "weekend":
        return cal.shift_days(now, 7 * by - now.weekday() + 5, 2)
    return cal.shift_months(now, by) if unit == "month" else cal.year(now.year + by)


def _in_month(m: re.Match[str], now: datetime, past: bool) -> cal.Interval:
    """A month, or a day of one; without a year, the nearest on the side the text leans to."""
    parts = m.groupdict()
    month_number = _MONTHS.index(parts["m"][:3].lower()) + 1
    lead = m.group().lower()
    past = lead.startswith(("last", "since")) or (past and not lead.startswith("next"))
    year_number = (
        int(parts["y"]) if parts.get("y") else _lean(now, month_number, int(parts.get("d") or 1), past)
    )
    if parts.get("d"):
        return cal.day_of(year_number, month_number, int(parts["d"]))
    return cal.month(year_number, month_number)


def _lean(now: datetime, month_number: int, day_number: int, past: bool) -> int:
    ahead = (month_number, day_number) > (now.month, now.day)
    behind = (month_number, 31 if day_number == 1 else day_number) < (now.month, now.day)
    return now.year - 1 if past and ahead else now.year + 1 if not past and behind else now.year


def _zh_year(m: re.Match[str], now: datetime) -> int | None:
    parts = m.groupdict()
    if parts.get("y"):
        return int(parts["y"])
    return now.year + _ZH_YEAR[parts["ry"]] if parts.get("ry") else None


def _zh_date(m: re.Match[str], now: datetime, past: bool) -> cal.Interval:
    month_number = number(m["zm"])
    day_number = number(m["d"]) if m["d"] else None
    year_number = _zh_year(m, now)
    if year_number is None:
        year_number = _lean(now, month_number, day_number or 1, past)
    if day_number is None:
        return cal.month(year_number, month_number)
    return cal.day_of(year_number, month_number, day_number)


def _zh_weekday(m: re.Match[str], now: datetime, past: bool) -> cal.Interval:
    index = "一二三四五六日".find(m["zwd"].replace("天", "日"))
    if m["shift"] is None:
        return cal.weekday(now, index, past=past)
    return cal.shift_days(now, 7 * _ZH_SHIFT[m["shift"]] - now.weekday() + index)


def _weekday(m: re.Match[str], now: datetime, past: bool) -> cal.Interval:
    lean = {"last": True, "past": True, "next": False, "this": False, "coming": False}
    return cal.weekday(now, _DAYS.index(m["wd"][:3].lower()), past=lean.get((m["lean"] or "").lower(), past))


_SHIFT = {"last": -1, "past": -1, "this": 0, "next": 1, "coming": 1}

_TABLE: tuple[tuple[str, Build], ...] = (
    (r"\bthe day before yesterday\b", lambda m, now, past: cal.shift_days(now, -2)),
    (r"\bthe day after tomorrow\b", lambda m, now, past: cal.shift_days(now, 2)),
    (
        rf"\b(?:yesterday|last night)(?: {_PART})?\b",
        lambda m, now, past: cal.shift_days(now, -1),
    ),
    (r"\b(?:today|tonight|this (?:morning|afternoon|evening))\b", lambda m, now, past: cal.days(now)),
    (rf"\btomorrow(?: {_PART})?\b", lambda m, now, past: cal.shift_days(now, 1)),
    (
        rf"\b(?:(?:on )?(?:the )?(?P<lean>last|past|this|next|coming) |on ){_WD}(?: {_PART})?\b",
        _weekday,
    ),
    (
        r"\b(?P<shift>last|past|this|next|coming) (?P<unit>week|weekend|month|year)\b",
        lambda m, now, past: _period(now, _SHIFT[m["shift"].lower()], m["unit"].lower()),
    ),
    (
        r"\b(?:over|at|on) the weekend\b",
        lambda m, now, past: _period(now, -1 if past and now.weekday() < 5 else 0, "weekend"),
    ),
    (
        rf"\b(?P<n>{NUMBER_EN}) {_UNIT} (?:ago|back|earlier)\b",
        lambda m, now, past: _away(now, -english_number(m["n"]), m["unit"].lower()),
    ),
    (
        rf"\b(?:in (?P<n>{NUMBER_EN}) {_UNIT}|(?P<n2>{NUMBER_EN}) {_UNIT2} (?:from now|later))\b",
        lambda m, now, past: _away(now, english_number(m["n"] or m["n2"]), (m["unit"] or m["unit2"]).lower()),
    ),
    (rf"\b(?:on |since |until |by )?{_M}\.? {_D}(?:,? {_Y})?\b(?!\s?(?:kg|lbs?|years|%))", _in_month),
    (rf"\b(?:on |since |until |by )?(?:the )?{_D} (?:of )?{_M}\.?(?:,? {_Y})?\b", _in_month),
    (rf"\b(?:in |since |until |by |last )?{_M}\.?,? (?:of )?{_Y}\b", _in_month),
    (rf"\b(?:in|since|until|by|last|next) {_M}\b", _in_month),
    (
        rf"(?:\b(?:on|since|until) )?\b{_Y}(?P<sep>[-/.])(?P<m>\d{{1,2}})(?P=sep)(?P<d>\d{{1,2}})\b",
        lambda m, now, past: cal.day_of(int(m["y"]), int(m["m"]), int(m["d"])),
    ),
    (
        rf"\b(?:in|since|until|by|during|back in) {_Y}\b(?![-/.]\d)",
        lambda m, now, past: cal.year(int(m["y"])),
    ),
    (
        "(?P<day>大前|大后|前|昨|今|明|后)(?:天|晚|早|日|(?<![从以之目])儿个?)" + _ZH_PART,
        lambda m, now, past: cal.shift_days(now, _ZH_DAY[m["day"]]),
    ),
    (f"(?P<shift>上上|下下|上|这|本|下)?个?{_ZH_WEEK}(?P<zwd>[一二三四五六日天]){_ZH_PART}", _zh_weekday),
    (
        f"(?P<shift>上上|下下|上|这|本|下)个?{_ZH_WEEK}(?P<end>末)?(?![一二三四五六日天])",
        lambda m, now, past: _period(now, _ZH_SHIFT[m["shift"]], "weekend" if m["end"] else "week"),
    ),
    (
        "(?P<shift>上上|下下|上|这|本|下)个?月(?!\\d)[初中底末]?",
        lambda m, now, past: cal.shift_months(now, _ZH_SHIFT[m["shift"]]),
    ),
    (
        f"(?P<n>{NUMBER_ZH})个?(?P<unit>天|日|周|星期|礼拜|月|年|小时|分钟)(?P<way>以前|之前|前"
        "|以后|之后|后)",
        lambda m, now, past: _away(
            now, number(m["n"]) * (-1 if "前" in m["way"] else 1), _ZH_UNIT[m["unit"]]
        ),
    ),
    (
        f"(?:{_Y}年|(?P<ry>前|去|今|明|后)年)?(?P<zm>{_ZH_MONTH})月(?:份"
        f"|(?P<d>{NUMBER_ZH})[日号]{_ZH_PART})?",
        _zh_date,
    ),
    (
        "(?:(?P<y>(?:19|20)\\d\\d)|(?P<ry>前|去|今|明|后))年",
        lambda m, now, past: cal.year(_zh_year(m, now) or now.year),
    ),
)

_COMPILED = tuple((re.compile(pattern, re.IGNORECASE), build) for pattern, build in _TABLE)
_HINT = re.compile(
    r"\d|[天晚周月年日早儿]|星期|礼拜|小时|分钟|\b(?:day|to|yes|last|past|this|next|coming|ago|in|on"
    "|since|until|by|now|later|over|at)",
    re.I,
)


def resolve(text: str, now: datetime, *, past: bool = False) -> list[When]:
    """Every time expression of a text, in order, none overlapping another; the longest reading wins."""
    if now.tzinfo is None:
        raise InvalidInput(f"the reference time {now.isoformat()} has no zone; give an aware datetime")
    if not _HINT.search(text):
        return []
    now = now.astimezone(UTC)
    found: list[When] = []
    for pattern, build in _COMPILED:
        for match in pattern.finditer(text):
            try:
                start, end = build(match, now, past)
            except (ValueError, OverflowError):  # no such day: 32 May, the year 99999
                continue
            found.append(When(start, end, match.span()))
    found.sort(key=lambda when: (when.span[0], -when.span[1]))
    out: list[When] = []
    for when in found:
        if not out or when.span[0] >= out[-1].span[1]:
            out.append(when)
    return out


def stamp(when: When) -> str:
    """The interval as a short date: 2024, 2024-05, 2024-05-06, or 2024-05-06 to 2024-05-12."""
    first, last = when.start, when.end - timedelta(days=1)
    if first.date() == last.date():
        return f"{first:%Y-%m-%d}"
    if (first.month, first.day, last.month, last.day) == (1, 1, 12, 31) and first.year == last.year:
        return f"{first:%Y}"
    if first.day == 1 and when.end.day == 1 and (last.year, last.month) == (first.year, first.month):
        return f"{first:%Y-%m}"
    return f"{first:%Y-%m-%d} to {last:%Y-%m-%d}"


def began(when: When) -> str:
    """When what still holds began: a month or a year that was said stays one, else the first day."""
    said = stamp(when)
    return said.partition(" to ")[0]
