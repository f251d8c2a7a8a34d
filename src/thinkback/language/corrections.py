"""Short corrections of the message before: "no wait its friday", "25mg, typo", 打错了 是周四.

People seldom repeat the fact. They write the right value, with or without an apology, and often how they
noticed it: "17:24, just checked". The value is a clause of its own, or stands at the end of a clause after
"it's" or 是. Whether it corrects anything is decided where the message before is known: that must contain one
value of the same type (`value_types`), or a similar one.

The words are data, see `corrections.toml`.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Literal, NamedTuple

from thinkback.language.value_types import find_values, value_type
from thinkback.language.writing_systems import EMOJI, has_han

CorrectionStrength = Literal["certain", "likely", "bare"]

MAX_CORRECTION_CHARS = 80
_MAX_CLAUSES = 3
_MAX_UNTYPED_WORDS = 2
_MAX_UNTYPED_CHARACTERS = 4

_ABBREVIATION = r"(?<!\bdr)(?<!\bmr)(?<!\bms)(?<!\bst)(?<!\bmrs)(?<!\bprof)(?<!\b[ap])(?<!\b[ap]\.m)"
_CLAUSE_END = re.compile(
    rf"[;!，。；！、]+\s*|(?<!\d),+\s*|,+(?!\d)\s*|(?<!\d){_ABBREVIATION}\.+\s*|(?<=\d)\.+(?:\s+|\Z)",
    re.IGNORECASE,
)
_SPACE_ZH = re.compile(r"(?<=[\u4e00-\u9fff])\s+|\s+(?=[\u4e00-\u9fff])")
_EMOJI = re.compile(f"[{EMOJI}\ufe0f\u200d]+")
_QUESTION = re.compile(r"[^,.;!?，。；！？、]+[?？]+")
_TWICE = re.compile(r"(.{2,})\1")


class Correction(NamedTuple):
    """The new value, and the old one if it is named.

    It is "certain" that something is corrected if the message says so ("typo", "i meant"), "likely" after
    "no" or "oops" or if it says beside a value how the mistake was noticed, and "bare" if the message is
    nothing but a value.

    Attributes:
        tells_more: Other words follow.
        in_fixed_form: It is one of the commands ("it's X, not Y"); the two values need not be alike.
        needs_known_words: The words alone do not show that it is a value, so both values must be known words
            of one sort, such as two towns.
        in_passing: The value is part of a longer clause; a number must have as many digits as the old one.
    """

    new: str
    old: str = ""
    strength: CorrectionStrength = "bare"
    tells_more: bool = False
    in_fixed_form: bool = False
    needs_known_words: bool = False
    in_passing: bool = False


@dataclass(frozen=True)
class _Words:
    """The patterns of one language."""

    lead: re.Pattern[str]
    tail: re.Pattern[str]
    after_link: re.Pattern[str]
    certain: re.Pattern[str]
    likely: re.Pattern[str]
    linked: re.Pattern[str]
    old: re.Pattern[str]
    notices: re.Pattern[str]
    other_purpose: re.Pattern[str]
    pause: re.Pattern[str]
    reactions: re.Pattern[str]


def read_corrections(text: str) -> tuple[Correction, ...]:
    """The corrections that a message may be, the most likely reading first; none for other messages.

    Which of them is meant depends on the message before.
    """
    words = _load_words("zh" if has_han(text) else "en")
    if (
        len(text) > MAX_CORRECTION_CHARS
        or text.rstrip().endswith(("?", "？", "吗"))
        or words.pause.search(text)
        or any(_load_words(code).other_purpose.search(text) for code in ("en", "zh"))
    ):
        return ()
    return tuple(_read_clauses(text, words))


def _read_clauses(text: str, words: _Words) -> Iterator[Correction]:
    clauses: list[str] = []
    values: list[str] = []  # the clauses without the words around a value
    old = ""
    for clause in _split_clauses(text):
        value = words.lead.sub("", clause, count=1).strip()
        if negated := words.old.fullmatch(value):
            old = old or negated["old"]
        else:
            clauses.append(clause)
            values.append(words.tail.sub("", value, count=1).strip())
    told = [value for value in values if value]
    strength = "certain" if old else _strength(text, clauses, values, words)
    tells_more = len(told) > 1
    notices = words.notices.search(text) is not None
    own = list(dict.fromkeys(_own_values(values)))
    ends = list(_clause_ends(clauses, words))
    typed = [end for end in ends if value_type(end)]
    if own:
        if len(own) == 1 and (strength != "bare" or notices or not tells_more):
            strength = "likely" if strength == "bare" and tells_more else strength
            yield Correction(own[0], old, strength, tells_more)
    elif strength != "bare" and typed:
        yield from (Correction(value, old, strength, tells_more, in_passing=True) for value in typed)
    elif strength != "bare" or notices:
        is_linked = strength == "certain" or words.linked.match(text) is not None
        for value in dict.fromkeys((*told, *ends)):
            if _may_be_value(value, words) and not words.reactions.fullmatch(value):
                needs_known = not is_linked or value != told[0]
                yield Correction(value, old, strength, tells_more, needs_known_words=needs_known)


def _split_clauses(text: str) -> list[str]:
    clauses = _CLAUSE_END.split(_QUESTION.sub("", _EMOJI.sub(" ", text)))
    if has_han(text):
        clauses = [part for clause in clauses for part in _SPACE_ZH.split(clause)]
    return [clause.strip() for clause in clauses if clause.strip(" *")][: _MAX_CLAUSES + 1]


def _own_values(values: list[str]) -> Iterator[str]:
    """The clauses that are nothing but a value whose form tells its type."""
    for value in values:
        if value_type(value):
            yield value
        elif (twice := _TWICE.fullmatch(value)) and value_type(twice[1]):
            yield twice[1]


def _clause_ends(clauses: list[str], words: _Words) -> Iterator[str]:
    """What follows a linking word at the end of a clause: "who am i kidding its more like 3k"."""
    for clause in clauses:
        if after := words.after_link.match(words.tail.sub("", clause, count=1)):
            yield after["value"].strip()


def _strength(text: str, clauses: list[str], values: list[str], words: _Words) -> CorrectionStrength:
    """How sure it is that something is corrected.

    Apologies count in clauses that contain only them or a value: "sorry to hear that" is none.
    """
    short = [
        clause
        for clause, value in zip(clauses, values, strict=True)
        if not value or value_type(value) or _may_be_value(value, words)
    ]
    if "*" in text or any(words.certain.search(clause) for clause in short):
        return "certain"
    return "likely" if any(words.likely.search(clause) for clause in short) else "bare"


def _may_be_value(text: str, words: _Words) -> bool:
    if words is _load_words("zh"):
        return len(text) <= _MAX_UNTYPED_CHARACTERS or bool(re.fullmatch(r"[A-Za-z0-9-]{2,10}", text))
    parts = text.split()
    return len(parts) <= _MAX_UNTYPED_WORDS and all(re.fullmatch(r"[\w'&.-]+", part) for part in parts)


def corrects_words(before: str, after: str) -> bool:
    """Whether a message corrects its own words `before` by the next ones: "I am 70. No wait, 71".

    Only if a value of the same type follows: "I take 10 mg. I mean, that's a lot" corrects nothing.
    """
    words = after.lstrip(" \n.,;:!，。；！、…—–-")[:MAX_CORRECTION_CHARS]
    return any(
        correction.strength != "bare" and find_values(before, correction.new)
        for correction in read_corrections(words)
        if value_type(correction.new)
    )


@cache
def _load_words(code: Literal["en", "zh"]) -> _Words:
    data = tomllib.loads(files("thinkback.language").joinpath("corrections.toml").read_text("utf-8"))[code]
    around = f"(?:{data['certain']}|{data['likely']}|{data['filler']})"
    edge, space, gap = (r"\b", r"[\s:]+", r"\s+") if code == "en" else ("", r"[\s:：]?", "")

    def compile_(pattern: str) -> re.Pattern[str]:
        return re.compile(pattern, re.IGNORECASE)

    return _Words(
        lead=compile_(rf"[\s*]*(?:{around}(?:{space}|\Z))*"),
        tail=compile_(rf"(?:{gap}{around})*[\s*]*\Z"),
        after_link=compile_(rf".*{edge}{data['link']}{space}(?P<value>.+)\Z"),
        certain=compile_(f"{edge}{data['certain']}{edge}"),
        likely=compile_(f"{edge}{data['likely']}{edge}"),
        **{
            name: compile_(data[name])
            for name in ("linked", "old", "notices", "other_purpose", "pause", "reactions")
        },
    )
