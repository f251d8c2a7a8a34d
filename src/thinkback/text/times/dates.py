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
from thinkback.text.numbers import NUMBER_EN, NUMBER_ZH, english_number, number
from thinkback.text.times import calendar as cal

Build = Callable[[re.Match[str], datetime, bool], cal.Interval]


class When(NamedTuple):
    """From `start` up to, not including, `end`; said at `text[span[0]:span[1]]`."""

    start: datetime
    end: datetime
    span: tuple[int, int]


class Table:
    """Patterns and what they mean, a line each: (cues, pattern, how to reckon the interval).

    Cues are looked for first, since most texts name no time: a|b, or a|b & c|d where one of each must be
    there. "0" stands for any digit.
    """

    def __init__(self, *lines: tuple[str, str, Build]) -> None:
        self._lines = tuple(
            (_cues(cues, 0), _cues(cues, 1), re.compile(pattern, re.IGNORECASE), build)
            for cues, pattern, build in lines
        )
        self._cues = frozenset(cue for one, other, _, _ in self._lines for cue in one | other)

    def read(self, text: str, now: datetime, past: bool) -> list[When]:
        """Whatever the lines find, overlaps and all; `now` in UTC."""
        lowered = text.lower()
        there = {cue for cue in self._cues if cue in lowered}
        if _DIGIT.search(text):
            there.add("0")
        found: list[When] = []
        for one, other, pattern, build in self._lines if there else ():
            if one.isdisjoint(there) or (other and other.isdisjoint(there)):
                continue
            for match in pattern.finditer(text):
                try:
                    start, end = build(match, now, past)
                except (ValueError, OverflowError):  # no such day: 32 May, the year 99999
                    continue
                found.append(When(start, end, match.span()))
        return found


def _cues(said: str, group: int) -> frozenset[str]:
    groups = said.split(" & ")
    return frozenset(groups[group].split("|")) if group < len(groups) else frozenset()


_DIGIT = re.compile(r"\d")
MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
DAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
MONTH_EN = (
    r"(?P<m>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
WEEKDAY_EN = r"(?P<wd>mon|tues|wednes|thurs|fri|satur|sun)day"
_D = r"(?P<d>\d{1,2})(?:st|nd|rd|th)?"
YEAR = r"(?P<y>(?:19|20)\d\d)"
_UNIT = r"(?P<unit>day|week|month|year|hour|minute)s?"
_UNIT2 = r"(?P<unit2>day|week|month|year|hour|minute)s?"
PART_EN = "(?:morning|afternoon|evening|night)"
_ZH_CLOCK = "(?:\\d{1,2}|[一二两三四五六七八九十]{1,3})(?:[:：]\\d\\d|点(?:钟|整|半|一刻|三刻|\\d\\d分?)?)"
_ZH_PART = f"(?:早上|上午|中午|下午|傍晚|晚上|凌晨|晚)?(?:{_ZH_CLOCK})?"
_ZH_WEEK = "(?:周|星期|礼拜)"
MONTH_ZH = "1[0-2]|0?[1-9]|十[一二]?|[一二三四五六七八九]"
SHIFT_ZH = {"上上": -2, "上": -1, "这": 0, "本": 0, "下": 1, "下下": 2}
_ZH_DAY = {"大前": -3, "前": -2, "昨": -1, "今": 0, "明": 1, "后": 2, "大后": 3}
YEARS_ZH = {"前": -2, "去": -1, "今": 0, "明": 1, "后": 2}
UNITS_ZH = {
    "天": "day",
    "日": "day",
    "周": "week",
    "星期": "week",
    "礼拜": "week",
    "月": "month",
    "年": "year",
}
UNITS_ZH |= {"小时": "hour", "分钟": "minute"}


def _away(now: datetime, count: int, unit: str) -> cal.Interval:
    if unit in ("hour", "minute"):
        return cal.days(now + timedelta(**{unit + "s": count}))
    if unit in ("day", "week"):
        return cal.shift_days(now, count * (7 if unit == "week" else 1))
    if unit == "month":
        return cal.months_away(now, count)
    return cal.year(now.year + count)


def period(now: datetime, by: int, unit: str) -> cal.Interval:
    if unit == "week":
        return cal.week(now, by)
    if unit == "weekend":
        return cal.shift_days(now, 7 * by - now.weekday() + 5, 2)
    return cal.shift_months(now, by) if unit == "month" else cal.year(now.year + by)


def _in_month(m: re.Match[str], now: datetime, past: bool) -> cal.Interval:
    """A month, or a day of one; without a year, the nearest on the side the text leans to."""
    parts = m.groupdict()
    month_number = MONTHS.index(parts["m"][:3].lower()) + 1
    lead = m.group().lower()
    past = lead.startswith(("last", "since")) or (past and not lead.startswith("next"))
    year_number = (
        int(parts["y"]) if parts.get("y") else lean_year(now, month_number, int(parts.get("d") or 1), past)
    )
    if parts.get("d"):
        return cal.day_of(year_number, month_number, int(parts["d"]))
    if lead.startswith("last") and not parts.get("y") and month_number == now.month:
        year_number -= 1  # in May, last May is not this one
    return cal.month(year_number, month_number)


def lean_year(now: datetime, month_number: int, day_number: int, past: bool) -> int:
    ahead = (month_number, day_number) > (now.month, now.day)
    behind = (month_number, 31 if day_number == 1 else day_number) < (now.month, now.day)
    return now.year - 1 if past and ahead else now.year + 1 if not past and behind else now.year


def _zh_year(m: re.Match[str], now: datetime) -> int | None:
    parts = m.groupdict()
    if parts.get("y"):
        return int(parts["y"])
    return now.year + YEARS_ZH[parts["ry"]] if parts.get("ry") else None


def _zh_date(m: re.Match[str], now: datetime, past: bool) -> cal.Interval:
    month_number = number(m["zm"])
    day_number = number(m["d"]) if m["d"] else None
    year_number = _zh_year(m, now)
    if year_number is None:
        year_number = lean_year(now, month_number, day_number or 1, past)
    if day_number is None:
        return cal.month(year_number, month_number)
    return cal.day_of(year_number, month_number, day_number)


def _zh_weekday(m: re.Match[str], now: datetime, past: bool) -> cal.Interval:
    index = "一二三四五六日".find(m["zwd"].replace("天", "日"))
    if m["shift"] is None:
        return cal.weekday(now, index, past=past)
    return cal.shift_days(now, 7 * SHIFT_ZH[m["shift"]] - now.weekday() + index)


def _weekday(m: re.Match[str], now: datetime, past: bool) -> cal.Interval:
    lean = {"last": True, "past": True, "next": False, "this": False, "coming": False}
    return cal.weekday(now, DAYS.index(m["wd"][:3].lower()), past=lean.get((m["lean"] or "").lower(), past))


SHIFT_EN = {"last": -1, "past": -1, "this": 0, "next": 1, "coming": 1}

_MONTHLY = "|".join(MONTHS)
_TABLE = Table(
    ("before yesterday", r"\bthe day before yesterday\b", lambda m, now, past: cal.shift_days(now, -2)),
    ("after tomorrow", r"\bthe day after tomorrow\b", lambda m, now, past: cal.shift_days(now, 2)),
    (
        "yesterday|night",
        rf"\b(?:yesterday|last night)(?: {PART_EN})?\b",
        lambda m, now, past: cal.shift_days(now, -1),
    ),
    (
        "today|tonight|this ",
        r"\b(?:today|tonight|this (?:morning|afternoon|evening))\b",
        lambda m, now, past: cal.days(now),
    ),
    ("tomorrow", rf"\btomorrow(?: {PART_EN})?\b", lambda m, now, past: cal.shift_days(now, 1)),
    (
        "on |last|past|this|next|coming & day",
        rf"\b(?:(?:on )?(?:the )?(?P<lean>last|past|this|next|coming) |on ){WEEKDAY_EN}(?: {PART_EN})?\b",
        _weekday,
    ),
    (
        "last|past|this|next|coming & week|month|year",
        r"\b(?P<shift>last|past|this|next|coming) (?P<unit>week|weekend|month|year)\b",
        lambda m, now, past: period(now, SHIFT_EN[m["shift"].lower()], m["unit"].lower()),
    ),
    (
        "weekend",
        r"\b(?:over|at|on) the weekend\b",
        lambda m, now, past: period(now, -1 if past and now.weekday() < 5 else 0, "weekend"),
    ),
    (
        "ago|back|earlier & day|week|month|year|hour|minute",
        rf"\b(?P<n>{NUMBER_EN}) {_UNIT} (?:ago|back|earlier)\b",
        lambda m, now, past: _away(now, -english_number(m["n"]), m["unit"].lower()),
    ),
    (
        "in |from now|later & day|week|month|year|hour|minute",
        rf"\b(?:in (?P<n>{NUMBER_EN}) {_UNIT}|(?P<n2>{NUMBER_EN}) {_UNIT2} (?:from now|later))\b",
        lambda m, now, past: _away(now, english_number(m["n"] or m["n2"]), (m["unit"] or m["unit2"]).lower()),
    ),
    (
        f"{_MONTHLY} & 0",
        rf"\b(?:on |since |until |by )?{MONTH_EN}\.? {_D}(?:,? {YEAR})?\b(?!\s?(?:kg|lbs?|years|%))",
        _in_month,
    ),
    (
        f"{_MONTHLY} & 0",
        rf"\b(?:on |since |until |by )?(?:the )?{_D} (?:of )?{MONTH_EN}\.?(?:,? {YEAR})?\b",
        _in_month,
    ),
    (
        f"{_MONTHLY} & 19|20",
        rf"\b(?:in |since |until |by |last )?{MONTH_EN}\.?,? (?:of )?{YEAR}\b",
        _in_month,
    ),
    (
        f"{_MONTHLY} & in |since |until |by |last |next ",
        rf"\b(?:in|since|until|by|last|next) {MONTH_EN}\b",
        _in_month,
    ),
    (
        "19|20",
        rf"(?:\b(?:on|since|until) )?(?<![0-9a-z_]){YEAR}(?P<sep>[-/.])(?P<m>\d{{1,2}})(?P=sep)"
        r"(?P<d>\d{1,2})(?![0-9a-z_])",
        lambda m, now, past: cal.day_of(int(m["y"]), int(m["m"]), int(m["d"])),
    ),
    (
        "19|20",
        rf"\b(?:in|since|until|by|during|back in) {YEAR}\b(?![-/.]\d)",
        lambda m, now, past: cal.year(int(m["y"])),
    ),
    (
        "天|晚|早|日|儿",
        "(?P<day>大前|大后|前|昨|今|明|后)(?:天|晚|早|日|(?<![从以之目])儿个?)" + _ZH_PART,
        lambda m, now, past: cal.shift_days(now, _ZH_DAY[m["day"]]),
    ),
    (
        "周|星期|礼拜",
        f"(?P<shift>上上|下下|上|这|本|下)?个?{_ZH_WEEK}(?P<zwd>[一二三四五六日天]){_ZH_PART}",
        _zh_weekday,
    ),
    (
        "周|星期|礼拜",
        f"(?P<shift>上上|下下|上|这|本|下)个?{_ZH_WEEK}(?P<end>末)?(?![一二三四五六日天])",
        lambda m, now, past: period(now, SHIFT_ZH[m["shift"]], "weekend" if m["end"] else "week"),
    ),
    (
        "月",
        "(?P<shift>上上|下下|上|这|本|下)个?月(?!\\d)[初中底末]?",
        lambda m, now, past: cal.shift_months(now, SHIFT_ZH[m["shift"]]),
    ),
    (
        "前|后",
        # 2020年后 and 三月前 are a year and a month
        f"(?!(?:19|20)\\d\\d年)(?P<n>{NUMBER_ZH})个?(?P<unit>天|日|周|星期|礼拜|(?<=个)月|年|小时|分钟)"
        "(?P<way>以前|之前|前|以后|之后|后)",
        lambda m, now, past: _away(
            now, number(m["n"]) * (-1 if "前" in m["way"] else 1), UNITS_ZH[m["unit"]]
        ),
    ),
    (
        "月",
        f"(?:{YEAR}年|(?P<ry>前|去|今|明|后)年)?(?P<zm>{MONTH_ZH})月(?:份"
        f"|(?P<d>{NUMBER_ZH})[日号]{_ZH_PART})?",
        _zh_date,
    ),
    (
        "年",
        "(?:(?P<y>(?:19|20)\\d\\d)|(?P<ry>前|去|今|明|后))年",
        lambda m, now, past: cal.year(_zh_year(m, now) or now.year),
    ),
)


def resolve(text: str, now: datetime, *, past: bool = False) -> list[When]:
    """Every time expression of a text, in order, none overlapping another; the longest reading wins."""
    if now.tzinfo is None:
        raise InvalidInput(f"the reference time {now.isoformat()} has no zone; give an aware datetime")
    return apart(_TABLE.read(text, now.astimezone(UTC), past))


def apart(found: list[When]) -> list[When]:
    """In order, none overlapping another: the first to begin wins, then the longest, then the first given."""
    out: list[When] = []
    for when in sorted(found, key=lambda when: (when.span[0], -when.span[1])):
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
