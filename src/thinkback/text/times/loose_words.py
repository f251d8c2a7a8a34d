"""How times are said loosely, English and Chinese: the lines that `loose_times` reckons.

`RECURRING` holds what comes again every week or year; it is one time only where something happened then.
"""

from __future__ import annotations

from thinkback.text.numbers import NUMBER_EN, NUMBER_ZH, english_number, number
from thinkback.text.times import calendar as cal
from thinkback.text.times.dates import (
    DAYS,
    MONTH_EN,
    MONTH_ZH,
    MONTHS,
    PART_EN,
    UNITS_ZH,
    WEEKDAY_EN,
    YEAR,
    Build,
    period,
)
from thinkback.text.times.loose_times import (
    RECENT,
    ago,
    back,
    day_of_this_month,
    days_of_month,
    decade,
    few,
    in_month,
    months,
    part_en,
    part_of_a_year,
    part_zh,
    rolling,
    slashed,
    weekday_of_week,
    weekend,
    years,
)


def _after(words: str) -> str:
    """Where one of these words stands before; a lookbehind each, so that they are no part of the match."""
    return "(?:" + "|".join(f"(?<={word} )" for word in words.split("|")) + ")"


_Y2 = YEAR.replace("<y>", "<y2>")
_M1 = MONTH_EN.replace("<m>", "<m1>")
_UNIT = "(?P<unit>day|week|month|year|hour|minute)s?"
_TO = "(?:-|–|to|and|until|till|through)"
_UNIT_ZH = "(?P<unit>天|日|周|星期|礼拜|(?<=[个多])月|年|小时|分钟)"
_RY = f"(?:{YEAR}年|(?P<ry>前|去|今|明|后)年)"
_EVENTS = "trip|vacation|holiday|visit|conference|election|marathon|olympics|wedding|reunion|world cup"
_IN_THE_LAST = "(?:in|over|during|for|within|throughout|from)"
_MONTHLY = "|".join(MONTHS)

ENGLISH: tuple[tuple[str, str, Build], ...] = (
    (
        "ago|back & day|week|month|year|hour|minute",
        rf"\b(?P<n>{NUMBER_EN}) {_UNIT} (?:ago|back)\b",
        lambda m, now, past: ago(now, english_number(m["n"]), m["unit"].lower()),
    ),
    ("half a year", r"\bhalf a year ago\b", lambda m, now, past: ago(now, 6, "month")),
    ("a half ago", r"\ba year and a half ago\b", lambda m, now, past: ago(now, 1.5, "year")),
    (
        "ago|back & day|week|month|year|hour|minute",
        rf"\b(?:(?:just )?a few|several|some|a couple) {_UNIT} (?:ago|back)\b",
        lambda m, now, past: few(now, m["unit"].lower()),
    ),
    (
        "past|last & day|week|month|year|hour|minute",
        rf"\b(?:{_IN_THE_LAST} )?(?:the|these) (?:past|last) (?P<n>few|several|couple(?: of)?|{NUMBER_EN})"
        rf" {_UNIT}\b",
        lambda m, now, past: rolling(now, m["n"], m["unit"].lower()),
    ),
    (
        "past|last & day|week|month|year|hour|minute",
        rf"\b{_IN_THE_LAST} the (?:past|last) {_UNIT}\b(?! of\b)",
        lambda m, now, past: rolling(now, None, m["unit"].lower()),
    ),
    (
        "late|recent",
        r"\b(?:lately|of late|(?<!most )recent(?:ly)?)\b",
        lambda m, now, past: back(now, RECENT),
    ),
    ("other", r"\bthe other (?:day|night|evening|morning)\b", lambda m, now, past: back(now, 14, 0)),
    ("other week", r"\bthe other week\b", lambda m, now, past: back(now, 35, 0)),
    (
        "now|earlier|ago",
        r"\b(?:just now|earlier today|a (?:moment|minute) ago)\b",
        lambda m, now, past: cal.days(now),
    ),
    ("night before", r"\bthe night before last\b", lambda m, now, past: cal.shift_days(now, -2)),
    (
        "before last",
        r"\bthe (?P<unit>week|weekend|month|year) before last\b",
        lambda m, now, past: period(now, -2, m["unit"].lower()),
    ),
    ("this weekend", r"\bthis weekend\b", lambda m, now, past: weekend(now, past)),
    (
        "week & day",
        rf"\b(?:on )?{WEEKDAY_EN} (?:of )?(?P<rel>last|this|next) week\b"
        r"|\b(?P<rel2>last|this|next) week(?: on|,)? (?P<wd2>mon|tues|wednes|thurs|fri|satur|sun)day\b",
        weekday_of_week,
    ),
    (
        f"early|mid|late|of & month|year|19|20|{_MONTHLY}",
        rf"\b(?:(?P<part>early|mid|late)[- ]|the (?P<part2>beginning|start|middle|end) of )(?:{MONTH_EN}"
        rf"(?:,? (?:of )?{YEAR})?|(?P<rel>last|this|next) (?P<unit>month|year)|{_Y2})\b",
        part_en,
    ),
    (
        f"{_MONTHLY} & before|after|during|around|this|through|till|week|rest",
        rf"{_after('before|after|during|around|this|throughout|through|till|week of|weekend of|rest of')}"
        rf"{MONTH_EN}(?:,? (?:of )?{YEAR})?\b(?! \d)",
        in_month,
    ),
    (
        f"{_MONTHLY} & between|from",
        rf"\b(?:between|from) {_M1} {_TO} {MONTH_EN}(?:,? {YEAR})?\b(?! \d)",
        months,
    ),
    (
        f"{_MONTHLY} & 0",
        rf"\b(?:(?:between|from) )?{MONTH_EN} (?P<d>\d{{1,2}})(?:st|nd|rd|th)? ?{_TO} ?(?P<d2>\d{{1,2}})"
        rf"(?:st|nd|rd|th)?(?:,? {YEAR})?\b",
        days_of_month,
    ),
    ("19|20", rf"\b(?:(?:between|from) )?{YEAR} ?{_TO} ?{_Y2}\b(?![-/.]\d)", years),
    ("in the & 0", r"\bin the (?:early |mid[- ]|late )?'?(?P<y>(?:19|20)\d0|[5-9]0)'?s\b", decade),
    (
        "19|20",
        rf"{_after('before|after|around|year|throughout|through|till|from')}{YEAR}\b(?![-/.:]?\d)"
        rf"|\b(?:my|our|the) {_Y2}(?= (?:{_EVENTS})\b)",
        lambda m, now, past: cal.year(int(m["y"] or m["y2"])),
    ),
    (
        "month & 0",
        r"\b(?:on )?the (?P<d>\d{1,2})(?:st|nd|rd|th) of (?P<rm>last|this|next) month\b",
        day_of_this_month,
    ),
    (
        "on the",
        r"\bon the (?P<d>\d{1,2})(?:st|nd|rd|th)(?= ?[,.?!;]| ?\Z| (?:I|we|you|did)\b)",
        day_of_this_month,
    ),
    ("/", r"\b(?:on )?(?P<n>\d{1,2})/(?P<d>\d{1,2})/(?P<y>(?:19|20)\d\d)\b", slashed),
    ("/", r"\bon (?P<n>\d{1,2})/(?P<d>\d{1,2})(?P<y>)\b(?![/.]?\d)", slashed),
)
CHINESE: tuple[tuple[str, str, Build], ...] = (
    (
        "前",
        f"(?!(?:19|20)\\d\\d年)(?P<n>{NUMBER_ZH})个?多?{_UNIT_ZH}多?(?:以前|之前|前(?![后面任]))",
        lambda m, now, past: ago(now, number(m["n"]), UNITS_ZH[m["unit"]]),
    ),
    ("半年", "半年多?(?:以前|之前|前)", lambda m, now, past: ago(now, 6, "month")),
    ("半个", "半个多?月(?:以前|之前|前)", lambda m, now, past: ago(now, 15, "day")),
    ("一年半", "一年半(?:以前|之前|前)", lambda m, now, past: ago(now, 1.5, "year")),
    (
        "前",
        f"(?:好几|几|数)个?{_UNIT_ZH}(?:以前|之前|前)",
        lambda m, now, past: few(now, UNITS_ZH[m["unit"]]),
    ),
    ("前几|前些", f"前(?:几|些)个?{_UNIT_ZH}", lambda m, now, past: few(now, UNITS_ZH[m["unit"]])),
    ("前两", "前两[天日]", lambda m, now, past: back(now, 5, 0)),
    (
        "前些|前一|前阵|前段|不久",
        "前些日子|前(?:一)?(?:阵子|阵|段时间|段日子)|(?:前不久|不久前)",
        lambda m, now, past: back(now, 90, 0),
    ),
    (
        "近|这",
        "最近(?!的?一?[次回个])|近来|近期|近日|这(?:一)?(?:阵子|段时间|段日子)|这些[天日]",
        lambda m, now, past: back(now, RECENT),
    ),
    ("这几|这两", "这[几两][天日]", lambda m, now, past: back(now, 6)),
    (
        "过去|近|这",
        f"(?:过去|最近|近|这)的?(?P<n>好几|几|{NUMBER_ZH})个?{_UNIT_ZH}(?:里|内|以来|来|间)?(?!前|[初中末底]|\\d|[^，,。？]?[日号])",
        lambda m, now, past: rolling(now, m["n"], UNITS_ZH[m["unit"]]),
    ),
    ("刚", "刚才|刚刚", lambda m, now, past: cal.days(now)),
    ("大前年", "大前年", lambda m, now, past: cal.year(now.year - 3)),
    ("周末", "这个?周末", lambda m, now, past: weekend(now, past)),
    ("年", f"{_RY}的?(?P<part>年初|年底|年末|年中|上半年|下半年|初|底|末)", part_zh),
    ("上半年|下半年", "(?<!年)(?P<y>)(?P<ry>)(?P<part>上半年|下半年)", part_zh),
    ("年代", "(?:上?个?世纪)?(?P<y>(?:19|20)\\d0|[5-9]0)年代", decade),
    (
        "年",
        "(?P<n>(?:一九|二[〇零])[〇零一二三四五六七八九]{2})年",
        lambda m, now, past: cal.year(number(m["n"])),
    ),
    (
        "月",
        f"(?<![\\d一二三四五六七八九十])(?:{YEAR}年)?(?P<zm>{MONTH_ZH})月(?P<d>{NUMBER_ZH})[日号]?(?:到|至|-|–|—|~)"
        f"(?P<d2>{NUMBER_ZH})[日号]",
        days_of_month,
    ),
    ("年", f"{YEAR}年?(?:到|至|-|–|—|~){_Y2}年", years),
    ("月", f"(?P<rm>上上|上|这|本|下)个?月的?(?P<d>{NUMBER_ZH})[日号]", day_of_this_month),
    ("号", f"(?<=在)(?P<d>{NUMBER_ZH})号(?![线楼门房床院厅店馆桌车选球机])", day_of_this_month),
)
RECURRING: tuple[tuple[str, str, Build], ...] = (
    (
        "day",
        rf"\b{WEEKDAY_EN}(?: {PART_EN})?(?= ?[,.?!;]| ?\Z| (?:and|to|until) \w+day\b)",
        lambda m, now, past: cal.weekday(now, DAYS.index(m["wd"][:3].lower()), past=past),
    ),
    ("周末", "(?<![每个上下这本])周末", lambda m, now, past: weekend(now, past)),
    ("年", "(?<![年上下])年(?P<part>[初底末])", part_of_a_year),
)
