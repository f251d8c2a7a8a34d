"""Whether a model keeps to what it was given: the first number, name or word that nobody told it.

A model that joins memories may order and link them, never add to them. `plainly` looks at every word, for a
text that will stand in the place of the memories; else numbers and names are looked at, for an answer in free
words. Chinese names are not marked as such: there two characters in a row that nobody said are one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from thinkback.text.numbers import NUMBER_EN, NUMBER_ZH, english_number, number
from thinkback.text.safety.trust import quarantined
from thinkback.text.scripts import HAN
from thinkback.text.sentences import sentences
from thinkback.text.tokens import FUNCTION_CHARACTERS, STOP_WORDS, fold, stem, terms

_LINKS = """
    user currently also since therefore thus because however still already person people both according based
    memory memories remember told tell say said mention mentioned earlier later today question ask asked
    together though although but while too including"""
_LINKING = frozenset(map(stem, _LINKS.split()))
_LINKING_ZH = FUNCTION_CHARACTERS | frozenset(
    "用户人现今目前因为所此并且然后时候其实已经曾一直同于是所以据记忆知道问题提过而"
)
_DIGITS = re.compile(r"\d+(?:[.,:]\d+)*")
_SPELT = re.compile(rf"\b(?!an?\b|one\b){NUMBER_EN}\b", re.IGNORECASE)
_SPELT_ZH = re.compile(rf"(?![一两]){NUMBER_ZH}")
_NAME = re.compile(r"(?<=[\w,;:'’\"(] )[A-Z][\w-]*")
_HAN = re.compile(f"[{HAN}]")
_NEGATES = re.compile(r"\b(?:not|no|never|neither|nor|without|cannot)\b|n't\b|[不没無无未]", re.IGNORECASE)


def added(text: str, given: Iterable[str], *, plainly: bool) -> str:
    """What a text says beyond what was given, named for a person; empty where it keeps to it."""
    return next(_additions(text, "\n".join(given), plainly), "")


def _additions(text: str, told: str, plainly: bool) -> Iterator[str]:
    if quarantined(text):
        yield "it reads like an instruction or a secret"
    numbers = _numbers(told)
    yield from (f"the number {each} is in no memory" for each in _numbers(text) if each not in numbers)
    known = frozenset(terms(told))
    yield from (f"{each!r} is in no memory" for each in _names(text) if not known.issuperset(terms(each)))
    yield from (f"{each!r} is in no memory" for each in _unheard(text, told, 1 if plainly else 2))
    if plainly:
        if _NEGATES.search(text) and not _NEGATES.search(told):
            yield "it denies what no memory denies"
        words = [
            each for each in terms(text) if each.isascii() and each.isalpha() and each not in known | _LINKING
        ]
        yield from (f"{each!r} is in no memory" for each in words)


def _numbers(text: str) -> list[str]:
    """Every number as digits, spelt ones too."""
    folded = fold(text)
    found = [each.replace(",", "") for each in _DIGITS.findall(folded)]
    found += [str(english_number(each)) for each in _SPELT.findall(folded) if not each.isdecimal()]
    return found + [str(number(each)) for each in _SPELT_ZH.findall(folded) if not each.isdecimal()]


def _names(text: str) -> list[str]:
    """Words with a capital inside a sentence; at its beginning every word has one."""
    inside = [name for sentence in sentences(text) for name in _NAME.findall(sentence.text)]
    return [name for name in inside if name.casefold() not in STOP_WORDS]


def _unheard(text: str, told: str, shortest: int) -> Iterator[str]:
    """Runs of at least so many Chinese characters that nobody said and that do more than link."""
    known = "".join(sorted(frozenset(_HAN.findall(fold(told))) | _LINKING_ZH))
    for run in re.findall(f"(?:(?![{known}])[{HAN}])+", fold(text)):
        if len(run) >= shortest:
            yield run
