"""What a rule is: a name, a pattern over what is said of a subject, and how to build the triple from it.

Rules stand in tables (`english`, `chinese`); readers find the subject, take off time and negation, and try
the table in order: the first that matches decides. This is the papers' OpenIE option (TiM 002, 3.2.1) by
hand: what no rule reads is left to the bank.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from thinkback.text.times.dates import When
from thinkback.types import Kind


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
    split: bool = False
    place: bool = False
    dated: bool = False
    negated: bool = False
    ended: bool = False
    kind: Kind | None = None
    say: str = ""
    also: str = ""
    accept: Callable[[str], bool] | None = None


@dataclass(frozen=True, slots=True)
class Reading:
    """What one clause says, before it becomes a draft."""

    rule: str
    subject: str
    relation: str
    objects: tuple[str, ...]
    negated: bool = False
    ended: bool = False
    kind: Kind | None = None
    say: str = ""
    when: When | None = None
    when_said: str = ""
    instead_of: tuple[str, ...] = ()
    """What the same clause says it is not: "cashews, not walnuts"."""


@dataclass(frozen=True, slots=True)
class Clause:
    """A part of a sentence with one predicate, and where it stands in the text of its side."""

    text: str
    start: int
    end: int
