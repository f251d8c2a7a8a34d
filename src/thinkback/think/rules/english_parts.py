"""The parts that the English tables are built of: how a rule is written, and words that many rules share."""

from __future__ import annotations

import re
from typing import Any

from thinkback.text.numbers import NUMBER_EN
from thinkback.text.people.kin import KIN_EN, PETS_EN, longest_first
from thinkback.think.rules.rule import Rule

BE = r"(?:am|is|are)"
BECAME = rf"(?:{BE}|became|have become|has become|have been|has been)"
HAVE = r"(?:have got|has got|have|has)"
COUNT = rf"(?:an?|{NUMBER_EN}|no|some|several|many)"
KIN = rf"(?:{longest_first(KIN_EN)})"
PET = rf"(?:{longest_first(PETS_EN)})"
WEIGHT = r"(?:kgs?|kilos?|kilograms?|lbs?|pounds?|stones?)"
DOSE = (
    r"\d[\d.,]*\s?(?:mg|mcg|µg|ug|g|ml|iu|units?|puffs?|tablets?|pills?|capsules?|drops?"
    r"|(?:milli|micro)?gram(?:me)?s?|millilit(?:er|re)s?)\b"
)
MONEY = (
    r"(?:[$€£¥]\s?\d[\d.,]*\s?[kK]?|\d[\d.,]*\s?[kK]?\s?(?:dollars|euros?|pounds|yen|yuan|bucks|quid"
    r"|francs|rupees"
    r"|pesos|crowns|kronor|zloty|usd|USD|eur|EUR|gbp|GBP|chf|CHF)|\d[\d.,]*[kK])\b"
)
MODS = (
    "(?:(?:older|younger|elder|big|little|twin|best|new|close|old|oldest|good|step|half|pet|eldest|youngest"
    "|small|cute|dear|late|then|current|next-?door|upstairs|downstairs|work|uni|college|school|childhood"
    "|tiny|grey|gray|black|white|ginger|rescue|first|second|third|middle|line|team|project|lovely|poor"
    "|previous|former) )*"
)
"""What may stand between "my" and a relative, a role or a pet."""


def rule(name: str, pattern: str, relation: str, **options: Any) -> Rule:
    """A rule whose pattern must match all that is said after the subject."""
    return Rule(name, re.compile(pattern + r"\Z", re.DOTALL), relation, **options)
