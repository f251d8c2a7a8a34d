"""Comparison of values: two values count as equal unless they surely differ, since a false alarm costs more
than a missed contradiction ("Lyon" and "Lyon, France", "70 kg" and "70 kilograms", NYC and New York City).
"""

from __future__ import annotations

import re
from collections import Counter

from thinkback.language.tokens import NUMBER_PATTERN_EN, extract_terms, fold_text, parse_english_number

_DIGITS_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_NUMBER_WORD = re.compile(rf"\b(?!an?\b)(?:{NUMBER_PATTERN_EN})\b", re.I)
_MONTH_PREFIXES = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH_NAME = re.compile(
    r"\b(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:t(?:ember)?)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b",
    re.I,
)
_HAN_RUN = re.compile("[\u4e00-\u9fff]+")
_UNIT_STEMS = frozenset(
    [
        "kg",
        "kilo",
        "kilogram",
        "lb",
        "pound",
        "stone",
        "cm",
        "m",
        "metr",
        "meter",
        "feet",
        "foot",
        "ft",
        "inch",
        "year",
        "old",
        "mg",
        "g",
        "ml",
        "th",
        "st",
        "nd",
        "rd",
        "usd",
        "dollar",
        "euro",
        "month",
        "week",
        "day",
    ]
)
_DISTRICT_ZH = re.compile("(?:区|县|镇|街道?|路|首都|郊区|市中心|[东西南北]边|附近)\\Z")
_COUNTRIES = frozenset(
    [
        "africa",
        "america",
        "argentina",
        "asia",
        "australia",
        "austria",
        "belgium",
        "brazil",
        "britain",
        "california",
        "canada",
        "chile",
        "china",
        "colombia",
        "denmark",
        "egypt",
        "england",
        "europe",
        "finland",
        "florida",
        "france",
        "germany",
        "greece",
        "india",
        "indonesia",
        "iran",
        "ireland",
        "israel",
        "italy",
        "japan",
        "kenya",
        "korea",
        "malaysia",
        "mexico",
        "netherlands",
        "nigeria",
        "norway",
        "ontario",
        "pakistan",
        "peru",
        "philippines",
        "poland",
        "portugal",
        "romania",
        "russia",
        "scotland",
        "spain",
        "sweden",
        "switzerland",
        "taiwan",
        "texas",
        "thailand",
        "turkey",
        "ukraine",
        "vietnam",
        "wales",
        "uk",
        "us",
        "usa",
        "中国",
        "法国",
        "德国",
        "英国",
        "美国",
        "日本",
        "韩国",
        "意大利",
        "西班牙",
        "加拿大",
        "澳大利亚",
        "俄罗斯",
        "印度",
        "巴西",
        "荷兰",
        "瑞士",
        "瑞典",
        "欧洲",
        "亚洲",
    ]
) | {"united states", "united kingdom", "new zealand", "south korea", "south africa"}
"""A country and a city do not contradict each other: Lyon is in France."""


def may_be_same_value(one: str, other: str) -> bool:
    """Whether two values may mean the same thing."""
    if extract_terms(one) == extract_terms(other):
        return True
    numbers, others = _extract_numbers(one), _extract_numbers(other)
    words, other_words = _extract_words(one), _extract_words(other)
    if numbers and others:
        within = numbers <= others or others <= numbers  # multisets: June 6 is not contained in May 6
        return within and (not words or not other_words or bool(words & other_words))
    if words and other_words and (words <= other_words or other_words <= words):
        return True
    if _initials(one) == _normalise_place(other) or _initials(other) == _normalise_place(one):
        return True
    if _is_chinese_part(one, other):
        return True
    return _is_country(one) != _is_country(other)


def are_comparable(one: str, other: str) -> bool:
    """Whether two different values exclude each other: same script, same form, same level.

    里昂 may be Lyon, so they are not comparable. "Your birthday is soon", "your name is lovely" and
    你住在海淀区 give no other value of the same form either.
    """
    return _value_form(one) == _value_form(other) and _place_level(one) == _place_level(other)


def _value_form(text: str) -> str:
    """Classify a value: date, number, han (Chinese), name or words."""
    if _MONTH_NAME.search(text) or "月" in text:
        return "date"
    if _extract_numbers(text):
        return "number"
    if _HAN_RUN.search(text):
        return "han"
    return "name" if re.search(r"\b[A-Z]", text) else "words"


def _place_level(text: str) -> str:
    """The administrative level in a Chinese place name (区, 县, ...), or an empty string."""
    match = _DISTRICT_ZH.search(text)
    return match.group() if match else ""


def _extract_numbers(text: str) -> Counter[str]:
    digits = [number.replace(",", "").lstrip("0") for number in _DIGITS_NUMBER.findall(text)]
    words = [str(parse_english_number(word)) for word in _NUMBER_WORD.findall(text) if not word.isdigit()]
    months = [str(1 + _MONTH_PREFIXES.index(name[:3].lower())) for name in _MONTH_NAME.findall(text)]
    return Counter((*digits, *words, *months))


def _extract_words(text: str) -> frozenset[str]:
    stripped = _MONTH_NAME.sub(" ", _NUMBER_WORD.sub(" ", text))
    return frozenset(
        term for term in extract_terms(stripped) if not term[0].isdigit() and term not in _UNIT_STEMS
    )


def _initials(text: str) -> str:
    words = re.findall(r"[A-Z]\w+", text)
    return "".join(word[0] for word in words).lower() if len(words) > 1 else " "


def _normalise_place(text: str) -> str:
    return fold_text(text).replace(".", "").strip().removeprefix("the ")


def _is_chinese_part(one: str, other: str) -> bool:
    """Whether one Chinese name contains the other: 上海 and 上海市浦东."""
    a, b = "".join(_HAN_RUN.findall(one)), "".join(_HAN_RUN.findall(other))
    return bool(a and b) and (a in b or b in a)


def _is_country(text: str) -> bool:
    return _normalise_place(text) in _COUNTRIES
