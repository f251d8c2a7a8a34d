"""The English tables: what is said of a subject (PREDICATES) and of a possession (ATTRIBUTES).

A predicate is read after its subject, time, adverbs and negation are taken off, in verbs of first or third
person: "live in Paris", "is allergic to nuts". The first rule that matches decides, so the order counts:
who somebody is before what he has, a plan last but possession.
"""

from __future__ import annotations

import re

from thinkback.text.people.kin import KIN_EN, PETS_EN, longest_first
from thinkback.think.rules.english_attributes import ATTRIBUTES
from thinkback.think.rules.english_events import EVENTS, base_verb
from thinkback.think.rules.english_health import HEALTH
from thinkback.think.rules.english_home import NAMES, WHERE, WHO
from thinkback.think.rules.english_parts import MODS
from thinkback.think.rules.english_tastes import HABITS, TASTES
from thinkback.think.rules.english_work import STUDY, WORK
from thinkback.think.rules.rule import Rule

__all__ = ["ATTRIBUTES", "KINDRED", "PREDICATES", "base_verb"]

PREDICATES: tuple[Rule, ...] = (*WHO, *WHERE, *NAMES, *WORK, *STUDY, *TASTES, *HEALTH, *HABITS, *EVENTS)

KINDRED = re.compile(
    rf"(?P<mods>{MODS})(?P<kin>parents|grandparents|kids|children|{longest_first(KIN_EN | PETS_EN)})\b"
)
