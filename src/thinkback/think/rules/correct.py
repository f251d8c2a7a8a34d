"""An elliptic correction -> the value it means: "I meant Ann", "Correction: it's 17, not 70", 写错了，是陈婧.

It names neither subject nor relation, so it can only mend what was said just before; `think.validate` looks
for the recent thought that holds the mistaken value, or one that is spelt or shaped alike.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from thinkback.text.people.kin import KIN_EN, KIN_ZH, PETS_EN, PETS_ZH
from thinkback.text.people.names import USER
from thinkback.think.relations import VOCABULARY

_I = re.IGNORECASE
_SLIP = re.compile(
    r"\b(?:wait,? no|no,? wait|correction|oops|typo|my bad|my mistake|i misspoke|i mis-?typed|scratch that"
    r"|i meant"
    r"|i made a mistake|i mixed|i got (?:that|it) wrong|i (?:typed|wrote|said|spelt|spelled) (?:that|it)"
    r" wrong|sorry,? (?:i meant"
    r"|it's|it is|that's|make that)|to correct myself|let me correct|autocorrect(?:ed)?|wrong word|i"
    r" mis-?read|misread it|i mis-?spoke|strike that|brain fart"
    r"|i mis-?spelt|i mis-?spelled|slip of the (?:tongue|pen)|fat[- ]?finger(?:ed|s)?)\b",
    _I,
)
_SLIP_ZH = re.compile("(?:写|说|打|记|搞|弄|拼|输)错(?:字|别字)?了?|更正|纠正|口误|手误|笔误|手滑|不对|错了")
_VALUE = re.compile(
    r"(?:(?:lol|haha|ah|oh|ugh|sorry)[\s,!]*)*(?:.*?\b(?:i meant(?: to (?:say|write|type))?|make (?:that|it)"
    r"|it's(?: actually| really)?|it is(?:"
    r" actually| really)?"
    r"|that's|(?:it|that) should (?:be|say|have been|read)|should be)|(?:correction|typo|oops|wait,? no"
    r"|scratch that)[\s,:.!-]+)"
    r"[\s,:]*(?P<new>(?:[$€£]?\d[\d,]*\d|[\w$€£+@.:/'-]+)(?: [\w$€£+@.:/'-]+){0,4}?)(?:,? (?:and )?not"
    r" (?P<old>[\w$€£+@.:/'"
    r" -]{1,40}))?[.!\s]*",
    _I | re.S,
)
_NOT_FIRST = re.compile(
    r"(?:.*[,.!\s])?not (?P<old>[\w$€£+@.:/'-]+(?: [\w'-]+){0,3}),? (?:but |it's |it is |it was |i meant"
    r" |rather )+"
    r"(?P<new>[\w$€£+@.:/'-]+(?: [\w$€£+@.:/'-]+){0,3}?)[.!\s]*",
    _I | re.S,
)
_NAMELY = re.compile(r"\A(?:his|her|its|their|the|my) (?:\w+ )?(?:name|number|age|date|birthday) is ", _I)
_SURELY = re.compile(r"\b(?:meant|typo|correction|make (?:that|it)|should)\b", _I)
_EMPHATIC = re.compile(
    r"(?:no,? |sorry,? |actually,? )*it(?:'s| is) (?P<new>[\w'-]+(?: [\w'-]+){0,3}?),? not (?P<old>[\w'"
    r" -]{1,40})[.!\s]*",
    _I,
)
_VALUE_ZH = re.compile(
    "(?:.*[，,：:、 ])?(?:[^，,不是]{0,8}了)?(?:应该|其实"
    "|正确的)?是(?P<new>[^，,。！!是的吗呢]{1,14})(?:[，,](?:而)?不是(?P<old>[^，,。！!]{1,14}))?(?:[，,].{1,14})?[。！!才对了\\s]*"
)
_VALUE_ZH_LATE = re.compile(
    "(?:.*[，,：: ])?不是(?P<old>[^，,。！!]{1,14})[，,](?:而)?是(?P<new>[^，,。！!的吗呢]{1,14})[。！!\\s]*"
)
_NOTHING = """fine ok okay good great nothing right wrong me not the that this true false all my your a an it
 what why how"""
_NO_VALUE = frozenset(_NOTHING.split())
_PERSONAL = ("birthday", "is aged", "lives in", "works as", "works at")


@dataclass(frozen=True, slots=True)
class Correction:
    """`new` takes the place of `old`; of a value like it where `old` is empty."""

    new: str
    old: str = ""


def slipped(text: str) -> bool:
    """Whether a text says that something said before was a mistake."""
    return bool(_SLIP.search(text) or _SLIP_ZH.search(text))


def corrected(text: str) -> Correction | None:
    """The bare value that a sentence puts right; None if it is a statement of its own or says nothing."""
    body = text.strip().replace("’", "'")
    if re.search("[\u4e00-\u9fff]", body):
        found = slipped(body) and (_VALUE_ZH_LATE.fullmatch(body) or _VALUE_ZH.fullmatch(body))
    else:
        found = (
            slipped(body) and (_NOT_FIRST.fullmatch(body) or _VALUE.fullmatch(body))
        ) or _EMPHATIC.fullmatch(body)
    if not found:
        return None
    new, old = _NAMELY.sub("", found["new"]).strip(" .'"), (found["old"] or "").strip(" .'")
    first = new.lower().split(" ")[0]
    if first in _NO_VALUE or re.match(r"(?:i|i'm|my|we|he|she|they|you)\b|[我你他她]", new.lower()):
        return None
    plain = new.isascii() and not (new[:1].isupper() or any(character.isdigit() for character in new))
    if plain and not old and not _SURELY.search(body):
        return None  # "I'm sorry, it's late"
    return Correction(new, old)


def keys() -> list[tuple[str, str]]:
    """Every (subject, relation) that an elliptic correction may be about."""
    own = [(USER, name) for name, relation in VOCABULARY.items() if relation.kind == "profile"]
    known = dict.fromkeys((*KIN_EN.values(), *KIN_ZH.values(), *PETS_EN.values(), *PETS_ZH.values()))
    kin = [(USER, f"has {name}") for name in known]
    return [*own, *kin, *((person, name) for person in RELATIVES for name in _PERSONAL)]


_NEAR = "mother father sister brother wife husband girlfriend boyfriend partner son daughter child boss"
_OTHERS = """friend colleague teacher neighbour roommate landlord dentist doctor cousin dog cat rabbit parrot
 hamster ex"""
_NEAR_ZH = "姐姐 妹妹 哥哥 弟弟 奶奶 爷爷 外婆 外公"
RELATIVES = (*(f"{USER}'s {name}" for name in _NEAR.split()), *(f"用户的{word}" for word in _NEAR_ZH.split()))
"""Whom "her" may mean where this turn has named nobody."""
