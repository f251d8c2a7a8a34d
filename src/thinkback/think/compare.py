"""Whether two objects may be one: for checking an answer, where a wrong alarm costs more than a miss.

Resolution (`resolve`) asks whether two names are surely one; here they count as one unless they surely are
two: "Lyon" and "Lyon, France", "70 kg" and "70 kilograms", "NYC" and "New York City".
"""

from __future__ import annotations

import re
from collections import Counter

from thinkback.text.numbers import NUMBER_EN, english_number
from thinkback.text.tokens import terms
from thinkback.think.resolve import object_key, respect

_DIGITS = re.compile(r"\d+(?:[.,]\d+)*")
_NUMBER_WORD = re.compile(rf"\b(?!an?\b)(?:{NUMBER_EN})\b", re.I)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = re.compile(
    r"\b(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:t(?:ember)?)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b",
    re.I,
)
_HAN = re.compile("[\u4e00-\u9fff]+")
_MEASURES = """
    kg kilo kilogram lb pound stone cm m metr meter feet foot ft inch year old mg g ml th st nd rd usd dollar
    euro month week day
"""
_PART_ZH = re.compile("(?:区|县|镇|街道?|路|首都|郊区|市中心|[东西南北]边|附近)\\Z")
_UNITS = frozenset(_MEASURES.split())
"""Stems: 70 kg are 70 kilograms."""
_WHOLE = """
    africa america argentina asia australia austria belgium brazil britain california canada chile china
    colombia denmark egypt england europe finland florida france germany greece india indonesia iran ireland
    israel italy japan kenya korea malaysia mexico netherlands nigeria norway ontario pakistan peru
    philippines poland portugal romania russia scotland spain sweden switzerland taiwan texas thailand turkey
    ukraine vietnam wales uk us usa
    中国 法国 德国 英国 美国 日本 韩国 意大利 西班牙 加拿大 澳大利亚 俄罗斯 印度 巴西 荷兰 瑞士 瑞典 欧洲 亚洲
"""
_COUNTRIES = frozenset(_WHOLE.split())
"""A country holds its cities: living in Lyon and living in France is no contradiction."""
_TWO_WORDS = frozenset(("united states", "united kingdom", "new zealand", "south korea", "south africa"))


def same_object(one: str, other: str) -> bool:
    """Whether two objects can mean the same thing."""
    if object_key(one) == object_key(other):
        return True
    numbers, others = _numbers(one), _numbers(other)
    words, other_words = _words(one), _words(other)
    if numbers and others:
        within = numbers <= others or others <= numbers  # as multisets: June 6 is no part of May 6
        return within and (not words or not other_words or bool(words & other_words))
    if words and other_words and (words <= other_words or other_words <= words):
        return True
    if _initials(one) == _plain(other) or _initials(other) == _plain(one):
        return True
    if _chinese_part(one, other):
        return True
    return _is_country(one) != _is_country(other)


def comparable(one: str, other: str) -> bool:
    """Whether two different objects exclude each other: of one language and one form, on one level.

    里昂 may be Lyon. "Your birthday is soon", "your name is lovely" and 你住在海淀区 give no other value.
    """
    return _form(one) == _form(other) and _level(one) == _level(other)


def _form(text: str) -> str:
    """What an object looks like: a date, a number, a name, or words, and in which script."""
    if _MONTH.search(text) or "月" in text:
        return "date"
    if _numbers(text):
        return "number"
    if _HAN.search(text):
        return "han"
    return "name" if re.search(r"\b[A-Z]", text) else "words"


def _level(text: str) -> str:
    part = _PART_ZH.search(text)
    return part.group() if part else ""


def single_respect(relation: str, one: str, other: str) -> bool:
    """Whether two objects of a many-valued relation are two values in one respect: 500 mg, then 1000 mg."""
    shared = respect(relation, one)
    return bool(shared) and shared == respect(relation, other)


def _numbers(text: str) -> Counter[str]:
    digits = [found.replace(",", "").lstrip("0") for found in _DIGITS.findall(text)]
    words = [str(english_number(word)) for word in _NUMBER_WORD.findall(text) if not word.isdigit()]
    months = [str(1 + _MONTHS.index(name[:3].lower())) for name in _MONTH.findall(text)]
    return Counter((*digits, *words, *months))


def _words(text: str) -> frozenset[str]:
    bare = _MONTH.sub(" ", _NUMBER_WORD.sub(" ", text))
    return frozenset(term for term in terms(bare) if not term[0].isdigit() and term not in _UNITS)


def _initials(text: str) -> str:
    words = re.findall(r"[A-Z]\w+", text)
    return "".join(word[0] for word in words).lower() if len(words) > 1 else " "


def _plain(text: str) -> str:
    return text.replace(".", "").strip().lower().removeprefix("the ")


def _chinese_part(one: str, other: str) -> bool:
    """上海 and 上海市浦东: one is written within the other."""
    a, b = "".join(_HAN.findall(one)), "".join(_HAN.findall(other))
    return bool(a and b) and (a in b or b in a)


def _is_country(text: str) -> bool:
    name = _plain(text)
    return name in _COUNTRIES or name in _TWO_WORDS
