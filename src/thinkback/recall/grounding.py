"""Checks that a model says nothing beyond its sources: no new number, name or word.

A model that combines memories may order and link them, but not add anything. The strict check looks at every
word, for a text that replaces the memories; otherwise only numbers and names are checked. Chinese names have
no capital letters: two adjacent unknown characters count as a name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from thinkback.language.safety.quarantine import find_quarantined
from thinkback.language.sentences import split_sentences
from thinkback.language.tokens import (
    FUNCTION_CHARACTERS,
    NUMBER_PATTERN_EN,
    NUMBER_PATTERN_ZH,
    STOP_WORDS,
    extract_terms,
    fold_text,
    parse_chinese_number,
    parse_english_number,
    stem,
)
from thinkback.language.writing_systems import HAN

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
    """The first thing in the text that is not in the sources, described for a person; "" if there is none."""
    return next(_iter_ungrounded(text, "\n".join(sources), strict), "")


def _iter_ungrounded(text: str, source: str, strict: bool) -> Iterator[str]:
    if find_quarantined(text):
        yield "it reads like an instruction or a secret"
    numbers = _extract_numbers(source)
    yield from (
        f"the number {word} is in no memory" for word in _extract_numbers(text) if word not in numbers
    )
    known = frozenset(extract_terms(source))
    yield from (
        f"{word!r} is in no memory"
        for word in _extract_names(text)
        if not known.issuperset(extract_terms(word))
    )
    yield from (f"{word!r} is in no memory" for word in _unknown_han_runs(text, source, 1 if strict else 2))
    if strict:
        if _NEGATION.search(text) and not _NEGATION.search(source):
            yield "it denies what no memory denies"
        words = [
            word
            for word in extract_terms(text)
            if word.isascii() and word.isalpha() and word not in known | _LINKING_STEMS
        ]
        yield from (f"{word!r} is in no memory" for word in words)


def _extract_numbers(text: str) -> list[str]:
    """All numbers as digits, including spelt ones."""
    folded = fold_text(text)
    numbers = [number.replace(",", "") for number in _DIGITS.findall(folded)]
    numbers += [
        str(parse_english_number(number))
        for number in _SPELT_NUMBER_EN.findall(folded)
        if not number.isdecimal()
    ]
    return numbers + [
        str(parse_chinese_number(number))
        for number in _SPELT_NUMBER_ZH.findall(folded)
        if not number.isdecimal()
    ]


def _extract_names(text: str) -> list[str]:
    """Capitalised words, except at the beginning of a sentence."""
    capitalised = [name for sentence in split_sentences(text) for name in _NAME.findall(sentence.text)]
    return [name for name in capitalised if name.casefold() not in STOP_WORDS]


def _unknown_han_runs(text: str, source: str, min_length: int) -> Iterator[str]:
    """Runs of at least `min_length` Chinese characters that are neither in the source nor function words."""
    known = "".join(sorted(frozenset(_HAN.findall(fold_text(source))) | _LINKING_CHARACTERS))
    for run in re.findall(f"(?:(?![{known}])[{HAN}])+", fold_text(text)):
        if len(run) >= min_length:
            yield run
