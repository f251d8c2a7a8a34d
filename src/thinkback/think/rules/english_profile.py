"""English profiles: "Eva's nationality is Swiss", "Eva's occupation: welder", and labels below a name.

One shape for every attribute (owner, noun, value) over a vocabulary of nouns; what a noun outside of it
tells is taken only where its form leaves no doubt. Verdicts ("Eva's education is impressive") tell no value.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from thinkback.text.people.names import USER
from thinkback.think.attributes import NEW, OLD, Attribute
from thinkback.think.rules.english_cut import listed, usable
from thinkback.think.rules.english_words import NAME, is_name, word_set
from thinkback.think.rules.profile import told
from thinkback.think.rules.rule import Reading

_BY_NOUN: dict[str, Attribute] = {noun: each for each in (*OLD, *NEW) for noun in each.english}
_NOUN = "(?i:" + "|".join(sorted(_BY_NOUN, key=lambda noun: (-len(noun), noun))) + ")"
_KIND = (
    "(?:colou?r|size|number|type|style|status|background|level|brand|group|title|rank|name|date|place|language"
    "|sign|instrument|subject|school|food|sport|team|drink|dish)"
)
_OPEN_NOUN = rf"[a-z]+(?: [a-z]+)? {_KIND}"
_OWNER = rf"(?:(?P<mine>[Mm]y) |(?P<owner>{NAME})(?:'s|(?<=s)') )"
_HOW = "(?:current |main |full |general |overall |own |official )?"
_IS = r"(?: (?:is|are|includes?)(?: (?:currently|now|mainly|mostly))? |\s*[:：]\s*)"
_WHOLE = re.compile(rf"{_OWNER}{_HOW}(?P<noun>{_NOUN}){_IS}(?P<o>\S.*)", re.S)
_OF = re.compile(rf"[Tt]he (?P<noun>{_NOUN}) of (?P<owner>{NAME}) (?:is|are) (?P<o>\S.*)(?P<mine>)", re.S)
_UNKNOWN = re.compile(
    rf"{_OWNER}(?P<noun>{_OPEN_NOUN} is (?=\S)|[a-z]+(?: [a-z]+){{0,2}}\s*[:：] )(?P<o>\S.*)", re.S
)
_LABEL = re.compile(rf"[-*•\s]*(?P<noun>{_NOUN})\**\s*[:：]\**\s*(?P<o>\S.*)", re.S)
_NAMED = re.compile(rf"[-*•\s]*(?i:(?:full )?name)\**\s*[:：]\**\s*(?P<o>{NAME})[.,]?")
_HEADING = re.compile(rf"[#*\s]*(?P<o>{NAME})\**\s*[:：]?\**")
_OPENS_NO_VALUE = word_set(
    "that how why what when where whether because if not no to in on at about so too as like by for from"
    " being getting becoming never always still all something nothing one it this there here just none"
    " of such quite-a up down over under more less better worse than going"
)
_VERDICTS = word_set(
    "good great bad fine nice amazing awesome terrible awful impressive important interesting perfect"
    " poor weak strong excellent lovely okay ok wonderful deceiving growing waning fading rising"
    " increasing improving changing falling gone lost missing unknown private secret irrelevant"
    " different similar the-same mine yours hers his theirs unclear unusual stunning striking beautiful"
    " limited broad wide varied many few best worst high low key everything expensive incomplete"
    " outdated wrong right correct due ready available over"
)
_DEGREES = word_set("very really so pretty quite too rather")
_LOOSE = word_set(
    "title reputation idol hero achievement award character features build looks strengths contact"
    " interest origin mobile phone skill talent education goal weakness faith passions specialty"
    " speciality expertise alias zodiac hobby interests sex"
)
"""Of the speaker these say too much else: "my character is level 40", "my phone is dead"."""
_LONGEST, _LONGEST_FREE = 8, 30  # words of a value
_EDGE = " \t\n.;!*…"
_MY = re.compile(r"\b(?:my|our)\b", re.I)


class Told(NamedTuple):
    """What a sentence tells as a profile does, and whose profile goes on after it."""

    readings: tuple[Reading, ...]
    owner: str


def profiled(text: str, owner: str = "") -> Told:
    """`owner` is whom labels speak of that stand alone: "Occupation: welder"."""
    plain = text.replace("’", "'").strip()
    found = _WHOLE.fullmatch(plain) or _OF.fullmatch(plain)
    if found or (found := _UNKNOWN.fullmatch(plain)):
        noun = re.sub(r"(?: is|\s*[:：])\s*\Z", "", found["noun"]).lower()
        whose = USER if found["mine"] else found["owner"]
        loose = noun in _LOOSE or found.re is _UNKNOWN
        if loose if whose == USER else not is_name(whose):
            return Told((), "")
        return Told(_read(whose, noun, found["o"]), whose)
    if named := _NAMED.fullmatch(plain):
        return Told((), named["o"] if is_name(named["o"]) else "")
    if owner and (label := _LABEL.fullmatch(plain)):
        return Told(_read(owner, label["noun"].lower(), label["o"]), owner)
    heading = _HEADING.fullmatch(plain)
    return Told((), heading["o"] if heading and is_name(heading["o"]) else "")


def _read(owner: str, noun: str, words: str) -> tuple[Reading, ...]:
    known = _BY_NOUN.get(noun)
    value = _MY.sub("their", words.strip(_EDGE))
    free = known is not None and known.free
    if not free:
        value = value if known and known.listed else re.split(r", (?:and|but|which|who|so)\b|;", value)[0]
    values = listed(value) if known is not None and known.listed else (value,)
    if known is not None and known.relation == "works as":
        values = tuple(re.sub(r"\A(?:an?|the) ", "", each) for each in values)
    if not all(_is_value(each, free=free) for each in values):
        return ()
    reading = told(owner, noun, values, f"{{s}}'s {noun} {'are' if _plural(noun) else 'is'} {{o}}")
    return () if reading is None else (reading,)


def _is_value(words: str, *, free: bool) -> bool:
    parts = words.lower().split()
    if not parts or parts[0] in _OPENS_NO_VALUE or "?" in words:
        return False
    bare = [part.strip(",") for part in parts if part not in _DEGREES]
    if bare and bare[0] in _VERDICTS and len(bare) <= 3:
        return False
    return len(parts) <= _LONGEST_FREE if free else usable(words, _LONGEST)


def _plural(noun: str) -> bool:
    return noun.endswith("s") and not noun.endswith(("ss", "us"))
