"""Who and what a thought speaks of: names to keys, so that two spellings meet (TiM 001, entity resolution).

By spelling, article, possessive, kin word and stem alone; that two names are one's ("my sister Anna", 安娜)
is decided by `identify`. Stores keep the alias table, keyed by `normalise`.
"""

from __future__ import annotations

import re

from thinkback.language.names import USER, normalise_name
from thinkback.language.numbers import NUMBER_PATTERN_EN, NUMBER_PATTERN_ZH
from thinkback.language.relations import canonical_relation
from thinkback.language.tokens import fold_text, stem

__all__ = ["USER", "thought_key", "normalise_name", "object_key", "value_slot", "strip_dose"]

_COUNT_PREFIX = re.compile(rf"(?:{NUMBER_PATTERN_EN}|no)\s+(?=\S)")
_COUNT_PREFIX_ZH = re.compile(f"{NUMBER_PATTERN_ZH}\\s*[个只条位名匹头尾对台辆套部张间把本双件块份家口]")
_EATING_VERB_ZH = re.compile("\\A[吃喝](?=\\S)")
_DOSE_UNIT = (
    r"(?:mg|mcg|ug|µg|g|ml|iu|units?|pills?|tablets?|puffs?|capsules?|drops?"
    r"|(?:milli|micro)?gram(?:me)?s?|millilit(?:er|re)s?)"
)
_TRAILING_DOSE = re.compile(
    rf"\s*\b\d[\d.,]*\s*{_DOSE_UNIT}\b.*"
    r"|[\d半一二两三四五六七八九十][\d.一二三四五六七八九十百]*\s*(?:毫克|微克|毫升|单位|片|粒|颗).*",
    re.S,
)
_LEADING_DOSE = re.compile(rf"\A\d[\d.,]*\s*{_DOSE_UNIT}\s+(?:of\s+)?", re.I)
_MEASUREMENT = re.compile(r"\d[\d.,]*\s?(?:%|[a-zµμ]{1,5}(?:/[a-zµμ]{1,4})?|/[a-zµμ]{1,4})")
_MEASURED_CONDITION = re.compile(
    r"(?P<what>[a-z ]+?)(?:,| of| at)? \d[\d.,]*(?: ?(?:°[cf]?|degrees?[a-z ]*|c|f))?"
)
_LONG_NOUN_ZH = re.compile("[\u4e00-\u9fff]{4,}")


def thought_key(subject: str, relation: str) -> tuple[str, str]:
    """What Algorithm 1 compares: equal keys speak of the same thing in the same respect."""
    return normalise_name(subject), canonical_relation(relation)


def object_key(name: str) -> str:
    """Objects with one key are one object: "to play football" and "playing football", "a dog" and "dogs"."""
    words = _EATING_VERB_ZH.sub("", fold_text(normalise_name(name))).split()
    if len(words) > 1 and words[0] == "to":
        words = words[1:]
    return " ".join(stem(word) if word.isascii() else word for word in words)


def value_slot(relation: str, name: str) -> str:
    """In which respect an object of a many-valued relation holds one value; empty for most.

    "3 chickens" and "5 chickens" count the same, "metformin 500 mg" and "1000 mg" dose the same, what is
    measured ("fever, 38.6") has one value, "window seats" and "aisle seats" are preferred for the same: the
    newer takes the place of the older.
    """
    words = fold_text(name).strip()
    if relation == "has":
        if found := _COUNT_PREFIX.match(words):
            return object_key(words[found.end() :])
        return words[found.end() :] if (found := _COUNT_PREFIX_ZH.match(words)) else ""
    if relation == "takes":
        bare = strip_dose(words)
        return object_key(bare) if bare != words else ""
    if relation == "has condition":
        return object_key(found["what"]) if (found := _MEASURED_CONDITION.fullmatch(words)) else ""
    if relation == "is":
        return "measured" if _MEASUREMENT.fullmatch(words) else ""
    return _preference_slot(words) if relation == "prefers" else ""


def strip_dose(name: str) -> str:
    """A medicine without how much of it: "metformin 500 mg" -> "metformin"."""
    words = fold_text(name).strip()
    return _TRAILING_DOSE.sub("", _LEADING_DOSE.sub("", words))


def _preference_slot(words: str) -> str:
    if _LONG_NOUN_ZH.fullmatch(words):
        return words[-2:]
    parts = words.split()
    return stem(parts[-1]) if len(parts) == 2 and parts[-1].isascii() else ""
