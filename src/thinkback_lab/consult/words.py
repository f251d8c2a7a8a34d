"""Sentences of a consultation without a model: what they mention, whether they deny, what values they say."""

from __future__ import annotations

import re
from collections.abc import Iterable

from thinkback_lab.metrics.answers import folded
from thinkback_lab.schemes.words import words
from thinkback_lab.text import has_han

_DENIES = re.compile(
    r"\b(?:no|not|never|none|nothing|without|neither|nor|denies)\b|n't\b|没|无|不|未|否认", re.IGNORECASE
)
_VALUE = re.compile(
    r"\d+(?:[.,/]\d+)*|[零〇一二两三四五六七八九十百千万]{2,}"
    r"|\b(?:positive|negative|normal|abnormal|elevated|raised)\b|阳性|阴性|正常|异常",
    re.IGNORECASE,
)


def asserts(sentence: str) -> bool:
    return not sentence.rstrip("\"'” ").endswith(("?", "？"))


def denies(sentence: str) -> bool:
    return _DENIES.search(sentence.replace("’", "'")) is not None


def mentions(sentence: str, cue: str) -> bool:
    """Whether every word of the cue stands in it, in any form; of Chinese, the cue as it is."""
    if has_han(cue):
        return folded(cue) in folded(sentence)
    return set(words(cue)) <= set(words(sentence))


def about(sentence: str, wanted: Iterable[str]) -> bool:
    """Whether it says one of these, and does not deny it; a wanted word may be a denial itself."""
    said = [word for word in wanted if mentions(sentence, word)]
    return any(denies(word) for word in said) or (bool(said) and not denies(sentence))


def values(text: str) -> list[str]:
    """Numbers and the words that results are given in."""
    return [found.casefold() for found in _VALUE.findall(folded(text))]


def invented(reply: str, known: Iterable[str]) -> list[str]:
    """The values in a patient's reply that nothing known holds."""
    held = {value for text in known for value in values(text)}
    return [value for value in values(reply) if value not in held]
