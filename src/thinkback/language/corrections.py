"""Short corrections of the message before: "no wait its friday", "25mg, typo", 打错了 是周四.

People seldom repeat the fact. They write the right value, with or without an apology, so a correction is read
as words of apology, linking words and one value. Whether it corrects anything is decided where the message
before is known: that must contain one value of the same type (`value_types`), or one of similar meaning.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from thinkback.language.value_types import value_type
from thinkback.language.writing_systems import has_han

MAX_CORRECTION_CHARS = 80
_MAX_CLAUSES = 3
_MAX_UNTYPED_WORDS = 2
_MAX_UNTYPED_CHARACTERS = 4

_APOLOGY = (
    r"(?:no+|nope|nah|not quite|sorry|sry|soz|apologies|oops|whoops|actually|correction|typo|nvm|wrong|rather"
    r"|never ?mind|my (?:bad|mistake)|make (?:that|it)|scratch that|i (?:meant|mean)|brain fart"
    r"|mixed (?:that|it|them) up|i (?:misspoke|mistyped|misread)|change (?:that|it) to)"
)
_FILLER = (
    r"(?:oh|ah|er+m?|um+|hmm+|ugh|argh|ok|okay|well|and|but|so|yeah|damn(?: it)?|shit|fuck|god|lol|haha+|omg"
    r"|wait|hang on|hold on|please|pls|even|technically|really|i think|it'?s|it is|that'?s|that is|he'?s"
    r"|she'?s|is|was|at|on|in|for|to|a|an|the|called|named|should be|it should be|more like|coming|comes)"
)
_LEAD_EN = re.compile(rf"(?:(?:{_APOLOGY}|{_FILLER})(?:[\s:]+|\Z))*", re.IGNORECASE)
_TAIL_EN = re.compile(rf"(?:\s+(?:{_APOLOGY}|{_FILLER}))*[\s*]*\Z", re.IGNORECASE)
_EXPLICIT_EN = re.compile(rf"(?:\A|[\s,.;!*])(?:{_APOLOGY})(?:[\s,.;:!]|\Z)|\*", re.IGNORECASE)
_OLD_EN = re.compile(r"\Anot (?P<old>[^,.;!?]{1,30})\Z", re.IGNORECASE)

_APOLOGY_ZH = (
    "(?:(?:我)?(?:刚才?)?[说写打记看听搞弄算][错混快反](?:了|字)?|不对|错了|口误|手[滑误]|更正(?:一下)?|[哦啊]不|不不"
    "|应该是|其实是|原来是|准确说(?:是)?|(?:请)?改成|我(?:是说|说的是|的意思是)|瞎说的|typo|sorry|抱歉|不好意思)"
)
_FILLER_ZH = (
    "(?:等[下等一]下?|wait|哦|啊|呃|额|嗯|咳+|靠|哎呀?|哈+|是|在|跟|叫|姓|其实|应该|才对|才是|啦|了|吧|的)"
)
_LEAD_ZH = re.compile(rf"(?:(?:{_APOLOGY_ZH}|{_FILLER_ZH})[\s:：]*)*", re.IGNORECASE)
_TAIL_ZH = re.compile(rf"(?:\s*(?:{_APOLOGY_ZH}|{_FILLER_ZH}))*\Z", re.IGNORECASE)
_EXPLICIT_ZH = re.compile(rf"{_APOLOGY_ZH}|才对|\*", re.IGNORECASE)
_OLD_ZH = re.compile(r"\A不是(?P<old>[^，,。\s]{1,10})\Z")

_PATTERNS_EN = _LEAD_EN, _TAIL_EN, _OLD_EN, _EXPLICIT_EN
_PATTERNS_ZH = _LEAD_ZH, _TAIL_ZH, _OLD_ZH, _EXPLICIT_ZH

_OWN_WORDS = re.compile(r"\bdid i say [^?]+\?\s*", re.IGNORECASE)
_REPEATED = re.compile(r"\A(.{2,}?)(?:\s*\1)+\Z")
_CLAUSE_END = re.compile(r"[;!，。；！、]+\s*|,+(?!\d{3})\s*|(?<!\d)\.+\s*|\.+\s+|\.+\Z|\s+-+\s+")
_SPACE_ZH = re.compile(r"(?<=[\u4e00-\u9fff])\s+|\s+(?=[\u4e00-\u9fff])")


class Correction(NamedTuple):
    """The new value, the old one if it is named, and whether the message says that something was wrong."""

    new: str
    old: str
    is_explicit: bool


def read_correction(text: str) -> Correction | None:
    """The correction that a message may be, as far as its words alone can tell; None for other messages."""
    if len(text) > MAX_CORRECTION_CHARS or text.rstrip().endswith(("?", "？", "吗")):
        return None
    han = has_han(text)
    lead, tail, negated, explicit = _PATTERNS_ZH if han else _PATTERNS_EN
    clauses = _CLAUSE_END.split(_OWN_WORDS.sub("sorry ", text))
    if han:
        clauses = [part for clause in clauses for part in _SPACE_ZH.split(clause)]
    clauses = [clause.strip(" “”\"'") for clause in clauses if clause.strip(" *")]
    stripped = [lead.sub("", clause.strip("* "), count=1) for clause in clauses]
    values = [_REPEATED.sub(r"\1", tail.sub("", clause, count=1).strip()) for clause in stripped]
    old = next((match["old"] for clause in stripped if (match := negated.match(clause))), "")
    is_explicit = bool(old) or any(
        explicit.search(clause) and (value_type(value) or _is_remark(value, han))
        for clause, value in zip(clauses, values, strict=True)
    )
    told = [
        value for value, clause in zip(values, stripped, strict=True) if value and not negated.match(clause)
    ]
    typed = [value for value in told[:_MAX_CLAUSES] if value_type(value)]
    if typed and (is_explicit or typed[0] == told[0] or all(_is_remark(value, han) for value in told)):
        return Correction(typed[0], old, is_explicit)
    if told and is_explicit and _may_be_value(told[0], han):
        return Correction(told[0], old, is_explicit)
    return None


def _is_remark(text: str, han: bool) -> bool:
    """Whether words beside a value are too few to tell something else."""
    return len(text) <= _MAX_UNTYPED_CHARACTERS if han else len(text.split()) <= _MAX_UNTYPED_WORDS


def _may_be_value(text: str, han: bool) -> bool:
    if han:
        return len(text) <= _MAX_UNTYPED_CHARACTERS or bool(re.fullmatch(r"[A-Za-z0-9-]{2,10}", text))
    words = text.split()
    return len(words) <= _MAX_UNTYPED_WORDS and all(re.fullmatch(r"[\w'&.-]+", word) for word in words)
