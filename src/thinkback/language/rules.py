"""Values shared by the English and Chinese readers: `Rule`, `Clause`, `ExtractedFact` and `ProfileLine`.

A reader splits a sentence into clauses, finds the subject, removes time and negation, and tries the rules of
its language in order; the first rule that matches decides. This is the OpenIE option of TiM (arXiv), section
3.2.1, with hand-written rules: sentences that no rule matches yield no thought and stay in the memory bank
only.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from thinkback.language.attributes import ATTRIBUTES_BY_NOUN, Attribute
from thinkback.language.dates import TimeExpression
from thinkback.types import Kind


@dataclass(frozen=True, slots=True)
class Rule:
    """A pattern over the predicate of a clause, and the relation that it states.

    The named group `o` of the pattern is the value. `relation` and `template` may refer to other groups as
    `{group}`.
    """

    name: str
    pattern: re.Pattern[str]
    relation: str
    is_list: bool = False
    """The value may be a list ("tea, coffee and jazz") and is split."""
    needs_place: bool = False
    """The rule applies only if the value looks like a place."""
    needs_time: bool = False
    """The rule applies only to a clause with a time expression."""
    negated: bool = False
    """The words themselves negate the relation ("hates" negates "likes")."""
    ended: bool = False
    kind: Kind | None = None
    template: str = ""
    """Sentence template that replaces the one of the relation."""
    second_relation: str = ""
    """Relation of a second fact; its value is the group `also`."""
    accept: Callable[[str], bool] | None = None
    """Check that each value must pass."""


def english_rule(name: str, pattern: str, relation: str, **options: Any) -> Rule:
    """Create an English rule. The pattern must match everything after the subject."""
    return Rule(name, re.compile(pattern + r"\Z", re.DOTALL), relation, **options)


def chinese_rule(name: str, pattern: str, relation: str, **options: Any) -> Rule:
    """Create a Chinese rule. The pattern must match everything after the subject, except a final particle."""
    return Rule(name, re.compile(pattern + r"(?:了|啦|呢|的|哦|呀|啊)?\Z", re.DOTALL), relation, **options)


@dataclass(frozen=True, slots=True)
class ExtractedFact:
    """A fact stated by one clause, before it becomes a thought draft."""

    rule: str
    """Name of the rule that matched."""
    subject: str
    relation: str
    objects: tuple[str, ...]
    negated: bool = False
    ended: bool = False
    kind: Kind | None = None
    template: str = ""
    when: TimeExpression | None = None
    time_text: str = ""
    """The words of the time expression `when`."""
    instead_of: tuple[str, ...] = ()
    """Values that the same clause rejects: ("walnuts",) in "cashews, not walnuts"."""


@dataclass(frozen=True, slots=True)
class Clause:
    """A part of a sentence with one predicate.

    `start` and `end` are offsets in the message.
    """

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
"""The format that a value of these relations must have."""
_AGE_NUMBER = re.compile(r"[\d一二三四五六七八九十]+")
_FULL_MATCH_RELATIONS = frozenset(("is aged", "phone number", "email"))
_PHRASED_WITH_NOUN = frozenset(
    each for each in ATTRIBUTES_BY_NOUN.values() if each.is_free_text or each.relation == "skills"
)
"""Attributes whose sentence keeps the user's noun, because each noun asks for something else."""


class ProfileLine(NamedTuple):
    """The facts of a profile line, and the person whom the following labels describe (empty if none)."""

    facts: tuple[ExtractedFact, ...]
    owner: str


def build_profile_fact(owner: str, noun: str, values: tuple[str, ...], template: str) -> ExtractedFact | None:
    """Build the fact for "`owner`'s `noun` is `values`"; None if the values do not fit the noun.

    `template` is the sentence with this noun; it is used for nouns that have no sentence template of their
    own.
    """
    attribute = ATTRIBUTES_BY_NOUN.get(noun)
    if attribute is None:
        return ExtractedFact("profile", owner, noun, values, kind="profile", template=template)
    if not values or not all(_has_value_format(attribute, value) for value in values):
        return None
    if attribute.relation == "is aged":
        match = _AGE_NUMBER.match(values[0])
        values = (match.group(),) if match else values
    keeps_noun = attribute in _PHRASED_WITH_NOUN
    return ExtractedFact(
        "profile", owner, attribute.relation, values, template=template if keeps_noun else ""
    )


def _has_value_format(attribute: Attribute, value: str) -> bool:
    pattern = _VALUE_FORMATS.get(attribute.relation)
    if pattern is None:
        return True
    return bool(
        pattern.fullmatch(value) if attribute.relation in _FULL_MATCH_RELATIONS else pattern.search(value)
    )
