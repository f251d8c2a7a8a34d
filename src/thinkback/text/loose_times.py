"""Times said loosely -> intervals wide enough to search in: "a few days ago", "lately", 前几天, 上半年.

A fact must not be dated by these (that is `dates`); a question may be narrowed by them. The longer ago
something is, the less the number is meant: "two weeks ago" allows a fifth of it on either side.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from thinkback.text import calendar as cal
from thinkback.text.dates import (
    DAYS,
    MONTH_EN,
    MONTH_ZH,
    MONTHS,
    PART_EN,
    SHIFT_EN,
    SHIFT_ZH,
    UNITS_ZH,
    WEEKDAY_EN,
    YEAR,
    YEARS_ZH,
    Build,
    lean_year,
    period,
)
from thinkback.text.numbers import NUMBER_EN, NUMBER_ZH, english_number, number

_LENGTH = {"hour": 0, "minute": 0, "day": 1, "week": 7, "month": 30, "year": 365}
_RECENT = 30  # days that "lately" and 最近 reach back
_FEW = {"day": 14, "week": 60, "month": 270, "year": 3300}  # days that "a few ... ago" reaches back


def _back(now: datetime, first: int, last: int = -1) -> cal.Interval:
    """From `first` days ago up to `last` days ago, that day left out; -1 is tomorrow, so today counts."""
    today = cal.days(now)[0]
    return today - timedelta(days=first), today - timedelta(days=last)


def _ago(now: datetime, count: float, unit: str) -> cal.Interval:
    """About so long ago: a whole year for years, else the day and a fifth of the distance around it."""
    if unit == "year" and count == int(count):
        return cal.year(now.year - int(count))
    away = round(count * _LENGTH[unit])
    return _back(now, away + away // 5, away - away // 5 - 1)


def _few(now: datetime, unit: str) -> cal.Interval:
    return cal.days(now) if not _LENGTH[unit] else _back(now, _FEW[unit], _LENGTH[unit] - 1)


def _rolling(now: datetime, words: str | None, unit: str) -> cal.Interval:
    """The last so many days, weeks, months or years, today among them."""
    if words is None:
        count = 1
    elif words.lower().startswith(("few", "several", "couple", "几", "好几", "数")):
        return _back(now, _FEW[unit] if _LENGTH[unit] else 0)
    else:
        count = english_number(words) if words.isascii() else number(words)
    return _back(now, count * _LENGTH[unit])


def _month_number(word: str) -> int:
    return MONTHS.index(word[:3].lower()) + 1


def _month(m: re.Match[str], now: datetime, past: bool) -> cal.Interval:
    index = _month_number(m["m"])
    return cal.month(int(m["y"]) if m["y"] else lean_year(now, index, 1, past), index)


def _months(m: re.Match[str], now: datetime, past: bool) -> cal.Interval:
    """From one month to another, of one year or of two."""
    first, last = _month_number(m["m1"]), _month_number(m["m"])
    year = int(m["y"]) if m["y"] else lean_year(now, last, 1, past)
    return cal.month(year - (first > last), first)[0], cal.month(year, last)[1]


def _days_of_month(m: re.Match[str], now: datetime, past: bool) -> cal.Interval:
    """May 1 to 3, 5月1日到3日."""
    index = _month_number(m["m"]) if "m" in m.groupdict() else number(m["zm"])
    first, last = number(m["d"]), number(m["d2"])
    said = m.groupdict().get("y")
    year = int(said) if said else lean_year(now, index, first, past)
    start, end = cal.day_of(year, index, first)[0], cal.day_of(year, index, last)[1]
    if start >= end:
        raise ValueError("backwards")
    return start, end


def _years(m: re.Match[str], now: datetime, past: bool) -> cal.Interval:
    if int(m["y"]) > int(m["y2"]):
        raise ValueError("backwards")
    return cal.year(int(m["y"]))[0], cal.year(int(m["y2"]))[1]


def _slashed(m: re.Match[str], now: datetime, past: bool) -> cal.Interval:
    """Month first, as where dates are written with a slash and the year last."""
    month, day = int(m["n"]), int(m["d"])
    return cal.day_of(int(m["y"]) if m["y"] else lean_year(now, month, day, past), month, day)


def _day_of_this_month(m: re.Match[str], now: datetime, past: bool) -> cal.Interval:
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


def _part_en(m: re.Match[str], now: datetime, past: bool) -> cal.Interval:
    if m["m"]:
        whole = _month(m, now, past)
    elif m["rel"]:
        whole = period(now, SHIFT_EN[m["rel"].lower()], m["unit"].lower())
    else:
        whole = cal.year(int(m["y2"]))
    return _cut(whole, (m["part"] or m["part2"]).lower())


def _part_zh(m: re.Match[str], now: datetime, past: bool) -> cal.Interval:
    year = int(m["y"]) if m["y"] else now.year + YEARS_ZH[m["ry"]] if m["ry"] else now.year
    return _cut(cal.year(year), m["part"])


def _decade(m: re.Match[str], now: datetime, past: bool) -> cal.Interval:
    first = int(m["y"]) if len(m["y"]) == 4 else 1900 + int(m["y"])
    return cal.year(first)[0], cal.year(first + 9)[1]


def _weekend(now: datetime, past: bool) -> cal.Interval:
    return period(now, -1 if past and now.weekday() < 5 else 0, "weekend")


def _weekday_of_week(m: re.Match[str], now: datetime, past: bool) -> cal.Interval:
    by = SHIFT_EN[(m["rel"] or m["rel2"]).lower()]
    return cal.shift_days(now, 7 * by - now.weekday() + DAYS.index((m["wd"] or m["wd2"])[:3].lower()))


def _year_of_part(m: re.Match[str], now: datetime, past: bool) -> int:
    """年初 and 年底 of this year, or of the last one while that part of this year is still to come."""
    begun = _cut(cal.year(now.year), m["part"])[0] <= now.astimezone(UTC)
    return now.year - (past and not begun)


def _after(words: str) -> str:
    """Where one of these words stands before; a lookbehind each, so that they are no part of the match."""
    return "(?:" + "|".join(f"(?<={word} )" for word in words.split("|")) + ")"


_M1 = MONTH_EN.replace("<m>", "<m1>")
_UNIT = "(?P<unit>day|week|month|year|hour|minute)s?"
_COUNTED = "dollars|euros|pounds|people|words|steps|miles|met(?:er|re)s|km|pieces|calories|square|characters"
_TO = "(?:-|–|to|and|until|till|through)"
_UNIT_ZH = "(?P<unit>天|日|周|星期|礼拜|(?<=[个多])月|年|小时|分钟)"
_RY = f"(?:{YEAR}年|(?P<ry>前|去|今|明|后)年)"
_EVENTS = "trip|vacation|holiday|visit|conference|election|marathon|olympics|wedding|reunion|world cup"
_IN_THE_LAST = "(?:in|over|during|for|within|throughout|from)"
_MONTHLY = "|".join(MONTHS)

ENGLISH: tuple[tuple[str, str, Build], ...] = (
    (
        "ago|back",
        rf"\b(?P<n>{NUMBER_EN}) {_UNIT} (?:ago|back)\b",
        lambda m, now, past: _ago(now, english_number(m["n"]), m["unit"].lower()),
    ),
    ("half a year", r"\bhalf a year ago\b", lambda m, now, past: _ago(now, 6, "month")),
    ("a half ago", r"\ba year and a half ago\b", lambda m, now, past: _ago(now, 1.5, "year")),
    (
        "ago|back",
        rf"\b(?:(?:just )?a few|several|some|a couple) {_UNIT} (?:ago|back)\b",
        lambda m, now, past: _few(now, m["unit"].lower()),
    ),
    (
        "past|last",
        rf"\b(?:{_IN_THE_LAST} )?(?:the|these) (?:past|last) (?P<n>few|several|couple(?: of)?|{NUMBER_EN})"
        rf" {_UNIT}\b",
        lambda m, now, past: _rolling(now, m["n"], m["unit"].lower()),
    ),
    (
        "past|last",
        rf"\b{_IN_THE_LAST} the (?:past|last) {_UNIT}\b(?! of\b)",
        lambda m, now, past: _rolling(now, None, m["unit"].lower()),
    ),
    ("late|recent", r"\b(?:lately|of late|(?<!most )recent(?:ly)?)\b", lambda m, now, past: _back(now, _RECENT)),
    ("other", r"\bthe other (?:day|night|evening|morning)\b", lambda m, now, past: _back(now, 14, 0)),
    ("other week", r"\bthe other week\b", lambda m, now, past: _back(now, 35, 0)),
    ("now|earlier|ago", r"\b(?:just now|earlier today|a (?:moment|minute) ago)\b", lambda m, now, past: cal.days(now)),
    ("night before", r"\bthe night before last\b", lambda m, now, past: cal.shift_days(now, -2)),
    (
        "before last",
        r"\bthe (?P<unit>week|weekend|month|year) before last\b",
        lambda m, now, past: period(now, -2, m["unit"].lower()),
    ),
    ("this weekend", r"\bthis weekend\b", lambda m, now, past: _weekend(now, past)),
    (
        "week",
        rf"\b(?:on )?{WEEKDAY_EN} (?:of )?(?P<rel>last|this|next) week\b|\b(?P<rel2>last|this|next) week(?: on|,)?"
        r" (?P<wd2>mon|tues|wednes|thurs|fri|satur|sun)day\b",
        _weekday_of_week,
    ),
    (
        "early|mid|late|of",
        rf"\b(?:(?P<part>early|mid|late)[- ]|the (?P<part2>beginning|start|middle|end) of )(?:{MONTH_EN}"
        rf"(?:,? (?:of )?{YEAR})?|(?P<rel>last|this|next) (?P<unit>month|year)|{YEAR.replace('<y>', '<y2>')})\b",
        _part_en,
    ),
    (
        _MONTHLY,
        rf"{_after('before|after|during|around|this|throughout|through|till|week of|weekend of|rest of|days of')}"
        rf"{MONTH_EN}(?:,? (?:of )?{YEAR})?\b(?! \d)",
        _month,
    ),
    (_MONTHLY, rf"\b(?:between|from) {_M1} {_TO} {MONTH_EN}(?:,? {YEAR})?\b(?! \d)", _months),
    (
        _MONTHLY,
        rf"\b(?:(?:between|from) )?{MONTH_EN} (?P<d>\d{{1,2}})(?:st|nd|rd|th)? ?{_TO} ?(?P<d2>\d{{1,2}})"
        rf"(?:st|nd|rd|th)?(?:,? {YEAR})?\b",
        _days_of_month,
    ),
    ("0", rf"\b(?:(?:between|from) )?{YEAR} ?{_TO} ?(?P<y2>(?:19|20)\d\d)\b(?![-/.]\d)", _years),
    ("0", r"\bin the (?:early |mid[- ]|late )?'?(?P<y>(?:19|20)\d0|[5-9]0)'?s\b", _decade),
    (
        "0",
        rf"{_after('before|after|around|year|throughout|through|till|from')}{YEAR}\b(?![-/.:]?\d)(?! (?:{_COUNTED}))"
        rf"|\b(?:my|our|the) (?P<y2>(?:19|20)\d\d)(?= (?:{_EVENTS})\b)",
        lambda m, now, past: cal.year(int(m["y"] or m["y2"])),
    ),
    (
        "month",
        r"\b(?:on )?the (?P<d>\d{1,2})(?:st|nd|rd|th) of (?P<rm>last|this|next) month\b",
        _day_of_this_month,
    ),
    (
        "on the",
        r"\bon the (?P<d>\d{1,2})(?:st|nd|rd|th)(?= ?[,.?!;]| ?\Z| (?:I|we|you|did)\b)",
        _day_of_this_month,
    ),
    ("/", r"\b(?:on )?(?P<n>\d{1,2})/(?P<d>\d{1,2})/(?P<y>(?:19|20)\d\d)\b", _slashed),
    ("/", r"\bon (?P<n>\d{1,2})/(?P<d>\d{1,2})(?P<y>)\b(?![/.]?\d)", _slashed),
)
CHINESE: tuple[tuple[str, str, Build], ...] = (
    (
        "前",
        f"(?!(?:19|20)\\d\\d年)(?P<n>{NUMBER_ZH})个?多?{_UNIT_ZH}多?(?:以前|之前|前(?![后面任]))",
        lambda m, now, past: _ago(now, number(m["n"]), UNITS_ZH[m["unit"]]),
    ),
    ("半年", "半年多?(?:以前|之前|前)", lambda m, now, past: _ago(now, 6, "month")),
    ("半个", "半个多?月(?:以前|之前|前)", lambda m, now, past: _ago(now, 15, "day")),
    ("一年半", "一年半(?:以前|之前|前)", lambda m, now, past: _ago(now, 1.5, "year")),
    ("前", f"(?:好几|几|数)个?{_UNIT_ZH}(?:以前|之前|前)", lambda m, now, past: _few(now, UNITS_ZH[m["unit"]])),
    ("前几|前些", f"前(?:几|些)个?{_UNIT_ZH}", lambda m, now, past: _few(now, UNITS_ZH[m["unit"]])),
    ("前两", "前两[天日]", lambda m, now, past: _back(now, 5, 0)),
    ("前些|前一|前阵|前段|不久", "前些日子|前(?:一)?(?:阵子|阵|段时间|段日子)|(?:前不久|不久前)", lambda m, now, past: _back(now, 90, 0)),
    (
        "近|这",
        "最近(?!的?一?[次回个])|近来|近期|近日|这(?:一)?(?:阵子|段时间|段日子)|这些[天日]",
        lambda m, now, past: _back(now, _RECENT),
    ),
    ("这几|这两", "这[几两][天日]", lambda m, now, past: _back(now, 6)),
    (
        "过去|近|这",
        f"(?:过去|最近|近|这)的?(?P<n>好几|几|{NUMBER_ZH})个?{_UNIT_ZH}(?:里|内|以来|来|间)?(?!前|[初中末底]|\\d|[^，,。？]?[日号])",
        lambda m, now, past: _rolling(now, m["n"], UNITS_ZH[m["unit"]]),
    ),
    ("刚", "刚才|刚刚", lambda m, now, past: cal.days(now)),
    ("大前年", "大前年", lambda m, now, past: cal.year(now.year - 3)),
    ("周末", "这个?周末", lambda m, now, past: _weekend(now, past)),
    ("年", f"{_RY}的?(?P<part>年初|年底|年末|年中|上半年|下半年|初|底|末)", _part_zh),
    ("上半年|下半年", "(?<!年)(?P<y>)(?P<ry>)(?P<part>上半年|下半年)", _part_zh),
    ("年代", "(?:上?个?世纪)?(?P<y>(?:19|20)\\d0|[5-9]0)年代", _decade),
    (
        "年",
        "(?P<n>(?:一九|二[〇零])[〇零一二三四五六七八九]{2})年",
        lambda m, now, past: cal.year(number(m["n"])),
    ),
    (
        "月",
        f"(?<![\\d一二三四五六七八九十])(?:{YEAR}年)?(?P<zm>{MONTH_ZH})月(?P<d>{NUMBER_ZH})[日号]?(?:到|至|-|–|—|~)"
        f"(?P<d2>{NUMBER_ZH})[日号]",
        _days_of_month,
    ),
    ("年", f"{YEAR}年?(?:到|至|-|–|—|~)(?P<y2>(?:19|20)\\d\\d)年", _years),
    ("月", f"(?P<rm>上上|上|这|本|下)个?月的?(?P<d>{NUMBER_ZH})[日号]", _day_of_this_month),
    ("号", f"(?<=在)(?P<d>{NUMBER_ZH})号(?![线楼门房床院厅店馆桌车选球机])", _day_of_this_month),
)
RECURRING: tuple[tuple[str, str, Build], ...] = (
    (
        "day",
        rf"\b{WEEKDAY_EN}(?: {PART_EN})?(?= ?[,.?!;]| ?\Z)",
        lambda m, now, past: cal.weekday(now, DAYS.index(m["wd"][:3].lower()), past=past),
    ),
    ("周末", "(?<![每个上下这本])周末", lambda m, now, past: _weekend(now, past)),
    ("年", "(?<![年上下])年(?P<part>[初底末])", lambda m, now, past: _cut(cal.year(_year_of_part(m, now, past)), m["part"])),
)
