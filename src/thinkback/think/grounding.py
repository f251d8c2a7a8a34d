"""Whether words stand in a text: locating quotes, and the share of a statement that a text supports.

Texts are compared by units: words and numbers of Latin script, and single Han characters. Numbers match in
digits and in words. Dates are left out, because a reader resolves "next Friday" to one.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

from thinkback.language.tokens import (
    NUMBER_PATTERN_EN,
    NUMBER_PATTERN_ZH,
    parse_chinese_number,
    parse_english_number,
)
from thinkback.language.writing_systems import to_simplified
from thinkback.think.word_lists import word_lists

_LETTERS = r"[^\W\d_\u3400-\u9fff]+"
_UNIT = re.compile(rf"[\u3400-\u9fff]|\d+(?:[.,:]\d+)*|{_LETTERS}(?:'{_LETTERS})?")
_DATE = re.compile(
    r"\d{4}-\d\d(?:-\d\d)?|\d{4}年(?:\d{1,2}月(?:\d{1,2}[日号])?)?|\b(?:19|20)\d\d\b|\d{1,2}月\d{1,2}[日号]"
)
_NUMBER_EN = re.compile(rf"\b{NUMBER_PATTERN_EN}\b", re.IGNORECASE)
_NUMBER_ZH = re.compile(NUMBER_PATTERN_ZH)
_VAGUE_NUMBERS = {"1"}  # "one of them", 一起
_STEM_LETTERS = 4  # words with these first letters in common count as forms of one word
_QUOTE_NOISE = re.compile(r"[\s\"'“”‘’「」『』…,，.。!！?？;；:：、~～\-—()（）\[\]*_`]+")


def _normalise(text: str) -> str:
    return to_simplified(unicodedata.normalize("NFKC", text)).casefold().replace("’", "'")


def content_units(text: str) -> list[str]:
    """The words, numbers and Han characters of a text that carry meaning, without dates."""
    ignored = word_lists().function_words
    return [unit for unit in _UNIT.findall(_DATE.sub(" ", _normalise(text))) if unit not in ignored]


class SupportingText:
    """A text that may support statements."""

    def __init__(self, texts: Iterable[str]) -> None:
        text = _normalise("\n".join(texts))
        self._units = set(_UNIT.findall(text))
        self._stems = {unit[:_STEM_LETTERS] for unit in self._units if len(unit) >= _STEM_LETTERS}
        numbers = {str(parse_english_number(found[0])) for found in _NUMBER_EN.finditer(text)}
        numbers |= {str(parse_chinese_number(found[0])) for found in _NUMBER_ZH.finditer(text)}
        self._units |= numbers

    def has_unit(self, unit: str) -> bool:
        """Whether the text has this unit, or another form of the word."""
        if unit in self._units:
            return True
        if unit[0].isdigit():
            return any(part in self._units for part in re.split(r"[.,:]", unit))
        numbers = _NUMBER_EN.fullmatch(unit)
        if numbers and str(parse_english_number(unit)) in self._units:
            return True
        return unit.isascii() and len(unit) >= _STEM_LETTERS and unit[:_STEM_LETTERS] in self._stems

    def has_numbers_of(self, statement: str) -> bool:
        """Whether the text has all numbers of a statement, in digits or in words, dates left out."""
        text = _DATE.sub(" ", _normalise(statement))
        numbers = {unit for unit in _UNIT.findall(text) if unit[0].isdigit()}
        numbers |= {str(parse_english_number(found[0])) for found in _NUMBER_EN.finditer(text)}
        numbers |= {str(parse_chinese_number(found[0])) for found in _NUMBER_ZH.finditer(text)}
        return all(map(self.has_unit, numbers - _VAGUE_NUMBERS))

    def share(self, statement: str) -> float:
        """The share of the content of a statement that the text has; 1 if the statement has none."""
        units = content_units(statement)
        return sum(map(self.has_unit, units)) / len(units) if units else 1.0


def locate_quote(quote: str, text: str) -> tuple[int, int] | None:
    """Where the quote stands in the text; white space, case, width and punctuation may differ."""
    start = text.find(quote)
    if quote.strip() and start >= 0:
        return start, start + len(quote)
    wanted, _ = _bare(quote)
    if not wanted:
        return None
    bare, positions = _bare(text)
    at = bare.find(wanted)
    if at < 0:
        return None
    return positions[at], positions[at + len(wanted) - 1] + 1


@lru_cache(maxsize=8192)  # of single characters only: texts must not outlive their erasure
def _normalise_character(character: str) -> str:
    return _normalise(character)


def _bare(text: str) -> tuple[str, list[int]]:
    """The text without punctuation and white space, normalised, and the position of each character."""
    characters: list[str] = []
    positions: list[int] = []
    for position, character in enumerate(text):
        for normalised in _normalise_character(character):
            if not _QUOTE_NOISE.fullmatch(normalised):
                characters.append(normalised)
                positions.append(position)
    return "".join(characters), positions
