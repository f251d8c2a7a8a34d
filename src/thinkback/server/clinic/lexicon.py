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

    def category_of(self, sentence: str) -> str:
        """The category of a sentence; `other` if no word of any category occurs."""
        folded = fold_text(sentence.replace("’", "'"))
        return next((item.id for item in self.categories if item.pattern.search(folded)), OTHER)


@cache
def load_lexicon() -> Lexicon:
    content = tomllib.loads((files("thinkback.server.clinic") / "clinic.toml").read_text("utf-8"))
    units = "|".join(re.escape(fold_text(unit)) for unit in content["units"]["known"])
    number = r"\d+(?:[.,]\d+)?"
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
                pattern=_measurement_pattern(item["cues"], item.get("values", 1), number, units),
                values=item.get("values", 1),
            )
            for item in content["measurement"]
        ),
        any_measurement=re.compile(
            rf"(?P<item>[a-z][a-z0-9 -]{{2,40}}?|[一-鿿]{{2,8}}?)\s*(?:is|was|of|at|are|were|:|是|为|有)?\s*"
            rf"(?:now |about |only |现在|大约)?(?P<value>{number})\s*(?P<unit>{units})"
        ),
    )


def _word(word: str) -> str:
    folded = fold_text(word)
    return re.escape(folded) if has_han(folded) else rf"\b{re.escape(folded)}s?\b"


def _measurement_pattern(cues: list[str], values: int, number: str, units: str) -> re.Pattern[str]:
    """A cue, at most 40 characters without another number, then the value."""
    value = rf"(?P<value>{number})"
    if values == 2:
        value = rf"(?P<value>{number})\s*(?:/|over|比)\s*(?P<second>{number})"
    return re.compile(rf"(?:{'|'.join(map(_word, cues))})[^\d;。；]{{0,40}}?{value}\s*(?P<unit>{units})?")
