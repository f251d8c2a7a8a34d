"""Short corrections of the message before: "no wait its friday", "25mg, typo", 打错了 是周四.

People seldom repeat the fact. They write the right value, with or without an apology, so a correction is read
as words of apology, linking words and one value. Whether it corrects anything is decided where the message
before is known: that must contain one value of the same type (`value_types`), or one of similar meaning.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from thinkback.language.value_types import find_values, value_type
from thinkback.language.writing_systems import has_han

CorrectionStrength = Literal["certain", "likely", "bare"]

MAX_CORRECTION_CHARS = 80
_MAX_CLAUSES = 3
_MAX_UNTYPED_WORDS = 2
_MAX_UNTYPED_CHARACTERS = 4

# No quantified word may stand inside another quantifier: messages such as 哈哈哈哈哈哈 must not take long.
_CERTAIN_EN = (
    r"(?:typo|correction|scratch that|make that|change (?:that|it) to|my (?:bad|mistake)|brain fart"
    r"|i (?:meant|mean|misspoke|mistyped|misread)|mixed (?:that|it|them) up)"
)
_LIKELY_EN = r"(?:no|nope|nah|wait|sorry|sry|soz|apologies|oops|whoops|actually|nvm|rather)"
_FILLER_EN = (
    r"(?:oh|ah|um|er|erm|hmm|ugh|argh|ok|okay|well|but|so|yeah|damn(?: it)?|shit|fuck|god|lol|haha|omg"
    r"|hang on|hold on|technically|really|i think|it'?s|it is|that'?s|that is|he'?s|she'?s|is|was|at|on|in"
    r"|for|a|an|the|called|named|should be|it should be|more like)"
)
_LEAD_EN = re.compile(rf"(?:(?:{_CERTAIN_EN}|{_LIKELY_EN}|{_FILLER_EN})(?:[\s:]+|\Z))*", re.IGNORECASE)
_TAIL_EN = re.compile(rf"(?:\s+(?:{_CERTAIN_EN}|{_LIKELY_EN}|{_FILLER_EN}))*\Z", re.IGNORECASE)
_OLD_EN = re.compile(r"not (?P<old>[^,.;!?]{1,30})", re.IGNORECASE)
# "no, it's lisbon" and "oops lisbon", but not "no sugar" and "sorry bob"
_LINKED_EN = re.compile(
    r"\W*(?:(?:no|nope|nah|wait|sorry|oops|whoops|actually)\W+)+(?:it'?s|it is|that'?s|(?:it )?should be)\s"
    r"|\W*(?:oops|whoops|no,? wait|wait,? no)\W",
    re.IGNORECASE,
)
# words of an addition ("actually cashews too") or of politeness, with which a message is no correction
_OTHER_PURPOSE = re.compile(
    r"\b(?:and|too|also|either|as well|thanks?|please|pls)\b|也|还有|谢", re.IGNORECASE
)

_CERTAIN_ZH = (
    "(?:我?刚?才?[说写打记看听搞弄算][错混反][了字]?|口误|手[滑误]|更正一?下?|请?改成|我是说|我说的是"
    "|我的意思是|瞎说的|typo)"
)
_LIKELY_ZH = "(?:不对|错了|哦不|啊不|不不|应该是|其实是|原来是|准确说是?|sorry|wait|抱歉|不好意思|才对)"
_FILLER_ZH = "(?:等下|等等|等一下|哦|啊|呃|额|嗯|咳|靠|哎呀|哎|哈|是|在|叫|姓|其实|应该|啦|了|吧|的)"
_LEAD_ZH = re.compile(rf"(?:(?:{_CERTAIN_ZH}|{_LIKELY_ZH}|{_FILLER_ZH})[\s:：]?)*", re.IGNORECASE)
_TAIL_ZH = re.compile(rf"(?:{_CERTAIN_ZH}|{_LIKELY_ZH}|{_FILLER_ZH})*\Z", re.IGNORECASE)
_OLD_ZH = re.compile(r"不是(?P<old>[^，,。\s]{1,10})")

_ABBREVIATION = r"(?<!\bdr)(?<!\bmr)(?<!\bms)(?<!\bst)(?<!\bmrs)(?<!\bprof)(?<!\b[ap])(?<!\b[ap]\.m)"
_CLAUSE_END = re.compile(
    rf"[;!，。；！、]+\s*|(?<!\d),+\s*|,+(?!\d)\s*|(?<!\d){_ABBREVIATION}\.+\s*|(?<=\d)\.+(?:\s+|\Z)",
    re.IGNORECASE,
)
_SPACE_ZH = re.compile(r"(?<=[\u4e00-\u9fff])\s+|\s+(?=[\u4e00-\u9fff])")


class Correction(NamedTuple):
    """The new value, and the old one if it is named.

    It is "certain" that something is corrected if the message says so ("typo", "i meant"), "likely" after
    "no" or "oops", and "bare" if the message is nothing but a value. `tells_more`: other words follow.
    `in_fixed_form`: it is one of the commands ("it's X, not Y"); the two values need not be alike.
    """

    new: str
    old: str = ""
    strength: CorrectionStrength = "bare"
    tells_more: bool = False
    in_fixed_form: bool = False


def read_correction(text: str) -> Correction | None:
    """The correction that a message may be, as far as its words alone can tell; None for other messages."""
    if (
        len(text) > MAX_CORRECTION_CHARS
        or text.rstrip().endswith(("?", "？", "吗"))
        or _OTHER_PURPOSE.search(text)
    ):
        return None
    han = has_han(text)
    lead, tail, negated = (_LEAD_ZH, _TAIL_ZH, _OLD_ZH) if han else (_LEAD_EN, _TAIL_EN, _OLD_EN)
    clauses = _CLAUSE_END.split(text)
    if han:
        clauses = [part for clause in clauses for part in _SPACE_ZH.split(clause)]
    clauses = [clause.strip() for clause in clauses if clause.strip(" *")][: _MAX_CLAUSES + 1]
    stripped = [lead.sub("", clause.strip(" *"), count=1).strip() for clause in clauses]
    olds = [match["old"] for clause in stripped if (match := negated.fullmatch(clause))]
    values = [
        "" if negated.fullmatch(clause) else tail.sub("", clause, count=1).strip() for clause in stripped
    ]
    told = [value for value in values if value]
    typed = [value for value in told if value_type(value)]
    strength = _strength(clauses, values, han) if not olds else "certain"
    if typed:
        only_value = len(told) == 1
        if len(set(typed)) > 1 or (strength == "bare" and not only_value):
            return None
        return Correction(typed[0], olds[0] if olds else "", strength, not only_value)
    if not told or not _may_be_value(told[0], han):
        return None
    linked = strength == "certain" or (strength == "likely" and (han or bool(_LINKED_EN.match(text))))
    return Correction(told[0], olds[0] if olds else "", strength, len(told) > 1) if linked else None


def _strength(clauses: list[str], values: list[str], han: bool) -> CorrectionStrength:
    """How sure it is that something is corrected, by the clauses that contain only an apology or a value."""
    certain, likely = (_CERTAIN_ZH, _LIKELY_ZH) if han else (_CERTAIN_EN, _LIKELY_EN)
    short = [
        clause
        for clause, value in zip(clauses, values, strict=True)
        if not value or value_type(value) or _may_be_value(value, han)
    ]
    if any("*" in clause or _contains(certain, clause, han) for clause in short):
        return "certain"
    return "likely" if any(_contains(likely, clause, han) for clause in short) else "bare"


def _contains(words: str, text: str, han: bool) -> bool:
    return re.search(words if han else rf"\b{words}\b", text, re.IGNORECASE) is not None


def _may_be_value(text: str, han: bool) -> bool:
    if han:
        return len(text) <= _MAX_UNTYPED_CHARACTERS or bool(re.fullmatch(r"[A-Za-z0-9-]{2,10}", text))
    words = text.split()
    return len(words) <= _MAX_UNTYPED_WORDS and all(re.fullmatch(r"[\w'&.-]+", word) for word in words)


def corrects_words(before: str, after: str) -> bool:
    """Whether a message corrects its own words `before` by the next ones: "I am 70. No wait, 71".

    Only if a value of the same type follows: "I take 10 mg. I mean, that's a lot" corrects nothing.
    """
    words = after.lstrip(" \n.,;:!，。；！、…—–-")[:MAX_CORRECTION_CHARS]
    correction = read_correction(words)
    if correction is None or correction.strength == "bare" or value_type(correction.new) is None:
        return False
    return bool(find_values(before, correction.new))
