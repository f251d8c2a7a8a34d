"""Finds the numbers of a text with what they count: dates, times, ages, sums, weights, counts."""

from __future__ import annotations

import re
from collections.abc import Iterator

from thinkback.language.tokens import extract_terms, stem

_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_MONTH = r"(?P<m>jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
_AMOUNTS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (kind, re.compile(pattern, re.I))
    for kind, pattern in (
        (
            "date",
            rf"\b(?P<d>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? {_MONTH}\b"
            rf"|\b{_MONTH.replace('<m>', '<m2>')} (?:the )?(?P<d2>\d{{1,2}})(?:st|nd|rd|th)?\b",
        ),
        (
            "date",
            r"(?P<zm>\d{1,2}|[一二三四五六七八九十]{1,2})月(?P<zd>\d{1,2}|[一二三四五六七八九十]{1,3})[日号]",
        ),
        ("duration", r"(?P<v>\d+小时\d+分)"),
        ("clock", r"\b(?P<v>\d{1,2}:\d{2})\b|(?P<zh>\d{1,2})点(?P<zmin>\d{1,2})分"),
        ("clock", r"\b(?P<v>\d{1,2} ?[ap]m)\b"),
        (
            "weekday",
            r"\b(?P<v>(?:mon|tues|wednes|thurs|fri|satur|sun)day)s?\b|(?P<zw>(?:周|星期)[一二三四五六日天])",
        ),
        (
            "age",
            r"(?P<v>\d{1,3}) years? old|(?P<za>\d{1,3})岁(?!以)|\b(?:who is|aged|already|is only|is now"
            r"|are only|are now|you are|is) (?P<v2>\d{1,3})(?= now|[,.]|$)",
        ),
        (
            "money",
            r"[$€£](?P<v>\d[\d,]*)|(?P<v2>\d[\d,]*) ?(?:euros?|dollars?|pounds|usd|eur)\b|(?P<zy>\d+)(?:元"
            r"|块)",
        ),
        ("year", r"\b(?P<v>(?:19|20)\d\d)\b(?!年代)|(?P<zyear>(?:19|20)\d\d)年"),
        ("weight", r"(?P<v>\d+(?:\.\d+)?) ?(?:kg|kilograms?|kilos?)\b|(?P<zk>\d+)公斤"),
        ("height", r"(?P<v>\d{2,3}) ?(?:cm|centimetres?)\b|(?P<zc>\d{2,3})厘米"),
        ("dose", r"(?P<v>\d+) ?(?:mg|milligrams?)\b|(?P<zmg>\d+)毫克"),
    )
)
_COUNT = re.compile(
    r"\b(?P<n>two|three|four|five|six|seven|eight|nine|ten|\d{1,2}) (?P<w>[a-z]{3,}s|children)\b", re.I
)
_COUNT_WORDS = {
    word: str(n)
    for n, word in enumerate(
        ["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"], start=2
    )
}
_DIGITS_ZH = {digit: n for n, digit in enumerate("一二三四五六七八九", start=1)}
_NOT_COUNTED = frozenset(
    [
        "years",
        "months",
        "weeks",
        "days",
        "hours",
        "minutes",
        "euros",
        "dollars",
        "pounds",
        "times",
        "percent",
        "miles",
        "pm",
        "am",
        "kilograms",
        "centimetres",
        "others",
    ]
)


def find_amounts(text: str) -> Iterator[tuple[str, str]]:
    """The numbers of a text with their kind: ("money", "1150"), ("date", "6-14"), ("count:cat", "2")."""
    for kind, pattern in _AMOUNTS:
        for match in pattern.finditer(text):
            groups = {key: value for key, value in match.groupdict().items() if value}
            if kind == "date":
                month = groups.get("m") or groups.get("m2")
                number = _MONTHS.index(month.lower()[:3]) + 1 if month else _number_zh(groups["zm"])
                yield kind, f"{number}-{_number_zh(groups.get('d') or groups.get('d2') or groups['zd'])}"
            elif kind == "clock" and "zh" in groups:
                yield kind, f"{groups['zh']}:{groups['zmin']}"
            else:
                yield (
                    kind,
                    next(iter(groups.values()))
                    .replace(",", "")
                    .lower()
                    .replace("星期", "周")
                    .replace(" ", ""),
                )
    for match in _COUNT.finditer(text):
        if match["w"].lower() not in _NOT_COUNTED:
            yield f"count:{stem(match['w'].lower())}", _COUNT_WORDS.get(match["n"].lower(), match["n"])


def amount_terms(text: str) -> frozenset[str]:
    """The search terms of the dates and numbers of a text."""
    found = [match.group() for _, pattern in _AMOUNTS for match in pattern.finditer(text)]
    return frozenset(term for words in found for term in extract_terms(words))


def _number_zh(text: str) -> int:
    if text.isdigit():
        return int(text)
    tens, _, ones = text.rpartition("十")
    return 10 * (_DIGITS_ZH.get(tens, 1) if "十" in text else 0) + _DIGITS_ZH.get(ones, 0)
