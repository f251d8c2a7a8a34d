"""Time expressions in English and Chinese text as half-open UTC intervals, relative to the time of the turn."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from thinkback.errors import InvalidInput
from thinkback.language.numbers import (
    NUMBER_PATTERN_EN,
    NUMBER_PATTERN_ZH,
    parse_chinese_number,
    parse_english_number,
)

Interval = tuple[datetime, datetime]


def days_interval(day: datetime, count: int = 1) -> Interval:
    start = day.replace(hour=0, minute=0, second=0, microsecond=0)
    return start, start + timedelta(days=count)


def relative_days(now: datetime, by: int, count: int = 1) -> Interval:
    return days_interval(now + timedelta(days=by), count)


def relative_week(now: datetime, by: int = 0) -> Interval:
    """Monday to Monday."""
    return relative_days(now, 7 * by - now.weekday(), 7)


def month_interval(year: int, number: int) -> Interval:
    return datetime(year, number, 1, tzinfo=UTC), datetime(
        year + number // 12, number % 12 + 1, 1, tzinfo=UTC
    )


def relative_month(now: datetime, by: int) -> Interval:
    index = now.year * 12 + now.month - 1 + by
    return month_interval(index // 12, index % 12 + 1)


def year_interval(number: int) -> Interval:
    return datetime(number, 1, 1, tzinfo=UTC), datetime(number + 1, 1, 1, tzinfo=UTC)


def date_interval(year_number: int, month_number: int, day_number: int) -> Interval:
    return days_interval(datetime(year_number, month_number, day_number, tzinfo=UTC))


def day_months_away(now: datetime, by: int) -> Interval:
    """The day `by` months away, or the last day of that month if it is shorter."""
    start, end = relative_month(now, by)
    return days_interval(min(start + timedelta(days=now.day - 1), end - timedelta(days=1)))


def nearest_weekday(now: datetime, number: int, *, past: bool) -> Interval:
    """The nearest such weekday before (or after) today, never today itself."""
    ahead = (number - now.weekday()) % 7 or 7
    return relative_days(now, ahead - 7 if past and ahead < 7 else -7 if past else ahead)


IntervalBuilder = Callable[[re.Match[str], datetime, bool], Interval]


class TimeExpression(NamedTuple):
    """From `start` up to, not including, `end`; said at `text[span[0]:span[1]]`."""

    start: datetime
    end: datetime
    span: tuple[int, int]


class TimePatterns:
    """Patterns and what they mean, a line each: (cues, pattern, how to reckon the interval).

    Cues are looked for first, since most texts name no time: a|b, or a|b & c|d where one of each must be
    there. "0" stands for any digit.
    """

    def __init__(self, *lines: tuple[str, str, IntervalBuilder]) -> None:
        self._lines = tuple(
            (_parse_cues(cues, 0), _parse_cues(cues, 1), re.compile(pattern, re.IGNORECASE), build)
            for cues, pattern, build in lines
        )
        self._cues = frozenset(cue for one, other, _, _ in self._lines for cue in one | other)

    def find(self, text: str, now: datetime, past: bool) -> list[TimeExpression]:
        """Whatever the lines find, overlaps and all; `now` in UTC."""
        lowered = text.lower()
        there = {cue for cue in self._cues if cue in lowered}
        if _DIGIT.search(text):
            there.add("0")
        found: list[TimeExpression] = []
        for one, other, pattern, build in self._lines if there else ():
            if one.isdisjoint(there) or (other and other.isdisjoint(there)):
                continue
            for match in pattern.finditer(text):
                try:
                    start, end = build(match, now, past)
                except (ValueError, OverflowError):  # no such day: 32 May, the year 99999
                    continue
                found.append(TimeExpression(start, end, match.span()))
        return found


def _parse_cues(said: str, group: int) -> frozenset[str]:
    groups = said.split(" & ")
    return frozenset(groups[group].split("|")) if group < len(groups) else frozenset()


_DIGIT = re.compile(r"\d")
MONTH_PREFIXES = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
WEEKDAY_PREFIXES = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
MONTH_PATTERN_EN = (
    r"(?P<m>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
WEEKDAY_PATTERN_EN = r"(?P<wd>mon|tues|wednes|thurs|fri|satur|sun)day"
_DAY_PATTERN = r"(?P<d>\d{1,2})(?:st|nd|rd|th)?"
YEAR_PATTERN = r"(?P<y>(?:19|20)\d\d)"
_UNIT_PATTERN = r"(?P<unit>day|week|month|year|hour|minute)s?"
_SECOND_UNIT_PATTERN = r"(?P<unit2>day|week|month|year|hour|minute)s?"
DAY_PART_PATTERN_EN = "(?:morning|afternoon|evening|night)"
_CLOCK_PATTERN_ZH = (
    "(?:\\d{1,2}|[一二两三四五六七八九十]{1,3})(?:[:：]\\d\\d|点(?:钟|整|半|一刻|三刻|\\d\\d分?)?)"
)
_DAY_PART_PATTERN_ZH = f"(?:早上|上午|中午|下午|傍晚|晚上|凌晨|晚)?(?:{_CLOCK_PATTERN_ZH})?"
_WEEK_PATTERN_ZH = "(?:周|星期|礼拜)"
MONTH_PATTERN_ZH = "1[0-2]|0?[1-9]|十[一二]?|[一二三四五六七八九]"
PERIOD_OFFSETS_ZH = {"上上": -2, "上": -1, "这": 0, "本": 0, "下": 1, "下下": 2}
_DAY_OFFSETS_ZH = {"大前": -3, "前": -2, "昨": -1, "今": 0, "明": 1, "后": 2, "大后": 3}
YEAR_OFFSETS_ZH = {"前": -2, "去": -1, "今": 0, "明": 1, "后": 2}
TIME_UNITS_ZH = {
    "天": "day",
    "日": "day",
    "周": "week",
    "星期": "week",
    "礼拜": "week",
    "月": "month",
    "年": "year",
}
TIME_UNITS_ZH |= {"小时": "hour", "分钟": "minute"}


def _interval_away(now: datetime, count: int, unit: str) -> Interval:
    if unit in ("hour", "minute"):
        return days_interval(now + timedelta(**{unit + "s": count}))
    if unit in ("day", "week"):
        return relative_days(now, count * (7 if unit == "week" else 1))
    if unit == "month":
        return day_months_away(now, count)
    return year_interval(now.year + count)


def relative_period(now: datetime, by: int, unit: str) -> Interval:
    if unit == "week":
        return relative_week(now, by)
    if unit == "weekend":
        return relative_days(now, 7 * by - now.weekday() + 5, 2)
    return relative_month(now, by) if unit == "month" else year_interval(now.year + by)


def _parse_month_en(m: re.Match[str], now: datetime, past: bool) -> Interval:
    """A month, or a day of one; without a year, the nearest on the side the text leans to."""
    parts = m.groupdict()
    month_number = MONTH_PREFIXES.index(parts["m"][:3].lower()) + 1
    lead = m.group().lower()
    past = lead.startswith(("last", "since")) or (past and not lead.startswith("next"))
    year_number = (
        int(parts["y"]) if parts.get("y") else nearest_year(now, month_number, int(parts.get("d") or 1), past)
    )
    if parts.get("d"):
        return date_interval(year_number, month_number, int(parts["d"]))
    if lead.startswith("last") and not parts.get("y") and month_number == now.month:
        year_number -= 1  # in May, last May is not this one
    return month_interval(year_number, month_number)


def nearest_year(now: datetime, month_number: int, day_number: int, past: bool) -> int:
    ahead = (month_number, day_number) > (now.month, now.day)
    behind = (month_number, 31 if day_number == 1 else day_number) < (now.month, now.day)
    return now.year - 1 if past and ahead else now.year + 1 if not past and behind else now.year


def _parse_year_zh(m: re.Match[str], now: datetime) -> int | None:
    parts = m.groupdict()
    if parts.get("y"):
        return int(parts["y"])
    return now.year + YEAR_OFFSETS_ZH[parts["ry"]] if parts.get("ry") else None


def _parse_date_zh(m: re.Match[str], now: datetime, past: bool) -> Interval:
    month_number = parse_chinese_number(m["zm"])
    day_number = parse_chinese_number(m["d"]) if m["d"] else None
    year_number = _parse_year_zh(m, now)
    if year_number is None:
        year_number = nearest_year(now, month_number, day_number or 1, past)
    if day_number is None:
        return month_interval(year_number, month_number)
    return date_interval(year_number, month_number, day_number)


def _parse_weekday_zh(m: re.Match[str], now: datetime, past: bool) -> Interval:
    index = "一二三四五六日".find(m["zwd"].replace("天", "日"))
    if m["shift"] is None:
        return nearest_weekday(now, index, past=past)
    return relative_days(now, 7 * PERIOD_OFFSETS_ZH[m["shift"]] - now.weekday() + index)


def _parse_weekday_en(m: re.Match[str], now: datetime, past: bool) -> Interval:
    lean = {"last": True, "past": True, "next": False, "this": False, "coming": False}
    return nearest_weekday(
        now, WEEKDAY_PREFIXES.index(m["wd"][:3].lower()), past=lean.get((m["lean"] or "").lower(), past)
    )


PERIOD_OFFSETS_EN = {"last": -1, "past": -1, "this": 0, "next": 1, "coming": 1}

_MONTH_CUES = "|".join(MONTH_PREFIXES)
_DATE_PATTERNS = TimePatterns(
    ("before yesterday", r"\bthe day before yesterday\b", lambda m, now, past: relative_days(now, -2)),
    ("after tomorrow", r"\bthe day after tomorrow\b", lambda m, now, past: relative_days(now, 2)),
    (
        "yesterday|night",
        rf"\b(?:yesterday|last night)(?: {DAY_PART_PATTERN_EN})?\b",
        lambda m, now, past: relative_days(now, -1),
    ),
    (
        "today|tonight|this ",
        r"\b(?:today|tonight|this (?:morning|afternoon|evening))\b",
        lambda m, now, past: days_interval(now),
    ),
    ("tomorrow", rf"\btomorrow(?: {DAY_PART_PATTERN_EN})?\b", lambda m, now, past: relative_days(now, 1)),
    (
        "on |last|past|this|next|coming & day",
        rf"\b(?:(?:on )?(?:the )?(?P<lean>last|past|this|next|coming) |on ){WEEKDAY_PATTERN_EN}(?: {DAY_PART_PATTERN_EN})?\b",
        _parse_weekday_en,
    ),
    (
        "last|past|this|next|coming & week|month|year",
        r"\b(?P<shift>last|past|this|next|coming) (?P<unit>week|weekend|month|year)\b",
        lambda m, now, past: relative_period(now, PERIOD_OFFSETS_EN[m["shift"].lower()], m["unit"].lower()),
    ),
    (
        "weekend",
        r"\b(?:over|at|on) the weekend\b",
        lambda m, now, past: relative_period(now, -1 if past and now.weekday() < 5 else 0, "weekend"),
    ),
    (
        "ago|back|earlier & day|week|month|year|hour|minute",
        rf"\b(?P<n>{NUMBER_PATTERN_EN}) {_UNIT_PATTERN} (?:ago|back|earlier)\b",
        lambda m, now, past: _interval_away(now, -parse_english_number(m["n"]), m["unit"].lower()),
    ),
    (
        "in |from now|later & day|week|month|year|hour|minute",
        rf"\b(?:in (?P<n>{NUMBER_PATTERN_EN}) {_UNIT_PATTERN}|(?P<n2>{NUMBER_PATTERN_EN}) {_SECOND_UNIT_PATTERN} (?:from now|later))\b",
        lambda m, now, past: _interval_away(
            now, parse_english_number(m["n"] or m["n2"]), (m["unit"] or m["unit2"]).lower()
        ),
    ),
    (
        f"{_MONTH_CUES} & 0",
        rf"\b(?:on |since |until |by )?{MONTH_PATTERN_EN}\.? {_DAY_PATTERN}(?:,? {YEAR_PATTERN})?\b(?!\s?(?:kg|lbs?|years|%))",
        _parse_month_en,
    ),
    (
        f"{_MONTH_CUES} & 0",
        rf"\b(?:on |since |until |by )?(?:the )?{_DAY_PATTERN} (?:of )?{MONTH_PATTERN_EN}\.?(?:,? {YEAR_PATTERN})?\b",
        _parse_month_en,
    ),
    (
        f"{_MONTH_CUES} & 19|20",
        rf"\b(?:in |since |until |by |last )?{MONTH_PATTERN_EN}\.?,? (?:of )?{YEAR_PATTERN}\b",
        _parse_month_en,
    ),
    (
        f"{_MONTH_CUES} & in |since |until |by |last |next ",
        rf"\b(?:in|since|until|by|last|next) {MONTH_PATTERN_EN}\b",
        _parse_month_en,
    ),
    (
        "19|20",
        rf"(?:\b(?:on|since|until) )?(?<![0-9a-z_]){YEAR_PATTERN}(?P<sep>[-/.])(?P<m>\d{{1,2}})(?P=sep)"
        r"(?P<d>\d{1,2})(?![0-9a-z_])",
        lambda m, now, past: date_interval(int(m["y"]), int(m["m"]), int(m["d"])),
    ),
    (
        "19|20",
        rf"\b(?:in|since|until|by|during|back in) {YEAR_PATTERN}\b(?![-/.]\d)",
        lambda m, now, past: year_interval(int(m["y"])),
    ),
    (
        "天|晚|早|日|儿",
        "(?P<day>大前|大后|前|昨|今|明|后)(?:天|晚|早|日|(?<![从以之目])儿个?)" + _DAY_PART_PATTERN_ZH,
        lambda m, now, past: relative_days(now, _DAY_OFFSETS_ZH[m["day"]]),
    ),
    (
        "周|星期|礼拜",
        f"(?P<shift>上上|下下|上|这|本|下)?个?{_WEEK_PATTERN_ZH}(?P<zwd>[一二三四五六日天]){_DAY_PART_PATTERN_ZH}",
        _parse_weekday_zh,
    ),
    (
        "周|星期|礼拜",
        f"(?P<shift>上上|下下|上|这|本|下)个?{_WEEK_PATTERN_ZH}(?P<end>末)?(?![一二三四五六日天])",
        lambda m, now, past: relative_period(
            now, PERIOD_OFFSETS_ZH[m["shift"]], "weekend" if m["end"] else "week"
        ),
    ),
    (
        "月",
        "(?P<shift>上上|下下|上|这|本|下)个?月(?!\\d)[初中底末]?",
        lambda m, now, past: relative_month(now, PERIOD_OFFSETS_ZH[m["shift"]]),
    ),
    (
        "前|后",
        # 2020年后 and 三月前 are a year and a month
        f"(?!(?:19|20)\\d\\d年)(?P<n>{NUMBER_PATTERN_ZH})个?(?P<unit>天|日|周|星期|礼拜|(?<=个)月|年|小时|分钟)"
        "(?P<way>以前|之前|前|以后|之后|后)",
        lambda m, now, past: _interval_away(
            now, parse_chinese_number(m["n"]) * (-1 if "前" in m["way"] else 1), TIME_UNITS_ZH[m["unit"]]
        ),
    ),
    (
        "月",
        f"(?:{YEAR_PATTERN}年|(?P<ry>前|去|今|明|后)年)?(?P<zm>{MONTH_PATTERN_ZH})月(?:份"
        f"|(?P<d>{NUMBER_PATTERN_ZH})[日号]{_DAY_PART_PATTERN_ZH})?",
        _parse_date_zh,
    ),
    (
        "年",
        "(?:(?P<y>(?:19|20)\\d\\d)|(?P<ry>前|去|今|明|后))年",
        lambda m, now, past: year_interval(_parse_year_zh(m, now) or now.year),
    ),
)


def find_time_expressions(text: str, now: datetime, *, past: bool = False) -> list[TimeExpression]:
    """Every time expression of a text, in order, none overlapping another; the longest reading wins."""
    if now.tzinfo is None:
        raise InvalidInput(f"the reference time {now.isoformat()} has no zone; give an aware datetime")
    return drop_overlaps(_DATE_PATTERNS.find(text, now.astimezone(UTC), past))


def drop_overlaps(found: list[TimeExpression]) -> list[TimeExpression]:
    """In order, none overlapping another: the first to begin wins, then the longest, then the first given."""
    out: list[TimeExpression] = []
    for when in sorted(found, key=lambda when: (when.span[0], -when.span[1])):
        if not out or when.span[0] >= out[-1].span[1]:
            out.append(when)
    return out


def format_interval(when: TimeExpression) -> str:
    """The interval as a short date: 2024, 2024-05, 2024-05-06, or 2024-05-06 to 2024-05-12."""
    first, last = when.start, when.end - timedelta(days=1)
    if first.date() == last.date():
        return f"{first:%Y-%m-%d}"
    if (first.month, first.day, last.month, last.day) == (1, 1, 12, 31) and first.year == last.year:
        return f"{first:%Y}"
    if first.day == 1 and when.end.day == 1 and (last.year, last.month) == (first.year, first.month):
        return f"{first:%Y-%m}"
    return f"{first:%Y-%m-%d} to {last:%Y-%m-%d}"


def format_start(when: TimeExpression) -> str:
    """When what still holds began: a month or a year that was said stays one, else the first day."""
    said = format_interval(when)
    return said.partition(" to ")[0]
