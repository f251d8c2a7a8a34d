"""Keys by which thoughts are compared: two spellings of the same thing get the same key.

Only spelling, articles, possessives, kin words and word stems count. Whether two names are one person ("my
sister Anna", 安娜) is decided in `think.entities`.
"""

from __future__ import annotations

import re

from thinkback.language.names import normalise_name
from thinkback.language.relations import canonical_relation
from thinkback.language.tokens import NUMBER_PATTERN_EN, NUMBER_PATTERN_ZH, fold_text, stem

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
    """The (subject, relation) key that Algorithm 1 of TiM compares."""
    return normalise_name(subject), canonical_relation(relation)


def object_key(value: str) -> str:
    """Key of a value: "to play football" and "playing football", "a dog" and "dogs" are equal."""
    words = _EATING_VERB_ZH.sub("", fold_text(normalise_name(value))).split()
    if len(words) > 1 and words[0] == "to":
        words = words[1:]
    return " ".join(stem(word) if word.isascii() else word for word in words)


def value_slot(relation: str, value: str) -> str:
    """The slot of a value within a many-valued relation; a newer value replaces the older one in its slot.

    Counts ("3 chickens", "5 chickens"), doses ("metformin 500 mg", "metformin 1000 mg"), measurements
    ("fever, 38.6") and preferences for one noun ("window seats", "aisle seats") share a slot. Most values
    have none (empty string).
    """
    words = fold_text(value).strip()
    if relation == "has":
        if match := _COUNT_PREFIX.match(words):
            return object_key(words[match.end() :])
        return words[match.end() :] if (match := _COUNT_PREFIX_ZH.match(words)) else ""
    if relation == "takes":
        drug = strip_dose(words)
        return object_key(drug) if drug != words else ""
    if relation == "has condition":
        return object_key(match["what"]) if (match := _MEASURED_CONDITION.fullmatch(words)) else ""
    if relation == "is":
        return "measured" if _MEASUREMENT.fullmatch(words) else ""
    return _preference_slot(words) if relation == "prefers" else ""


def strip_dose(medicine: str) -> str:
    """Remove the dose of a medicine: "metformin 500 mg" -> "metformin"."""
    words = fold_text(medicine).strip()
    return _TRAILING_DOSE.sub("", _LEADING_DOSE.sub("", words))


def _preference_slot(words: str) -> str:
    """The noun that a preference is about: "seat" of "window seats"."""
    if _LONG_NOUN_ZH.fullmatch(words):
        return words[-2:]
    parts = words.split()
    return stem(parts[-1]) if len(parts) == 2 and parts[-1].isascii() else ""
