"""What profiles share in both languages: an attribute and its value, checked, as a reading."""

from __future__ import annotations

import re

from thinkback.think.attributes import BY_NOUN, Attribute
from thinkback.think.rules.rule import Reading

_DIGIT = re.compile("[0-9０-９一二三四五六七八九十百]")
_MUST_HOLD: dict[str, re.Pattern[str]] = {
    "is aged": re.compile(r"[\d一二三四五六七八九十]{1,3}(?: ?(?:years?(?: old| of age)?|岁))?"),
    "height": _DIGIT,
    "weighs": _DIGIT,
    "phone number": re.compile(r"\+?\d[\d ()-]{4,20}\d"),
    "email": re.compile(r"\S+@\S+\.\w+"),
    "blood type": re.compile(r"(?:AB?|B|O)\b|(?:AB?|B|O)型"),
    "birthday": re.compile(r"\d|[月日号]"),
}
"""What a value must have to be one."""
_AGE = re.compile(r"[\d一二三四五六七八九十]+")
_LOOKED_AT_WHOLE = frozenset(("is aged", "phone number", "email"))


def told(owner: str, noun: str, values: tuple[str, ...], say: str) -> Reading | None:
    """The reading of "owner's noun is values"; None if they cannot be that.

    `say` tells it with the very noun, for what has no words of its own.
    """
    known = BY_NOUN.get(noun)
    if known is None:
        return Reading("profile", owner, noun, values, kind="profile", say=say)
    if not values or not all(_fits(known, value) for value in values):
        return None
    if known.relation == "is aged":
        found = _AGE.match(values[0])
        values = (found.group(),) if found else values
    named = known in _NAMED_BY_NOUN
    return Reading("profile", owner, known.relation, values, say=say if named else "")


def _fits(known: Attribute, value: str) -> bool:
    needed = _MUST_HOLD.get(known.relation)
    if needed is None:
        return True
    return bool(needed.fullmatch(value) if known.relation in _LOOKED_AT_WHOLE else needed.search(value))


_NAMED_BY_NOUN = frozenset(each for each in BY_NOUN.values() if each.free or each.relation == "skills")
"""Told in the noun that was said: 体貌特征 is not the word of every question, but one of its words."""
