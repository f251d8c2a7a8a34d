"""Who and what a thought speaks of: names to keys, so that two spellings meet (TiM 001, entity resolution).

By spelling, article, possessive, kin word and stem alone; that two names are one's ("my sister Anna", 安娜)
is decided by `identify`. Stores keep the alias table, keyed by `normalise`.
"""

from __future__ import annotations

import re

from thinkback.text.numbers import NUMBER_EN, NUMBER_ZH
from thinkback.text.people.names import USER, normalise
from thinkback.text.tokens import fold, stem
from thinkback.think.relations import canonical

__all__ = ["USER", "key_of", "normalise", "object_key", "respect", "undosed"]

_COUNTED = re.compile(rf"(?:{NUMBER_EN}|no)\s+(?=\S)")
_COUNTED_ZH = re.compile(f"{NUMBER_ZH}\\s*[个只条位名匹头尾对台辆套部张间把本双件块份家口]")
_SERVED = re.compile("\\A[吃喝](?=\\S)")
_UNIT = (
    r"(?:mg|mcg|ug|µg|g|ml|iu|units?|pills?|tablets?|puffs?|capsules?|drops?"
    r"|(?:milli|micro)?gram(?:me)?s?|millilit(?:er|re)s?)"
)
_DOSE = re.compile(
    rf"\s*\b\d[\d.,]*\s*{_UNIT}\b.*"
    r"|[\d半一二两三四五六七八九十][\d.一二三四五六七八九十百]*\s*(?:毫克|微克|毫升|单位|片|粒|颗).*",
    re.S,
)
_DOSE_FIRST = re.compile(rf"\A\d[\d.,]*\s*{_UNIT}\s+(?:of\s+)?", re.I)
_MEASURED = re.compile(r"\d[\d.,]*\s?(?:%|[a-zµμ]{1,5}(?:/[a-zµμ]{1,4})?|/[a-zµμ]{1,4})")
_READ = re.compile(r"(?P<what>[a-z ]+?)(?:,| of| at)? \d[\d.,]*(?: ?(?:°[cf]?|degrees?[a-z ]*|c|f))?")
_HEAD_ZH = re.compile("[\u4e00-\u9fff]{4,}")


def key_of(subject: str, relation: str) -> tuple[str, str]:
    """What Algorithm 1 compares: equal keys speak of the same thing in the same respect."""
    return normalise(subject), canonical(relation)


def object_key(name: str) -> str:
    """Objects with one key are one object: "to play football" and "playing football", "a dog" and "dogs"."""
    words = _SERVED.sub("", fold(normalise(name))).split()
    if len(words) > 1 and words[0] == "to":
        words = words[1:]
    return " ".join(stem(word) if word.isascii() else word for word in words)


def respect(relation: str, name: str) -> str:
    """In which respect an object of a many-valued relation holds one value; empty for most.

    "3 chickens" and "5 chickens" count the same, "metformin 500 mg" and "1000 mg" dose the same, what is
    measured ("fever, 38.6") has one value, "window seats" and "aisle seats" are preferred for the same: the
    newer takes the place of the older.
    """
    words = fold(name).strip()
    if relation == "has":
        if found := _COUNTED.match(words):
            return object_key(words[found.end() :])
        return words[found.end() :] if (found := _COUNTED_ZH.match(words)) else ""
    if relation == "takes":
        bare = undosed(words)
        return object_key(bare) if bare != words else ""
    if relation == "has condition":
        return object_key(found["what"]) if (found := _READ.fullmatch(words)) else ""
    if relation == "is":
        return "measured" if _MEASURED.fullmatch(words) else ""
    return _preferred_for(words) if relation == "prefers" else ""


def undosed(name: str) -> str:
    """A medicine without how much of it: "metformin 500 mg" -> "metformin"."""
    words = fold(name).strip()
    return _DOSE.sub("", _DOSE_FIRST.sub("", words))


def _preferred_for(words: str) -> str:
    if _HEAD_ZH.fullmatch(words):
        return words[-2:]
    parts = words.split()
    return stem(parts[-1]) if len(parts) == 2 and parts[-1].isascii() else ""
