"""Seasons and holidays as generous intervals to search in; holidays of the lunar calendar move by weeks.

"Last Christmas" and 去年夏天 name one time (`NAMED_HOLIDAYS`). "At Christmas" and 夏天 recur every year
(`RECURRING_HOLIDAYS`), so they name one time only if the question is about a past event.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from thinkback.language.dates import YEAR_PATTERN, Interval, IntervalBuilder, parse_year

# pattern: (month, day, days before it that are included, days after it)
_HOLIDAYS_EN = {
    r"christmas(?: eve| day)?|xmas": (12, 25, 5, 6),
    r"(?:chinese|lunar) new year|spring festival": (2, 5, 21, 24),
    r"new year'?s eve": (12, 31, 2, 2),
    r"new year'?s day|new year'?s?": (1, 1, 3, 3),
    r"thanksgiving(?: day)?": (11, 25, 5, 5),
    r"halloween": (10, 31, 3, 3),
    r"easter(?: sunday)?": (4, 8, 20, 20),
    r"valentine'?s(?: day)?": (2, 14, 2, 2),
    r"independence day": (7, 4, 2, 2),
    r"mother'?s day": (5, 11, 6, 6),
    r"father'?s day": (6, 18, 5, 5),
    r"(?:mid-?autumn|moon) festival": (9, 23, 18, 17),
    r"dragon boat festival": (6, 11, 17, 17),
    r"lantern festival": (2, 20, 19, 18),
    r"(?:chinese )?national day|golden week": (10, 1, 3, 9),
}
_HOLIDAYS_ZH = {
    "春节|(?<!不)过年(?![会货级轻龄])|大年(?:三十|初[一二三四五六七])|除夕": (2, 5, 21, 24),
    "元宵节?": (2, 20, 19, 18),
    "情人节": (2, 14, 2, 2),
    "妇女节|三八节": (3, 8, 2, 2),
    "清明(?!上河)节?": (4, 5, 3, 3),
    "劳动节|五一(?![年百千万路\\d]|广场|大道)(?:长假|假期|期间|节)?": (5, 1, 2, 6),
    "母亲节": (5, 11, 6, 6),
    "儿童节|六一(?![年百千万\\d])": (6, 1, 2, 2),
    "端午节?": (6, 11, 17, 17),
    "父亲节": (6, 18, 5, 5),
    "七夕": (8, 15, 17, 17),
    "教师节": (9, 10, 2, 2),
    "中秋节?": (9, 23, 18, 17),
    "国庆节?(?:长假|假期|期间)?|十一(?:长假|假期|黄金周|期间)": (10, 1, 3, 9),
    "重阳节?": (10, 15, 17, 17),
    "万圣节": (10, 31, 3, 3),
    "(?<![\\d一二三四五六七八九])双十一": (11, 11, 10, 3),
    "感恩节": (11, 25, 5, 5),
    "平安夜|圣诞(?![老树])节?": (12, 25, 5, 6),
    "跨年": (12, 31, 2, 2),
    "元旦": (1, 1, 3, 3),
    "暑假": (7, 31, 35, 35),
    "寒假": (2, 1, 25, 25),
}
_SEASONS = {
    "spring": (4, 15, 45, 46),
    "summer": (7, 15, 44, 47),
    "autumn": (10, 15, 44, 46),
    "fall": (10, 15, 44, 46),
    "winter": (1, 14, 44, 45),
}
_SEASONS_ZH = {"春": "spring", "夏": "summer", "秋": "autumn", "冬": "winter"}
_WINDOW_BY_PATTERN = {
    re.compile(pattern, re.IGNORECASE): window for pattern, window in (_HOLIDAYS_EN | _HOLIDAYS_ZH).items()
}

DayWindow = tuple[int, int, int, int]
"""(month, day, days before it, days after it)"""


def _find_window(name: str) -> tuple[DayWindow, bool]:
    """The window of a holiday or season, and whether it is a winter: that of 2021 ends in 2022."""
    season = _SEASONS_ZH.get(name, name.lower())
    if season in _SEASONS:
        return _SEASONS[season], season == "winter"
    return next(window for pattern, window in _WINDOW_BY_PATTERN.items() if pattern.fullmatch(name)), False


def _interval_in_year(window: DayWindow, year: int) -> Interval:
    month, day, before, after = window
    middle = datetime(year, month, day, tzinfo=UTC)
    return middle - timedelta(days=before), middle + timedelta(days=after + 1)


def _nearest_interval(window: DayWindow, now: datetime, direction: str) -> Interval:
    """The latest one that has begun ("past") or is over ("last"), or the first that is not over ("next")."""
    intervals = [_interval_in_year(window, now.year + by) for by in (-2, -1, 0, 1, 2)]
    if direction == "next":
        return next(interval for interval in intervals if interval[1] > now)
    return [
        interval
        for interval in intervals
        if interval[0] <= now and (direction == "past" or interval[1] <= now)
    ][-1]


def _parse_named(m: re.Match[str], now: datetime, past: bool) -> Interval:
    window, winter = _find_window(m["name"])
    year = parse_year(m, now)
    if year is not None:
        return _interval_in_year(window, year + winter)
    direction = (m.groupdict().get("direction") or "").lower()
    if direction in ("this", "这个"):  # of this year; in a question about the past, one that has begun
        start, end = _interval_in_year(window, now.year + (winter and now.month > 6))
        return (start, end) if start <= now or not past else _nearest_interval(window, now, "past")
    return _nearest_interval(window, now, {"last": "last", "上个": "last"}.get(direction, "next"))


def _parse_recurring(m: re.Match[str], now: datetime, past: bool) -> Interval:
    return _nearest_interval(_find_window(m["name"])[0], now, "past" if past else "next")


_HOLIDAY_PATTERN_EN = "|".join(_HOLIDAYS_EN)
_HOLIDAY_PATTERN_ZH = "|".join(_HOLIDAYS_ZH)
_SEASON_PATTERN_EN = "spring|summer|autumn|fall|winter"
_NOT_A_SEASON = r"(?! (?:rolls?|onions?|cleaning|semester|school|olympics|coat)\b)"
_PREPOSITION_EN = "(?:in|over|during|on|at) (?:the )?|the "
_CUES_EN = (
    f"{_SEASON_PATTERN_EN}|christmas|xmas|new year|festival|thanksgiving|halloween|easter|valentine"
    "|s day|e day|national|week"
)
_CUES_ZH = (
    "节|过年|大年|除夕|元宵|清明|五一|六一|端午|七夕|中秋|国庆|十一|重阳|平安夜|圣诞|跨年|元旦|假|春|夏|秋|冬"
)
NAMED_HOLIDAYS: tuple[tuple[str, str, IntervalBuilder], ...] = (
    (
        _CUES_EN,
        rf"\b(?P<direction>last|this|next) (?P<name>{_HOLIDAY_PATTERN_EN}|{_SEASON_PATTERN_EN})\b"
        + _NOT_A_SEASON,
        _parse_named,
    ),
    (
        _CUES_EN,
        rf"\b(?:{_PREPOSITION_EN})?(?P<name>{_HOLIDAY_PATTERN_EN}|{_SEASON_PATTERN_EN}),? (?:of |in )?"
        rf"{YEAR_PATTERN}\b",
        _parse_named,
    ),
    (
        "19|20",
        rf"\b(?:{_PREPOSITION_EN})?{YEAR_PATTERN}(?:'s)?"
        rf" (?P<name>{_HOLIDAY_PATTERN_EN}|{_SEASON_PATTERN_EN})\b",
        _parse_named,
    ),
    (
        "年",
        f"(?:{YEAR_PATTERN}|(?P<ry>前|去|今|明|后))年的?"
        f"(?P<name>{_HOLIDAY_PATTERN_ZH}|[春夏秋冬](?=[天季日末初])|[夏秋冬])[天季]?",
        _parse_named,
    ),
    ("个", "(?P<direction>上个|这个|下个)(?P<name>[春夏秋冬])[天季]", _parse_named),
)
RECURRING_HOLIDAYS: tuple[tuple[str, str, IntervalBuilder], ...] = (
    (
        _SEASON_PATTERN_EN,
        rf"\b(?:in|over|during) (?:the )?(?P<name>{_SEASON_PATTERN_EN})\b{_NOT_A_SEASON}",
        _parse_recurring,
    ),
    (
        _CUES_EN,
        rf"\b(?P<name>{_HOLIDAY_PATTERN_EN})\b(?! (?:songs?|carols?|movies?|films?|tree|cards?|cookies)\b)",
        _parse_recurring,
    ),
    (_CUES_ZH, f"(?<!那个)(?P<name>{_HOLIDAY_PATTERN_ZH}|[春夏秋冬](?=[天季]))[天季]?", _parse_recurring),
)
