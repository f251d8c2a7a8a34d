"""Types of values that their form tells: weekdays, dates, clock times, numbers, codes and the like.

    value_type("8:40")                                  "time"
    find_values("dentist on thursday at 3", "friday")   ["thursday"]

A correction ("no wait, its friday") names only the new value. What it corrects is a value of the same type.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

ValueType = Literal["weekday", "date", "month", "time", "person", "code", "number"]

_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_DAY = r"\d{1,2}(?:st|nd|rd|th)?"
_HAN_DIGITS = "[零〇一二两三四五六七八九十百千万]"
_HAN_NUMBER = rf"(?:(?<!\d)\d{{1,4}}|{_HAN_DIGITS}{{1,4}})"
_DIGITS = r"(?<![\d.,])\d[\d.,:/]{0,14}(?<![.,:/])(?!\d)"
_UNIT = (
    r"(?: ?(?:kg|mg|ml|km|cm|k|g|m|%|€|£|\$|euros?|dollars?|pounds?|bucks|people|kids|years?|weeks?|days?"
    r"|hours?|mins?|minutes?)(?![^\W_]))"
)
_HAN_UNIT = (
    "(?:个|只|条|位|人|岁|块|元|万|斤|公斤|毫克|克|片|颗|粒|楼|层|步|本|件|套|间|辆|次|天|年|周|小时|分钟|公里|平米?"
    "|米|份|张|杯|瓶|盒|双|度|折|倍|口|名|节|届|%)"
)
_WORD_NUMBER = (
    r"(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen"
    r"|seventeen|eighteen|nineteen|(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)"
    r"(?:[- ](?:one|two|three|four|five|six|seven|eight|nine))?)"
)

# The first type that fits a value is its type.
_PATTERNS: dict[ValueType, re.Pattern[str]] = {
    "weekday": re.compile(
        r"\b(?:mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:day)?s?\b|[上下这本]?(?:周|星期|礼拜)[一二三四五六日天]",
        re.IGNORECASE,
    ),
    "date": re.compile(
        rf"\b(?:{_DAY} (?:of )?{_MONTH}|{_MONTH} {_DAY}|the {_DAY}(?<=[a-z])|\d{{1,2}}(?:st|nd|rd|th))\b"
        rf"|{_HAN_NUMBER}月{_HAN_NUMBER}[日号]?|{_HAN_NUMBER}[日号](?!楼|线|店)",
        re.IGNORECASE,
    ),
    "time": re.compile(
        r"(?<![\dA-Za-z])(?:\d{1,2}(?:[:.]\d{2})? ?[ap]\.?m\b\.?|\d{1,2}[:：]\d{2}(?!\d))"
        r"|\b(?:noon|midnight)\b"
        rf"|(?:早上|上午|中午|下午|晚上|凌晨|傍晚)?{_HAN_NUMBER}点(?:半|一刻|{_HAN_NUMBER}分?)?",
        re.IGNORECASE,
    ),
    "month": re.compile(rf"\b{_MONTH}\b|{_HAN_NUMBER}月", re.IGNORECASE),
    "person": re.compile(
        r"\b(?:dr|mr|mrs|prof|auntie?|uncle)\.? [^\W\d_]{2,}"
        r"|(?<![\u4e00-\u9fff])[^\W\d_]{1,2}(?:医生|大夫|老师|先生|女士|教授|师傅|阿姨|叔叔|经理|主任)",
        re.IGNORECASE,
    ),
    "code": re.compile(r"(?<![A-Za-z0-9])(?=[A-Za-z]*\d)(?=\d*[A-Z])[A-Z0-9-]{3,10}(?![A-Za-z0-9])"),
    "number": re.compile(
        rf"(?P<amount>[€$£¥￥]?{_DIGITS})(?P<unit>{_UNIT}|{_HAN_UNIT})?|\b(?P<word>{_WORD_NUMBER})\b"
        rf"|(?P<han>{_HAN_DIGITS}{{1,6}})(?P<han_unit>{_HAN_UNIT})|(?P<bare>{_HAN_DIGITS}{{2,6}})",
        re.IGNORECASE,
    ),
}
_WEEK = re.compile("[上下这本]")
_ORDINAL = re.compile(r"\d{1,2}(?:st|nd|rd|th)", re.IGNORECASE)
_HOUR_OR_DAY = re.compile(r"\d{1,2}")
# also other words: "i may go", "we sat there"
_AMBIGUOUS = re.compile(r"sat|sun|mon|wed|may|mar|march", re.IGNORECASE)
_BEFORE_DATE = re.compile(
    r"\b(?:on|next|this|every|in|until|till|by|since|from|last|for)\s+\Z", re.IGNORECASE
)


def value_type(text: str) -> ValueType | None:
    """The type of a text that is one value; None if its form does not tell."""
    return next((name for name, pattern in _PATTERNS.items() if pattern.fullmatch(text)), None)


def find_values(text: str, like: str) -> list[str]:
    """The values in a text of the same type as `like`; of numbers, those with the same unit.

    If `like` has no unit, the numbers come without theirs, and it may be the hour of a time or the day of a
    date.
    """
    of_type = value_type(like)
    if of_type is None:
        return []
    if of_type != "number":
        found = [
            match[0]
            for match in _PATTERNS[of_type].finditer(text)
            if not _AMBIGUOUS.fullmatch(match[0]) or _BEFORE_DATE.search(text[: match.start()])
        ]
        if of_type == "weekday" and not _WEEK.match(like):
            return [value.lstrip("上下这本") for value in found]  # 周四 corrects the day of 下周三
        # "27th" corrects the day of "28th of september" and leaves the month
        return (
            [day[0] for value in found if (day := _ORDINAL.search(value))]
            if _ORDINAL.fullmatch(like)
            else found
        )
    unit = _Number.read(_PATTERNS["number"].fullmatch(like)).unit
    rest = text
    for name in ("date", "time", "weekday"):
        rest = _PATTERNS[name].sub(_blank, rest)
    numbers = [_Number.read(match) for match in _PATTERNS["number"].finditer(rest)]
    if unit:
        return [number.text for number in numbers if number.unit == unit]
    if not numbers and _HOUR_OR_DAY.fullmatch(like):
        numbers = [_Number.read(match) for match in _PATTERNS["number"].finditer(text)]
    return [number.amount for number in numbers]


class _Number(NamedTuple):
    """A number as it stands in a text, without its unit, and the unit."""

    text: str
    amount: str
    unit: str

    @classmethod
    def read(cls, match: re.Match[str] | None) -> _Number:
        if match is None:
            return cls("", "", "")
        amount = match["amount"] or match["word"] or match["han"] or match["bare"]
        return cls(match[0], amount, (match["unit"] or match["han_unit"] or "").strip().lower())


def _blank(match: re.Match[str]) -> str:
    return " " * len(match[0])
