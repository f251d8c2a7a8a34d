"""Vague time expressions ("a few days ago", 前几天, "lately") as intervals wide enough to search in.

They narrow a search; facts are dated with `dates` only. The longer ago, the less precise a number is meant:
"two weeks ago" allows a fifth of the distance on either side.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta

from thinkback.language.dates import (
    DAY_PART_PATTERN_EN,
    MONTH_PATTERN_EN,
    MONTH_PATTERN_ZH,
    MONTH_PREFIXES,
    PERIOD_OFFSETS_EN,
    PERIOD_OFFSETS_ZH,
    TIME_UNITS_ZH,
    WEEKDAY_PATTERN_EN,
    WEEKDAY_PREFIXES,
    YEAR_OFFSETS_ZH,
    YEAR_PATTERN,
    Interval,
    IntervalBuilder,
    date_interval,
    days_interval,
    month_interval,
    nearest_weekday,
    nearest_year,
    relative_days,
    relative_month,
    relative_period,
    year_interval,
)
from thinkback.language.tokens import (
    NUMBER_PATTERN_EN,
    NUMBER_PATTERN_ZH,
    parse_chinese_number,
    parse_english_number,
)

_UNIT_DAYS = {"hour": 0, "minute": 0, "day": 1, "week": 7, "month": 30, "year": 365}
RECENT_DAYS = 30  # reach of "lately" and 最近
# reach of "a few days ago", "a few weeks ago", ...
_FEW_UNITS_DAYS = {"day": 14, "week": 60, "month": 270, "year": 3300}


def days_back(now: datetime, first: int, last: int = -1) -> Interval:
    """From `first` days ago up to, not including, `last` days ago; the default -1 includes today."""
    today = days_interval(now)[0]
    return today - timedelta(days=first), today - timedelta(days=last)


def about_ago(now: datetime, count: float, unit: str) -> Interval:
    """About `count` units ago: a whole year for years, else that day +/- a fifth of the distance."""
    if unit == "year" and count == int(count):
        return year_interval(now.year - int(count))
    away = round(count * _UNIT_DAYS[unit])
    return days_back(now, away + away // 5, away - away // 5 - 1)


def few_ago(now: datetime, unit: str) -> Interval:
    """Such as "a few days ago" or 好几年前; a few hours ago is today."""
    if not _UNIT_DAYS[unit]:
        return days_interval(now)
    return days_back(now, _FEW_UNITS_DAYS[unit], _UNIT_DAYS[unit] - 1)


def rolling_interval(now: datetime, words: str | None, unit: str) -> Interval:
    """The last `words` days, weeks, months or years, including today; None means one."""
    if words is None:
        count = 1
    elif words.lower().startswith(("few", "several", "couple", "几", "好几", "数")):
        return days_back(now, _FEW_UNITS_DAYS[unit] if _UNIT_DAYS[unit] else 0)
    else:
        count = parse_english_number(words) if words.isascii() else parse_chinese_number(words)
    return days_back(now, count * _UNIT_DAYS[unit])


def _month_number(word: str) -> int:
    return MONTH_PREFIXES.index(word[:3].lower()) + 1


def parse_month(m: re.Match[str], now: datetime, past: bool) -> Interval:
    month = _month_number(m["m"])
    return month_interval(int(m["y"]) if m["y"] else nearest_year(now, month, 1, past), month)


def parse_month_range(m: re.Match[str], now: datetime, past: bool) -> Interval:
    """From one month to another, possibly across the turn of the year."""
    first, last = _month_number(m["m1"]), _month_number(m["m"])
    year = int(m["y"]) if m["y"] else nearest_year(now, last, 1, past)
    return month_interval(year - (first > last), first)[0], month_interval(year, last)[1]


def parse_day_range(m: re.Match[str], now: datetime, past: bool) -> Interval:
    """Such as "May 1 to 3" or 5月1日到3日."""
    month = _month_number(m["m"]) if "m" in m.groupdict() else parse_chinese_number(m["zm"])
    first, last = parse_chinese_number(m["d"]), parse_chinese_number(m["d2"])
    named_year = m.groupdict().get("y")
    year = int(named_year) if named_year else nearest_year(now, month, first, past)
    start, end = date_interval(year, month, first)[0], date_interval(year, month, last)[1]
    if start >= end:
        raise ValueError("backwards")
    return start, end


def parse_year_range(m: re.Match[str], now: datetime, past: bool) -> Interval:
    if int(m["y"]) > int(m["y2"]):
        raise ValueError("backwards")
    return year_interval(int(m["y"]))[0], year_interval(int(m["y2"]))[1]


def parse_slash_date(m: re.Match[str], now: datetime, past: bool) -> Interval:
    """5/31/2024, with the month first as in the United States."""
    month, day = int(m["n"]), int(m["d"])
    return date_interval(int(m["y"]) if m["y"] else nearest_year(now, month, day, past), month, day)


def parse_day_of_month(m: re.Match[str], now: datetime, past: bool) -> Interval:
    """Such as "on the 6th" or 上个月6号; without a month, the nearest one in the direction of `past`."""
    groups, day = m.groupdict(), parse_chinese_number(m["d"])
    named_month = (groups.get("rm") or "").lower()
    by = PERIOD_OFFSETS_EN.get(named_month, PERIOD_OFFSETS_ZH.get(named_month))
    if by is None:
        by = -1 if past and day > now.day else 1 if not past and day < now.day else 0
    start, end = relative_month(now, by)
    if not 0 < day <= (end - start).days:
        raise ValueError("this month has no such day")
    return days_interval(start + timedelta(days=day - 1))


def _part_of_interval(whole: Interval, part: str) -> Interval:
    """The early, middle or late part of an interval (a little more than a third), or one half."""
    start, end = whole
    twelfth = (end - start) / 12
    if part in ("early", "beginning", "start", "年初", "初"):
        return start, start + 5 * twelfth
    if part in ("mid", "middle", "年中"):
        return start + 3 * twelfth, end - 3 * twelfth
    if part == "上半年":
        return start, start + 6 * twelfth
    return (start + 6 * twelfth if part == "下半年" else end - 5 * twelfth), end


def parse_period_part_en(m: re.Match[str], now: datetime, past: bool) -> Interval:
    if m["m"]:
        whole = parse_month(m, now, past)
    elif m["rel"]:
        whole = relative_period(now, PERIOD_OFFSETS_EN[m["rel"].lower()], m["unit"].lower())
    else:
        whole = year_interval(int(m["y2"]))
    return _part_of_interval(whole, (m["part"] or m["part2"]).lower())


def parse_period_part_zh(m: re.Match[str], now: datetime, past: bool) -> Interval:
    year = int(m["y"]) if m["y"] else now.year + YEAR_OFFSETS_ZH[m["ry"]] if m["ry"] else now.year
    return _part_of_interval(year_interval(year), m["part"])


def parse_decade(m: re.Match[str], now: datetime, past: bool) -> Interval:
    first = int(m["y"]) if len(m["y"]) == 4 else 1900 + int(m["y"])
    return year_interval(first)[0], year_interval(first + 9)[1]


def nearest_weekend(now: datetime, past: bool) -> Interval:
    return relative_period(now, -1 if past and now.weekday() < 5 else 0, "weekend")


def parse_weekday_of_week(m: re.Match[str], now: datetime, past: bool) -> Interval:
    by = PERIOD_OFFSETS_EN[(m["rel"] or m["rel2"]).lower()]
    return relative_days(
        now, 7 * by - now.weekday() + WEEKDAY_PREFIXES.index((m["wd"] or m["wd2"])[:3].lower())
    )


def parse_part_of_year(m: re.Match[str], now: datetime, past: bool) -> Interval:
    """年初 and 年底 of this year; of the last year if `past` and that part of this year is still to come."""
    start, end = _part_of_interval(year_interval(now.year), m["part"])
    if past and start > now:
        return _part_of_interval(year_interval(now.year - 1), m["part"])
    return start, end


def _preceded_by(words: str) -> str:
    """A lookbehind for one of these words and a space, so that they are not part of the match."""
    return "(?:" + "|".join(f"(?<={word} )" for word in words.split("|")) + ")"


_SECOND_YEAR_PATTERN = YEAR_PATTERN.replace("<y>", "<y2>")
_FIRST_MONTH_PATTERN = MONTH_PATTERN_EN.replace("<m>", "<m1>")
_UNIT_PATTERN_EN = "(?P<unit>day|week|month|year|hour|minute)s?"
_RANGE_WORD = "(?:-|–|to|and|until|till|through)"
_UNIT_PATTERN_ZH = "(?P<unit>天|日|周|星期|礼拜|(?<=[个多])月|年|小时|分钟)"
_YEAR_PATTERN_ZH = f"(?:{YEAR_PATTERN}年|(?P<ry>前|去|今|明|后)年)"
_EVENT_NOUNS = "trip|vacation|holiday|visit|conference|election|marathon|olympics|wedding|reunion|world cup"
_DURING_WORD = "(?:in|over|during|for|within|throughout|from)"
_MONTH_CUES = "|".join(MONTH_PREFIXES)

FUZZY_TIMES_EN: tuple[tuple[str, str, IntervalBuilder], ...] = (
    (
        "ago|back & day|week|month|year|hour|minute",
        rf"\b(?P<n>{NUMBER_PATTERN_EN}) {_UNIT_PATTERN_EN} (?:ago|back)\b",
        lambda m, now, past: about_ago(now, parse_english_number(m["n"]), m["unit"].lower()),
    ),
    ("half a year", r"\bhalf a year ago\b", lambda m, now, past: about_ago(now, 6, "month")),
    ("a half ago", r"\ba year and a half ago\b", lambda m, now, past: about_ago(now, 1.5, "year")),
    (
        "ago|back & day|week|month|year|hour|minute",
        rf"\b(?:(?:just )?a few|several|some|a couple) {_UNIT_PATTERN_EN} (?:ago|back)\b",
        lambda m, now, past: few_ago(now, m["unit"].lower()),
    ),
    (
        "past|last & day|week|month|year|hour|minute",
        rf"\b(?:{_DURING_WORD} )?(?:the|these) (?:past|last)"
        rf" (?P<n>few|several|couple(?: of)?|{NUMBER_PATTERN_EN}) {_UNIT_PATTERN_EN}\b",
        lambda m, now, past: rolling_interval(now, m["n"], m["unit"].lower()),
    ),
    (
        "past|last & day|week|month|year|hour|minute",
        rf"\b{_DURING_WORD} the (?:past|last) {_UNIT_PATTERN_EN}\b(?! of\b)",
        lambda m, now, past: rolling_interval(now, None, m["unit"].lower()),
    ),
    (
        "late|recent",
        r"\b(?:lately|of late|(?<!most )recent(?:ly)?)\b",
        lambda m, now, past: days_back(now, RECENT_DAYS),
    ),
    ("other", r"\bthe other (?:day|night|evening|morning)\b", lambda m, now, past: days_back(now, 14, 0)),
    ("other week", r"\bthe other week\b", lambda m, now, past: days_back(now, 35, 0)),
    (
        "now|earlier|ago",
        r"\b(?:just now|earlier today|a (?:moment|minute) ago)\b",
        lambda m, now, past: days_interval(now),
    ),
    ("night before", r"\bthe night before last\b", lambda m, now, past: relative_days(now, -2)),
    (
        "before last",
        r"\bthe (?P<unit>week|weekend|month|year) before last\b",
        lambda m, now, past: relative_period(now, -2, m["unit"].lower()),
    ),
    ("this weekend", r"\bthis weekend\b", lambda m, now, past: nearest_weekend(now, past)),
    (
        "week & day",
        rf"\b(?:on )?{WEEKDAY_PATTERN_EN} (?:of )?(?P<rel>last|this|next) week\b"
        r"|\b(?P<rel2>last|this|next) week(?: on|,)? (?P<wd2>mon|tues|wednes|thurs|fri|satur|sun)day\b",
        parse_weekday_of_week,
    ),
    (
        f"early|mid|late|of & month|year|19|20|{_MONTH_CUES}",
        r"\b(?:(?P<part>early|mid|late)[- ]|the (?P<part2>beginning|start|middle|end) of )"
        rf"(?:{MONTH_PATTERN_EN}(?:,? (?:of )?{YEAR_PATTERN})?"
        rf"|(?P<rel>last|this|next) (?P<unit>month|year)|{_SECOND_YEAR_PATTERN})\b",
        parse_period_part_en,
    ),
    (
        f"{_MONTH_CUES} & before|after|during|around|this|through|till|week|rest",
        _preceded_by("before|after|during|around|this|throughout|through|till|week of|weekend of|rest of")
        + rf"{MONTH_PATTERN_EN}(?:,? (?:of )?{YEAR_PATTERN})?\b(?! \d)",
        parse_month,
    ),
    (
        f"{_MONTH_CUES} & between|from",
        rf"\b(?:between|from) {_FIRST_MONTH_PATTERN} {_RANGE_WORD} {MONTH_PATTERN_EN}"
        rf"(?:,? {YEAR_PATTERN})?\b(?! \d)",
        parse_month_range,
    ),
    (
        f"{_MONTH_CUES} & 0",
        rf"\b(?:(?:between|from) )?{MONTH_PATTERN_EN} (?P<d>\d{{1,2}})(?:st|nd|rd|th)? ?{_RANGE_WORD}"
        rf" ?(?P<d2>\d{{1,2}})(?:st|nd|rd|th)?(?:,? {YEAR_PATTERN})?\b",
        parse_day_range,
    ),
    (
        "19|20",
        rf"\b(?:(?:between|from) )?{YEAR_PATTERN} ?{_RANGE_WORD} ?{_SECOND_YEAR_PATTERN}\b(?![-/.]\d)",
        parse_year_range,
    ),
    ("in the & 0", r"\bin the (?:early |mid[- ]|late )?'?(?P<y>(?:19|20)\d0|[5-9]0)'?s\b", parse_decade),
    (
        "19|20",
        _preceded_by("before|after|around|year|throughout|through|till|from")
        + rf"{YEAR_PATTERN}\b(?![-/.:]?\d)"
        rf"|\b(?:my|our|the) {_SECOND_YEAR_PATTERN}(?= (?:{_EVENT_NOUNS})\b)",
        lambda m, now, past: year_interval(int(m["y"] or m["y2"])),
    ),
    (
        "month & 0",
        r"\b(?:on )?the (?P<d>\d{1,2})(?:st|nd|rd|th) of (?P<rm>last|this|next) month\b",
        parse_day_of_month,
    ),
    (
        "on the",
        r"\bon the (?P<d>\d{1,2})(?:st|nd|rd|th)(?= ?[,.?!;]| ?\Z| (?:I|we|you|did)\b)",
        parse_day_of_month,
    ),
    ("/", r"\b(?:on )?(?P<n>\d{1,2})/(?P<d>\d{1,2})/(?P<y>(?:19|20)\d\d)\b", parse_slash_date),
    ("/", r"\bon (?P<n>\d{1,2})/(?P<d>\d{1,2})(?P<y>)\b(?![/.]?\d)", parse_slash_date),
)
FUZZY_TIMES_ZH: tuple[tuple[str, str, IntervalBuilder], ...] = (
    (
        "前",
        f"(?!(?:19|20)\\d\\d年)(?P<n>{NUMBER_PATTERN_ZH})个?多?{_UNIT_PATTERN_ZH}多?"
        "(?:以前|之前|前(?![后面任]))",
        lambda m, now, past: about_ago(now, parse_chinese_number(m["n"]), TIME_UNITS_ZH[m["unit"]]),
    ),
    ("半年", "半年多?(?:以前|之前|前)", lambda m, now, past: about_ago(now, 6, "month")),
    ("半个", "半个多?月(?:以前|之前|前)", lambda m, now, past: about_ago(now, 15, "day")),
    ("一年半", "一年半(?:以前|之前|前)", lambda m, now, past: about_ago(now, 1.5, "year")),
    (
        "前",
        f"(?:好几|几|数)个?{_UNIT_PATTERN_ZH}(?:以前|之前|前)",
        lambda m, now, past: few_ago(now, TIME_UNITS_ZH[m["unit"]]),
    ),
    (
        "前几|前些",
        f"前(?:几|些)个?{_UNIT_PATTERN_ZH}",
        lambda m, now, past: few_ago(now, TIME_UNITS_ZH[m["unit"]]),
    ),
    ("前两", "前两[天日]", lambda m, now, past: days_back(now, 5, 0)),
    (
        "前些|前一|前阵|前段|不久",
        "前些日子|前(?:一)?(?:阵子|阵|段时间|段日子)|(?:前不久|不久前)",
        lambda m, now, past: days_back(now, 90, 0),
    ),
    (
        "近|这",
        "最近(?!的?一?[次回个])|近来|近期|近日|这(?:一)?(?:阵子|段时间|段日子)|这些[天日]",
        lambda m, now, past: days_back(now, RECENT_DAYS),
    ),
    ("这几|这两", "这[几两][天日]", lambda m, now, past: days_back(now, 6)),
    (
        "过去|近|这",
        f"(?:过去|最近|近|这)的?(?P<n>好几|几|{NUMBER_PATTERN_ZH})个?{_UNIT_PATTERN_ZH}(?:里|内|以来|来|间)?"
        "(?!前|[初中末底]|\\d|[^，,。？]?[日号])",
        lambda m, now, past: rolling_interval(now, m["n"], TIME_UNITS_ZH[m["unit"]]),
    ),
    ("刚", "刚才|刚刚", lambda m, now, past: days_interval(now)),
    ("大前年", "大前年", lambda m, now, past: year_interval(now.year - 3)),
    ("周末", "这个?周末", lambda m, now, past: nearest_weekend(now, past)),
    (
        "年",
        f"{_YEAR_PATTERN_ZH}的?(?P<part>年初|年底|年末|年中|上半年|下半年|初|底|末)",
        parse_period_part_zh,
    ),
    ("上半年|下半年", "(?<!年)(?P<y>)(?P<ry>)(?P<part>上半年|下半年)", parse_period_part_zh),
    ("年代", "(?:上?个?世纪)?(?P<y>(?:19|20)\\d0|[5-9]0)年代", parse_decade),
    (
        "年",
        "(?P<n>(?:一九|二[〇零])[〇零一二三四五六七八九]{2})年",
        lambda m, now, past: year_interval(parse_chinese_number(m["n"])),
    ),
    (
        "月",
        f"(?<![\\d一二三四五六七八九十])(?:{YEAR_PATTERN}年)?(?P<zm>{MONTH_PATTERN_ZH})月"
        f"(?P<d>{NUMBER_PATTERN_ZH})[日号]?(?:到|至|-|–|—|~)(?P<d2>{NUMBER_PATTERN_ZH})[日号]",
        parse_day_range,
    ),
    ("年", f"{YEAR_PATTERN}年?(?:到|至|-|–|—|~){_SECOND_YEAR_PATTERN}年", parse_year_range),
    ("月", f"(?P<rm>上上|上|这|本|下)个?月的?(?P<d>{NUMBER_PATTERN_ZH})[日号]", parse_day_of_month),
    ("号", f"(?<=在)(?P<d>{NUMBER_PATTERN_ZH})号(?![线楼门房床院厅店馆桌车选球机])", parse_day_of_month),
)
RECURRING_TIMES: tuple[tuple[str, str, IntervalBuilder], ...] = (
    (
        "day",
        rf"\b{WEEKDAY_PATTERN_EN}(?: {DAY_PART_PATTERN_EN})?(?= ?[,.?!;]| ?\Z| (?:and|to|until) \w+day\b)",
        lambda m, now, past: nearest_weekday(now, WEEKDAY_PREFIXES.index(m["wd"][:3].lower()), past=past),
    ),
    ("周末", "(?<![每个上下这本])周末", lambda m, now, past: nearest_weekend(now, past)),
    ("年", "(?<![年上下])年(?P<part>[初底末])", parse_part_of_year),
)
