"""Time expressions in English and Chinese text as half-open UTC intervals, relative to the time of the turn.

To support another expression, add a line to `_DATE_PATTERNS`. Ambiguous phrases are decided as follows: "next
Friday" is the first Friday after today, 下周五 the Friday of next week. An expression that names no real day
(May 32nd) is ignored.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from thinkback.errors import InvalidInput
from thinkback.language.tokens import (
    NUMBER_PATTERN_EN,
    NUMBER_PATTERN_ZH,
    parse_chinese_number,
    parse_english_number,
)

Interval = tuple[datetime, datetime]
"""From the first instant up to, not including, the second."""


def days_interval(day: datetime, count: int = 1) -> Interval:
    """`count` whole days from the day of `day` on."""
    start = day.replace(hour=0, minute=0, second=0, microsecond=0)
    return start, start + timedelta(days=count)


def relative_days(now: datetime, by: int, count: int = 1) -> Interval:
    """`count` whole days, the first of them `by` days after `now`."""
    return days_interval(now + timedelta(days=by), count)


def relative_week(now: datetime, by: int = 0) -> Interval:
    """The week `by` weeks after this one, from Monday to Monday."""
    return relative_days(now, 7 * by - now.weekday(), 7)


def month_interval(year: int, month: int) -> Interval:
    start = datetime(year, month, 1, tzinfo=UTC)
    return start, datetime(year + month // 12, month % 12 + 1, 1, tzinfo=UTC)


def relative_month(now: datetime, by: int) -> Interval:
    """The month `by` months after this one."""
    index = now.year * 12 + now.month - 1 + by
    return month_interval(index // 12, index % 12 + 1)


def year_interval(year: int) -> Interval:
    return datetime(year, 1, 1, tzinfo=UTC), datetime(year + 1, 1, 1, tzinfo=UTC)


def date_interval(year: int, month: int, day: int) -> Interval:
    return days_interval(datetime(year, month, day, tzinfo=UTC))


def day_months_away(now: datetime, by: int) -> Interval:
    """The day `by` months away, or the last day of that month if it is shorter."""
    start, end = relative_month(now, by)
    return days_interval(min(start + timedelta(days=now.day - 1), end - timedelta(days=1)))


def day_of_month(now: datetime, by: int, day: int) -> Interval:
    """A day of the month that is `by` months after the current one; ValueError if it has no such day."""
    start, _ = relative_month(now, by)
    return days_interval(start.replace(day=day))


def nearest_day_of_month(now: datetime, day: int, *, past: bool) -> Interval:
    """The last (`past`) or next day of this number, which may be today; ValueError if there is none soon."""
    for by in (0, -1, -2) if past else (0, 1, 2):
        with suppress(ValueError):  # the month has no such day
            start, end = day_of_month(now, by, day)
            if (start <= now) if past else (now < end):
                return start, end
    raise ValueError(f"no day {day} near {now:%Y-%m-%d}")


def nearest_weekday(now: datetime, number: int, *, past: bool) -> Interval:
    """The last (`past`) or next weekday of this number (Monday is 0), never today itself."""
    ahead = (number - now.weekday()) % 7 or 7
    return relative_days(now, ahead - 7 if past and ahead < 7 else -7 if past else ahead)


IntervalBuilder = Callable[[re.Match[str], datetime, bool], Interval]
"""Builds the interval of a match, given the reference time and `past`.

`past` says whether an expression without direction ("on Friday", "in May") means the last or the next one.
"""


class TimeExpression(NamedTuple):
    """The interval from `start` up to, not including, `end`, named by `text[span[0]:span[1]]`."""

    start: datetime
    end: datetime
    span: tuple[int, int]


class TimePatterns:
    """A table of patterns; each line is (cues, pattern, builder of the interval).

    Cues are substrings that are looked for first, because most texts name no time: `a|b`, or `a|b & c|d` if
    one of each group is required. "0" stands for any digit.
    """

    def __init__(self, *lines: tuple[str, str, IntervalBuilder]) -> None:
        self._lines = tuple(
            (_parse_cues(cues, 0), _parse_cues(cues, 1), re.compile(pattern, re.IGNORECASE), build)
            for cues, pattern, build in lines
        )
        self._cues: dict[str, list[str]] = {}  # by their first character
        for cue in sorted({cue for first, second, _, _ in self._lines for cue in first | second}):
            self._cues.setdefault(cue[0], []).append(cue)

    def find(self, text: str, now: datetime, past: bool) -> list[TimeExpression]:
        """All matches of all lines, which may overlap; `now` must be in UTC."""
        lowered = text.lower()
        starts = self._cues.keys() & set(lowered)
        present = {cue for start in starts for cue in self._cues[start] if cue in lowered}
        if _DIGIT.search(text):
            present.add("0")
        found: list[TimeExpression] = []
        for first, second, pattern, build in self._lines if present else ():
            if first.isdisjoint(present) or (second and second.isdisjoint(present)):
                continue
            for match in pattern.finditer(text):
                try:
                    start, end = build(match, now, past)
                except (ValueError, OverflowError):  # no such date: May 32, or the year 99999
                    continue
                found.append(TimeExpression(start, end, match.span()))
        return found


def _parse_cues(cues: str, group: int) -> frozenset[str]:
    groups = cues.split(" & ")
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
# What may follow a day without a month: "on the 2nd floor" and 3号线 are no days.
_NO_NOUN_FOLLOWS_EN = (
    r"(?=\s*(?:\Z|[^\w\s'’]|\s(?:and|or|at|in|for|it|i|we|he|she|they|you|there|so|but|with|because|cos|as|to"
    r"|till|until|this|now|which|when|my|our|his|her|the|is|was|if|instead|please|pls|again|then|btw|lol)\b))"
)
_NO_NOUN_FOLLOWS_ZH = (
    r"(?=\Z|[^\w]|早|上午|中午|下午|晚|凌晨|那天|当天|之|以"
    r"|[去来到的走开前后就要是我他她它你在做生搬考拿报面结入出回飞动打给了得才那发为])"
)
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
    "小时": "hour",
    "分钟": "minute",
}


def _interval_away(now: datetime, count: int, unit: str) -> Interval:
    """The day (for years, the whole year) that is `count` units after `now`."""
    if unit in ("hour", "minute"):
        return days_interval(now + timedelta(**{unit + "s": count}))
    if unit in ("day", "week"):
        return relative_days(now, count * (7 if unit == "week" else 1))
    if unit == "month":
        return day_months_away(now, count)
    return year_interval(now.year + count)


def relative_period(now: datetime, by: int, unit: str) -> Interval:
    """The week, weekend, month or year that is `by` units after the current one."""
    if unit == "week":
        return relative_week(now, by)
    if unit == "weekend":
        return relative_days(now, 7 * by - now.weekday() + 5, 2)
    return relative_month(now, by) if unit == "month" else year_interval(now.year + by)


def _parse_month_en(m: re.Match[str], now: datetime, past: bool) -> Interval:
    """A month or a day of a month; without a year, the nearest one in the direction given by `past`."""
    parts = m.groupdict()
    month = MONTH_PREFIXES.index(parts["m"][:3].lower()) + 1
    words = m.group().lower()
    past = words.startswith(("last", "since")) or (past and not words.startswith("next"))
    year = int(parts["y"]) if parts.get("y") else nearest_year(now, month, int(parts.get("d") or 1), past)
    if parts.get("d"):
        return date_interval(year, month, int(parts["d"]))
    if words.startswith("last") and not parts.get("y") and month == now.month:
        year -= 1  # in May, "last May" is not the current month
    return month_interval(year, month)


def nearest_year(now: datetime, month: int, day: int, past: bool) -> int:
    """The year of the nearest such date before or after `now`; the current month counts as both."""
    ahead = (month, day) > (now.month, now.day)
    behind = (month, 31 if day == 1 else day) < (now.month, now.day)
    return now.year - 1 if past and ahead else now.year + 1 if not past and behind else now.year


def parse_year(m: re.Match[str], now: datetime) -> int | None:
    """The year of the groups `y` (digits) or `ry` (去, 今, 明...), or None."""
    parts = m.groupdict()
    if parts.get("y"):
        return int(parts["y"])
    return now.year + YEAR_OFFSETS_ZH[parts["ry"]] if parts.get("ry") else None


def _parse_date_zh(m: re.Match[str], now: datetime, past: bool) -> Interval:
    month = parse_chinese_number(m["zm"])
    day = parse_chinese_number(m["d"]) if m["d"] else None
    year = parse_year(m, now)
    if year is None:
        year = nearest_year(now, month, day or 1, past)
    if day is None:
        return month_interval(year, month)
    return date_interval(year, month, day)


def _parse_relative_month_zh(m: re.Match[str], now: datetime, past: bool) -> Interval:
    """A month such as 下个月, or one of its days (下个月15号)."""
    by = PERIOD_OFFSETS_ZH[m["shift"]]
    return day_of_month(now, by, parse_chinese_number(m["d"])) if m["d"] else relative_month(now, by)


def _parse_day_of_month_en(m: re.Match[str], now: datetime, past: bool) -> Interval:
    """A day of a month, such as "the 15th of next month"."""
    words = m.group().lower()
    by = -1 if "last" in words else 1 if "next" in words else 0
    return day_of_month(now, by, int(m["d"] or m["d2"]))


def _parse_bare_day(m: re.Match[str], now: datetime, past: bool) -> Interval:
    """A day without a month: "on the 15th", 15号."""
    return nearest_day_of_month(now, parse_chinese_number(m["d"] or m["d2"]), past=past)


def _parse_weekday_zh(m: re.Match[str], now: datetime, past: bool) -> Interval:
    index = "一二三四五六日".find(m["zwd"].replace("天", "日"))
    if m["shift"] is None:
        return nearest_weekday(now, index, past=past)
    return relative_days(now, 7 * PERIOD_OFFSETS_ZH[m["shift"]] - now.weekday() + index)


def _parse_weekday_en(m: re.Match[str], now: datetime, past: bool) -> Interval:
    is_past = {"last": True, "past": True, "next": False, "this": False, "coming": False}
    past = is_past.get((m["direction"] or "").lower(), past)
    return nearest_weekday(now, WEEKDAY_PREFIXES.index(m["wd"][:3].lower()), past=past)


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
        rf"\b(?:(?:on )?(?:the )?(?P<direction>last|past|this|next|coming) |on ){WEEKDAY_PATTERN_EN}"
        rf"(?: {DAY_PART_PATTERN_EN})?\b",
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
        rf"\b(?:in (?P<n>{NUMBER_PATTERN_EN}) {_UNIT_PATTERN}"
        rf"|(?P<n2>{NUMBER_PATTERN_EN}) {_SECOND_UNIT_PATTERN} (?:from now|later))\b",
        lambda m, now, past: _interval_away(
            now, parse_english_number(m["n"] or m["n2"]), (m["unit"] or m["unit2"]).lower()
        ),
    ),
    (
        "st|nd|rd|th & 0",
        r"\b(?:[a-z]{3,6}day (?:the )?(?P<d>\d{1,2})(?:st|nd|rd|th)\b"
        r"|(?:(?:mon|tues?|wed|thurs?|fri|sat|sun|on|by|until|till|since|from|before|after|starting|closes"
        r"|ends) (?:the )?"
        r"|(?:for|it's|its|is|was|not) the |(?<=[.!?] )the |^the )"
        r"(?P<d2>\d{1,2})(?:st|nd|rd|th)\b(?!-)" + _NO_NOUN_FOLLOWS_EN + ")",
        _parse_bare_day,
    ),
    (
        "next month|last month|this month & 0",
        r"\b(?:on )?(?:the )?(?P<d>\d{1,2})(?:st|nd|rd|th),? (?:of )?(?:next|last|this) month\b"
        r"|\b(?:next|last|this) month,? (?:on )?the (?P<d2>\d{1,2})(?:st|nd|rd|th)\b",
        _parse_day_of_month_en,
    ),
    (
        f"{_MONTH_CUES} & 0",
        rf"\b(?:on |since |until |by )?{MONTH_PATTERN_EN}\.? {_DAY_PATTERN}(?:,? {YEAR_PATTERN})?\b"
        r"(?!\s?(?:kg|lbs?|years|%))",
        _parse_month_en,
    ),
    (
        f"{_MONTH_CUES} & 0",
        rf"\b(?:on |since |until |by )?(?:the )?{_DAY_PATTERN} (?:of )?{MONTH_PATTERN_EN}\.?"
        rf"(?:,? {YEAR_PATTERN})?\b",
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
        # not in 以前天天 and 小明天天, which mean "every day"
        "(?P<day>大前|大后|(?<![以之从目先])前|昨|今|明|(?<![以之今往此])后)"
        "(?:天(?!天(?![天气黑亮色空]))|晚|早|日|儿个?)" + _DAY_PART_PATTERN_ZH,
        lambda m, now, past: relative_days(now, _DAY_OFFSETS_ZH[m["day"]]),
    ),
    (
        "周|星期|礼拜",
        f"(?P<shift>上上|下下|上|这|本|下)?个?{_WEEK_PATTERN_ZH}(?P<zwd>[一二三四五六日天])"
        + _DAY_PART_PATTERN_ZH,
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
        "(?P<shift>上上|下下|上|这|本|下)个?月"
        f"(?:的?(?P<d>{NUMBER_PATTERN_ZH})[日号]{_DAY_PART_PATTERN_ZH}|(?!\\d)(?:[上中下]旬|[初中底末])?)",
        _parse_relative_month_zh,
    ),
    (
        "前|后",
        # 2020年后 and 三月前 name a year and a month, not a distance
        f"(?!(?:19|20)\\d\\d年)(?P<n>{NUMBER_PATTERN_ZH})个?"
        "(?P<unit>天|日|周|星期|礼拜|(?<=个)月|年|小时|分钟)"
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
        "号",
        f"(?<!\\d[到至])(?<![月号第\\d.〇零一二三四五六七八九十、])(?:(?P<d>{NUMBER_PATTERN_ZH})号"
        f"{_NO_NOUN_FOLLOWS_ZH}|(?:(?<=[周期拜][一二三四五六日天])|(?<=最晚))"
        f"(?P<d2>{NUMBER_PATTERN_ZH})号(?![楼线院门桌机车床]))" + _DAY_PART_PATTERN_ZH,
        _parse_bare_day,
    ),
    (
        "年",
        "(?:(?P<y>(?:19|20)\\d\\d)|(?P<ry>前|去|今|明|后))年",
        lambda m, now, past: year_interval(parse_year(m, now) or now.year),
    ),
)


def find_time_expressions(text: str, now: datetime, *, past: bool = False) -> list[TimeExpression]:
    """Find the time expressions of a text, in order and without overlaps.

    `now` is the reference time; `past` says whether "on Friday" or "in May" means the last or the next one.
    Raises `InvalidInput` if `now` has no time zone.
    """
    if now.tzinfo is None:
        raise InvalidInput(f"the reference time {now.isoformat()} has no time zone; pass an aware datetime")
    return drop_overlaps(_DATE_PATTERNS.find(text, now.astimezone(UTC), past))


def drop_overlaps(found: list[TimeExpression]) -> list[TimeExpression]:
    """Sort and drop overlaps: the earliest start wins, then the longest, then the first given."""
    result: list[TimeExpression] = []
    for expression in sorted(found, key=lambda expression: (expression.span[0], -expression.span[1])):
        if not result or expression.span[0] >= result[-1].span[1]:
            result.append(expression)
    return result


def format_interval(time: TimeExpression) -> str:
    """Format as a short date: 2024, 2024-05, 2024-05-06, or 2024-05-06 to 2024-05-12."""
    first, last = time.start, time.end - timedelta(days=1)
    if first.date() == last.date():
        return f"{first:%Y-%m-%d}"
    if (first.month, first.day, last.month, last.day) == (1, 1, 12, 31) and first.year == last.year:
        return f"{first:%Y}"
    if first.day == 1 and time.end.day == 1 and (last.year, last.month) == (first.year, first.month):
        return f"{first:%Y-%m}"
    return f"{first:%Y-%m-%d} to {last:%Y-%m-%d}"


def format_start(time: TimeExpression) -> str:
    """Format the start: a year or month if the expression is one, else its first day."""
    return format_interval(time).partition(" to ")[0]
