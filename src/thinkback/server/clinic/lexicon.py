"""The word lists of the clinic (`clinic.toml`)."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from thinkback.language.tokens import fold_text
from thinkback.language.writing_systems import has_han

OTHER = "other"

_NUMBER = r"(?:[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?|\d+(?:[.,]\d+)?)(?!\d|\.\d)"
_THOUSANDS = re.compile(r"[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?")
_GAP = r"[^\d;。；]{0,40}?"
_LINK = r"(?:\b(?:is|was|of|at)\b|[:：是为])\s*(?:(?:now|about|only|around|down to|up to)\s+|现在|大约)?"
_YEAR = r"(?:19|20)\d\d(?!\d)"
_COUNTED = r"\s*(?:(?:time|year|month|week|day|hour)s?\b|o'clock|[年月周天次岁点]|小时|个月)"


@dataclass(frozen=True, slots=True)
class Category:
    id: str
    pattern: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class Measurement:
    """A measured quantity; `values` is 2 for a pair such as 150/95."""

    id: str
    label_en: str
    label_zh: str
    unit: str
    pattern: re.Pattern[str]
    values: int = 1


@dataclass(frozen=True, slots=True)
class Lexicon:
    categories: tuple[Category, ...]
    measurements: tuple[Measurement, ...]
    any_measurement: re.Pattern[str]
    change: re.Pattern[str]
    denial: re.Pattern[str]

    def denies(self, sentence: str) -> bool:
        """Whether a sentence says that something is not the case ("No, I haven't had a fever.")."""
        return self.denial.search(fold_text(sentence.replace("’", "'"))) is not None

    def category_of(self, sentence: str) -> str:
        """The category of a sentence; `other` if no word of any category occurs."""
        folded = fold_text(sentence.replace("’", "'"))
        return next((item.id for item in self.categories if item.pattern.search(folded)), OTHER)


@cache
def load_lexicon() -> Lexicon:
    content = tomllib.loads((files("thinkback.server.clinic") / "clinic.toml").read_text("utf-8"))
    units = "|".join(re.escape(fold_text(unit)) for unit in content["units"]["known"])
    return Lexicon(
        categories=tuple(
            Category(item["id"], re.compile("|".join(map(_word, (*item["en"], *item["zh"])))))
            for item in content["category"]
        ),
        measurements=tuple(
            Measurement(
                id=item["id"],
                label_en=item["label"]["en"],
                label_zh=item["label"]["zh"],
                unit=item["unit"],
                pattern=_measurement_pattern(item["cues"], item.get("values", 1), units),
                values=item.get("values", 1),
            )
            for item in content["measurement"]
        ),
        any_measurement=re.compile(
            rf"(?P<item>[a-z][a-z0-9 -]{{2,40}}?|[一-鿿]{{2,8}}?)\s*(?:is|was|of|at|are|were|:|是|为|有)?\s*"
            rf"(?:now |about |only |现在|大约)?(?P<value>{_NUMBER})\s*(?P<unit>{units})"
        ),
        change=re.compile("|".join(map(_word, content["units"]["changes"]))),
        denial=re.compile("|".join(f"(?:{pattern})" for pattern in content["denial"]["patterns"])),
    )


def _word(word: str) -> str:
    folded = fold_text(word)
    # Chinese characters beside a Latin word do not belong to it: "CT说" has the word "ct".
    return re.escape(folded) if has_han(folded) else rf"(?<![a-z0-9]){re.escape(folded)}s?(?![a-z0-9])"


def parse_number(text: str) -> float:
    """The value of a number: `1,200` has a thousands separator, `7,2` a decimal comma."""
    return float(text.replace(",", "") if _THOUSANDS.fullmatch(text) else text.replace(",", "."))


def _measurement_pattern(cues: list[str], values: int, units: str) -> re.Pattern[str]:
    """A cue, at most 40 characters without another number, then the value.

    A single value without a unit follows the cue or a link such as "is" directly, and is neither a year nor
    a count of times or days.
    """
    cue = f"(?:{'|'.join(map(_word, cues))})"
    unit = rf"\s*(?P<unit>{units})?"
    if values == 2:
        pair = rf"(?P<value>{_NUMBER})\s*(?:/|over|比)\s*(?P<second>{_NUMBER})"
        return re.compile(f"{cue}{_GAP}{pair}{unit}")
    link = rf"(?P<link>\s*(?:{_GAP}{_LINK})?(?!{_YEAR})(?=\d))"
    evidence = rf"(?(unit)|(?(link)(?!{_COUNTED})|(?!)))"
    return re.compile(rf"{cue}(?:{link}|{_GAP})(?P<value>{_NUMBER}){unit}{evidence}")
