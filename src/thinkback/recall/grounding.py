"""Whether a model keeps to what it was given: the first number, name or word that nobody told it.

A model that joins memories may order and link them, never add to them. `plainly` looks at every word, for a
text that will stand in the place of the memories; else numbers and names are looked at, for an answer in free
words. Chinese names are not marked as such: there two characters in a row that nobody said are one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from thinkback.language.numbers import (
    NUMBER_PATTERN_EN,
    NUMBER_PATTERN_ZH,
    parse_chinese_number,
    parse_english_number,
)
from thinkback.language.safety.quarantine import find_quarantined
from thinkback.language.scripts import HAN
from thinkback.language.sentences import split_sentences
from thinkback.language.tokens import FUNCTION_CHARACTERS, STOP_WORDS, extract_terms, fold_text, stem

_LINKING_WORDS = """
    user currently also since therefore thus because however still already person people both according based
    memory memories remember told tell say said mention mentioned earlier later today question ask asked
    together though although but while too including"""
_LINKING_STEMS = frozenset(map(stem, _LINKING_WORDS.split()))
_LINKING_CHARACTERS = FUNCTION_CHARACTERS | frozenset(
    "用户人现今目前因为所此并且然后时候其实已经曾一直同于是所以据记忆知道问题提过而"
)
_DIGITS = re.compile(r"\d+(?:[.,:]\d+)*")
_SPELT_NUMBER_EN = re.compile(rf"\b(?!an?\b|one\b){NUMBER_PATTERN_EN}\b", re.IGNORECASE)
_SPELT_NUMBER_ZH = re.compile(rf"(?![一两]){NUMBER_PATTERN_ZH}")
_NAME = re.compile(r"(?<=[\w,;:'’\"(] )[A-Z][\w-]*")
_HAN = re.compile(f"[{HAN}]")
_NEGATION = re.compile(r"\b(?:not|no|never|neither|nor|without|cannot)\b|n't\b|[不没無无未]", re.IGNORECASE)


def find_ungrounded(text: str, sources: Iterable[str], *, strict: bool) -> str:
    """What a text says beyond what was given, named for a person; empty where it keeps to it."""
    return next(_iter_ungrounded(text, "\n".join(sources), strict), "")


def _iter_ungrounded(text: str, source: str, strict: bool) -> Iterator[str]:
    if find_quarantined(text):
        yield "it reads like an instruction or a secret"
    numbers = _extract_numbers(source)
    yield from (
        f"the number {each} is in no memory" for each in _extract_numbers(text) if each not in numbers
    )
    known = frozenset(extract_terms(source))
    yield from (
        f"{each!r} is in no memory"
        for each in _extract_names(text)
        if not known.issuperset(extract_terms(each))
    )
    yield from (f"{each!r} is in no memory" for each in _unknown_han_runs(text, source, 1 if strict else 2))
    if strict:
        if _NEGATION.search(text) and not _NEGATION.search(source):
            yield "it denies what no memory denies"
        words = [
            each
            for each in extract_terms(text)
            if each.isascii() and each.isalpha() and each not in known | _LINKING_STEMS
        ]
        yield from (f"{each!r} is in no memory" for each in words)


def _extract_numbers(text: str) -> list[str]:
    """Every number as digits, spelt ones too."""
    folded = fold_text(text)
    found = [each.replace(",", "") for each in _DIGITS.findall(folded)]
    found += [
        str(parse_english_number(each)) for each in _SPELT_NUMBER_EN.findall(folded) if not each.isdecimal()
    ]
    return found + [
        str(parse_chinese_number(each)) for each in _SPELT_NUMBER_ZH.findall(folded) if not each.isdecimal()
    ]


def _extract_names(text: str) -> list[str]:
    """Words with a capital inside a sentence; at its beginning every word has one."""
    inside = [name for sentence in split_sentences(text) for name in _NAME.findall(sentence.text)]
    return [name for name in inside if name.casefold() not in STOP_WORDS]


def _unknown_han_runs(text: str, source: str, min_length: int) -> Iterator[str]:
    """Runs of at least so many Chinese characters that nobody said and that do more than link."""
    known = "".join(sorted(frozenset(_HAN.findall(fold_text(source))) | _LINKING_CHARACTERS))
    for run in re.findall(f"(?:(?![{known}])[{HAN}])+", fold_text(text)):
        if len(run) >= min_length:
            yield run
