"""Types of values that their form tells: weekdays, dates, clock times, numbers, codes and the like.

    value_type("8:40")                                  "time"
    find_values("dentist on thursday at 3", "friday")   ["thursday"]

A correction ("no wait, its friday") names only the new value. What it corrects is a value of the same type.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

ValueType = Literal["weekday", "date", "month", "time", "person", "code", "number", "label"]

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
    r"|hours?|mins?|minutes?)(?![A-Za-z0-9]))"
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

_CORE = (
    r"(?:\d{1,4}|(?-i:[B-HJ-Z]\d{0,2})|first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|once|twice"
    r"|(?:two|three|four|five) times)"
)
_CORE_ZH = rf"(?:\d{{1,4}}|(?-i:[A-Z]{{1,2}})|{_HAN_DIGITS}{{1,3}})"
_LABELS_ZH = "(?:年级|分糖|号线|号楼|号柜|号门|号桌|单元|区|班|栋|座|路|级|期|型|楼|层|室|房|门|桌|组|队)"

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
        r"\b(?:dr|mr|mrs|ms|miss|prof|auntie?|uncle)\.? [^\W\d_]{2,}"
        r"|(?<![\u4e00-\u9fff])[^\W\d_]{1,2}(?:医生|大夫|老师|先生|女士|教授|师傅|阿姨|叔叔|经理|主任)",
        re.IGNORECASE,
    ),
    "code": re.compile(r"(?<![A-Za-z0-9])(?=[A-Za-z]*\d)(?=\d*[A-Z])[A-Z0-9-]{2,10}(?![A-Za-z0-9])"),
    "number": re.compile(
        rf"(?P<amount>[€$£¥￥]?{_DIGITS})(?P<unit>{_UNIT}|{_HAN_UNIT})?|\b(?P<word>{_WORD_NUMBER})\b"
        rf"|(?P<han>{_HAN_DIGITS}{{1,6}})(?P<han_unit>{_HAN_UNIT})|(?P<bare>{_HAN_DIGITS}{{2,6}})",
        re.IGNORECASE,
    ),
    # a number, letter or ordinal with a word beside it: "level 2", "third year", D区, 13号线, 姓章
    "label": re.compile(
        rf"(?P<before>[^\W\d_]{{2,12}} )?(?P<core>{_CORE})(?P<after> [^\W\d_]{{2,12}})?(?<! )"
        rf"|(?P<core_zh>{_CORE_ZH})(?P<after_zh>{_LABELS_ZH})|(?P<before_zh>[姓属])[\u4e00-\u9fff]",
        re.IGNORECASE,
    ),
}
_WEEK = re.compile("[上下这本]")
_ORDINAL = re.compile(r"\d{1,2}(?:st|nd|rd|th)", re.IGNORECASE)
_DAY_OF_DATE = re.compile(r"\d{1,2}(?:st|nd|rd|th)?", re.IGNORECASE)
_HOUR_OR_DAY = re.compile(r"\d{1,2}")
# also other words: "i may go", "we sat there"
_AMBIGUOUS = re.compile(r"sat|sun|mon|wed|may|mar|march", re.IGNORECASE)
_MAX_WORD_BEFORE = 12  # characters
_BEFORE_DATE = re.compile(
    r"\b(?:on|next|this|every|in|until|till|by|since|from|last|for)\s+\Z", re.IGNORECASE
)


def value_type(text: str) -> ValueType | None:
    """The type of a text that is one value; None if its form does not tell."""
    for name, pattern in _PATTERNS.items():
        if _fits(name, pattern.fullmatch(text)):
            return name
    return None


def _fits(name: ValueType, match: re.Match[str] | None) -> bool:
    """Whether a match is a value; a label needs a word."""
    return match is not None and (name != "label" or bool(_label(match)))


def _label(match: re.Match[str]) -> tuple[str, str] | None:
    """The words before and after the core of a label; None without any."""
    before = match["before"] or match["before_zh"] or ""
    after = match["after"] or match["after_zh"] or ""
    return (before.lower(), after.lower()) if before or after else None


def find_values(text: str, like: str) -> list[str]:
    """The values in a text of the same type as `like`; of numbers, those with the same unit.

    If `like` has no unit, the numbers come without theirs, and it may be the hour of a time or the day of a
    date.
    """
    of_type = value_type(like)
    if of_type is None:
        return []
    if of_type == "label":
        return _find_labels(text, like)
    if of_type != "number":
        found = [
            match[0]
            for match in _PATTERNS[of_type].finditer(text)
            if not _AMBIGUOUS.fullmatch(match[0])
            or _BEFORE_DATE.search(text[max(0, match.start() - _MAX_WORD_BEFORE) : match.start()])
        ]
        if of_type == "weekday" and not _WEEK.match(like):
            return [value.lstrip("上下这本") for value in found]  # 周四 corrects the day of 下周三
        # "27th" and "the 27th" correct the day of "28 september" and leave the month
        return (
            [day[0] for value in found if (day := _DAY_OF_DATE.search(value))]
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
    amounts = [number.amount for number in numbers]
    # "2014" corrects the year in "a 2016 corolla, 140k miles"
    return [amount for amount in amounts if same_length(amount, like)] if len(amounts) > 1 else amounts


def same_length(amount: str, other: str) -> bool:
    """Whether two numbers are written alike, with as many digits or characters."""
    return amount.isascii() == other.isascii() and len(amount) == len(other)


def _find_labels(text: str, like: str) -> list[str]:
    """The values with the same words around another number or letter."""
    match = _PATTERNS["label"].fullmatch(like)
    label = _label(match) if match else None
    if label is None:
        return []
    before, after = map(re.escape, label)
    core = "[\u4e00-\u9fff]" if label[0] in ("姓", "属") else _CORE if like.isascii() else _CORE_ZH
    edge = r"\b" if like.isascii() else ""
    return [found[0] for found in re.finditer(rf"{edge}{before}{core}{after}{edge}", text, re.IGNORECASE)]


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
