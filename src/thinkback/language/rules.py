"""Values shared by the English and Chinese readers: `Rule`, `Clause`, `ExtractedFact`, and facts read from profile lines."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from thinkback.language.attributes import (
    ATTRIBUTES_BY_NOUN,
    Attribute,
)
from thinkback.language.dates import TimeExpression
from thinkback.types import Kind


class ProfileLine(NamedTuple):
    """What a sentence tells as a profile does, and whose profile goes on after it."""

    facts: tuple[ExtractedFact, ...]
    owner: str


def chinese_rule(name: str, pattern: str, relation: str, **options: Any) -> Rule:
    """A rule for the whole rest of a clause, whatever particle closes it."""
    return Rule(name, re.compile(pattern + r"(?:了|啦|呢|的|哦|呀|啊)?\Z", re.DOTALL), relation, **options)


def english_rule(name: str, pattern: str, relation: str, **options: Any) -> Rule:
    """A rule whose pattern must match all that is said after the subject."""
    return Rule(name, re.compile(pattern + r"\Z", re.DOTALL), relation, **options)


@dataclass(frozen=True, slots=True)
class Rule:
    """`relation` and `say` may use the pattern's groups as {group}; the group `o` is the object.

    `place` means the objects must read as a place; `split` that they may be a list; `dated` that the rule
    needs a time; `negated` that the words themselves deny ("hates"); `also` is a second relation whose object
    is the group `also`.
    """

    name: str
    pattern: re.Pattern[str]
    relation: str
    is_list: bool = False
    needs_place: bool = False
    needs_time: bool = False
    negated: bool = False
    ended: bool = False
    kind: Kind | None = None
    template: str = ""
    second_relation: str = ""
    accept: Callable[[str], bool] | None = None


@dataclass(frozen=True, slots=True)
class ExtractedFact:
    """What one clause says, before it becomes a draft."""

    rule: str
    subject: str
    relation: str
    objects: tuple[str, ...]
    negated: bool = False
    ended: bool = False
    kind: Kind | None = None
    template: str = ""
    when: TimeExpression | None = None
    time_text: str = ""
    instead_of: tuple[str, ...] = ()
    """What the same clause says it is not: "cashews, not walnuts"."""


@dataclass(frozen=True, slots=True)
class Clause:
    """A part of a sentence with one predicate, and where it stands in the text of its side."""

    text: str
    start: int
    end: int


_DIGIT = re.compile("[0-9０-９一二三四五六七八九十百]")
_VALUE_FORMATS: dict[str, re.Pattern[str]] = {
    "is aged": re.compile(r"[\d一二三四五六七八九十]{1,3}(?: ?(?:years?(?: old| of age)?|岁))?"),
    "height": _DIGIT,
    "weighs": _DIGIT,
    "phone number": re.compile(r"\+?\d[\d ()-]{4,20}\d"),
    "email": re.compile(r"\S+@\S+\.\w+"),
    "blood type": re.compile(r"(?:AB?|B|O)\b|(?:AB?|B|O)型"),
    "birthday": re.compile(r"\d|[月日号]"),
}
"""What a value must have to be one."""
_AGE_NUMBER = re.compile(r"[\d一二三四五六七八九十]+")
_FULL_MATCH_RELATIONS = frozenset(("is aged", "phone number", "email"))


def build_profile_fact(owner: str, noun: str, values: tuple[str, ...], template: str) -> ExtractedFact | None:
    """The reading of "owner's noun is values"; None if they cannot be that.

    `say` tells it with the very noun, for what has no words of its own.
    """
    known = ATTRIBUTES_BY_NOUN.get(noun)
    if known is None:
        return ExtractedFact("profile", owner, noun, values, kind="profile", template=template)
    if not values or not all(_has_value_format(known, value) for value in values):
        return None
    if known.relation == "is aged":
        found = _AGE_NUMBER.match(values[0])
        values = (found.group(),) if found else values
    named = known in _PHRASED_WITH_NOUN
    return ExtractedFact("profile", owner, known.relation, values, template=template if named else "")


def _has_value_format(known: Attribute, value: str) -> bool:
    needed = _VALUE_FORMATS.get(known.relation)
    if needed is None:
        return True
    return bool(needed.fullmatch(value) if known.relation in _FULL_MATCH_RELATIONS else needed.search(value))


_PHRASED_WITH_NOUN = frozenset(
    each for each in ATTRIBUTES_BY_NOUN.values() if each.is_free_text or each.relation == "skills"
)
"""Told in the noun that was said: 体貌特征 is not the word of every question, but one of its words."""
