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
ValueRole = Literal["", "place", "name"]

MAX_CORRECTION_CHARS = 80
_MAX_CLAUSES = 3
_MAX_UNTYPED_WORDS = 2
_MAX_UNTYPED_CHARACTERS = 4

_NO_ABBREVIATION = (
    r"(?<!\bdr\.)(?<!\bmr\.)(?<!\bms\.)(?<!\bst\.)(?<!\bmrs\.)(?<!\bprof\.)(?<!\b[ap]\.)(?<!\b[ap]\.m\.)"
)
_STRONG_MARK = "[;!，。；！、]"
# It begins with the marks, so that the regex engine looks only at them.
_CLAUSE_END = re.compile(
    rf"[;!，。；！、,.](?:(?<={_STRONG_MARK}){_STRONG_MARK}*\s*"
    r"|(?<=,)(?:(?<!\d,),*\s*|,*(?!\d)\s*)"
    rf"|(?<=\.)(?:(?<!\d\.){_NO_ABBREVIATION}\.*\s*|(?<=\d\.)\.*(?:\s+|\Z)))",
    re.IGNORECASE,
)
_SPACE_ZH = re.compile(r"(?<=[\u4e00-\u9fff])\s+|\s+(?=[\u4e00-\u9fff])")
_EMOJI = re.compile(f"[{EMOJI}\ufe0f\u200d]+")
_QUESTION = re.compile(r"[^,.;!?，。；！？、]+[?？]+")
_HAN_NAME = re.compile(r"(?:(?![我你您他她它们这那的了吗呢吧啊是在不没一去来])[\u4e00-\u9fff]){2,4}")
_PRONOUNS = {"her": "she", "his": "he", "its": "it", "their": "they", "她": "she", "他": "he", "它": "it"}
_MAX_NAME_WORDS = 3
_NAME_WORD = re.compile(r"[^\W\d_][^\W\d_'’.-]*")
_VALUE_WORD = re.compile(r"[\w'&.-]+")
_VALUE_WORD_ZH = re.compile(r"[A-Za-z0-9-]{2,10}")
_NO_VALUE_START = frozenset(
    "我你您他她它这那一"
)  # first characters of clauses, and of amounts such as 一个字
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
        role: What the words before the value say that it is: a place ("in lisbon") or a name ("her name is").
        who: The pronoun in these words, in English: "she", "he", "it" or "they".
    """

    new: str
    old: str = ""
    strength: CorrectionStrength = "bare"
    tells_more: bool = False
    in_fixed_form: bool = False
    needs_known_words: bool = False
    in_passing: bool = False
    role: ValueRole = ""
    who: str = ""


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
    naming: re.Pattern[str]
    place: re.Pattern[str]
    place_before: re.Pattern[str]
    notices: re.Pattern[str]
    other_purpose: re.Pattern[str]
    pause: re.Pattern[str]
    reactions: re.Pattern[str]


def read_corrections(text: str) -> tuple[Correction, ...]:
    """The corrections that a message may be, the most likely reading first; none for other messages.

    Which of them is meant depends on the message before.
    """
    if len(text) > MAX_CORRECTION_CHARS or text.rstrip().endswith(("?", "？", "吗")):
        return ()
    words = _load_words("zh" if has_han(text) else "en")
    if (
        words.pause.match(text)
        or _load_words("en").other_purpose.search(text)
        or _load_words("zh").other_purpose.search(text)
    ):
        return ()
    return tuple(_read_clauses(text, words))


def _read_clauses(text: str, words: _Words) -> Iterator[Correction]:
    clauses: list[str] = []
    values: list[str] = []  # the clauses without the words around a value
    places: set[str] = set()
    old = ""
    for clause in _split_clauses(text):
        value = words.lead.sub("", clause, count=1).strip()
        if negated := words.old.fullmatch(value):
            old = old or negated["old"]
        else:
            clauses.append(clause)
            values.append(words.tail.sub("", value, count=1).strip())
            if words.place_before.search(clause[: clause.rfind(value)]):
                places.add(values[-1])
    told = [value for value in values if value]
    are_typed = [value_type(value) is not None for value in values]
    strength = "certain" if old else _strength(text, clauses, values, are_typed, words)
    tells_more = len(told) > 1
    own = list(dict.fromkeys(_own_values(values, are_typed)))
    yield from _names(clauses, old, strength, words)
    if len(own) > 1:
        return
    if strength == "bare" and not (own and not tells_more) and not words.notices.search(text):
        return
    if own:
        strength = "likely" if strength == "bare" and tells_more else strength
        yield Correction(own[0], old, strength, tells_more)
        return
    ends = list(_clause_ends(clauses, words))
    typed = [end for end in ends if value_type(end)]
    if strength != "bare" and typed:
        yield from (Correction(value, old, strength, tells_more, in_passing=True) for value in typed)
    else:
        is_linked = strength == "certain" or words.linked.match(text) is not None
        for value in dict.fromkeys((*told, *ends)):
            if _may_be_value(value, words) and not words.reactions.fullmatch(value):
                needs_known = not is_linked or value != told[0]
                role: ValueRole = "place" if value in places else ""
                yield Correction(value, old, strength, tells_more, needs_known_words=needs_known, role=role)


def _names(clauses: list[str], old: str, strength: CorrectionStrength, words: _Words) -> Iterator[Correction]:
    """The names that clauses say: "scratch that her name is helen"."""
    for clause in clauses:
        naming = words.naming.search(clause)
        if naming is None or words.lead.sub("", clause[: naming.start()], count=1).strip():
            continue
        value = words.tail.sub("", clause[naming.end() :], count=1).strip()
        if _may_be_name(value, words) and not words.reactions.fullmatch(value):
            who = _PRONOUNS.get(naming["who"].lower(), naming["who"].lower())
            yield Correction(value, old, strength, tells_more=len(clauses) > 1, role="name", who=who)


def _may_be_name(text: str, words: _Words) -> bool:
    if words is _load_words("zh"):
        return _HAN_NAME.fullmatch(text) is not None
    parts = text.split()
    return 0 < len(parts) <= _MAX_NAME_WORDS and all(_NAME_WORD.fullmatch(part) for part in parts)


def split_place(value: str) -> tuple[str, ValueRole]:
    """A value without the word that says that it is a place: 在东莞 gives 东莞."""
    words = _load_words("zh" if has_han(value) else "en")
    bare = words.place.sub("", value, count=1)
    return (bare, "place") if bare and bare != value else (value, "")


def _split_clauses(text: str) -> list[str]:
    rest = text if text.isascii() else _EMOJI.sub(" ", text)
    if "?" in rest or "？" in rest:
        rest = _QUESTION.sub("", rest)
    clauses = _CLAUSE_END.split(rest)
    if has_han(text):
        clauses = [part for clause in clauses for part in _SPACE_ZH.split(clause)]
    return [clause.strip() for clause in clauses if clause.strip(" *")][: _MAX_CLAUSES + 1]


def _own_values(values: list[str], are_typed: list[bool]) -> Iterator[str]:
    """The clauses that are nothing but a value whose form tells its type."""
    for value, is_typed in zip(values, are_typed, strict=True):
        if is_typed:
            yield value
        elif (twice := _TWICE.fullmatch(value)) and value_type(twice[1]):
            yield twice[1]


def _clause_ends(clauses: list[str], words: _Words) -> Iterator[str]:
    """What follows a linking word at the end of a clause: "who am i kidding its more like 3k"."""
    for clause in clauses:
        if after := words.after_link.match(words.tail.sub("", clause, count=1)):
            yield after["value"].strip()


def _strength(
    text: str, clauses: list[str], values: list[str], are_typed: list[bool], words: _Words
) -> CorrectionStrength:
    """How sure it is that something is corrected.

    Apologies count in clauses that contain only them or a value: "sorry to hear that" is none.
    """
    short = [
        clause
        for clause, value, is_typed in zip(clauses, values, are_typed, strict=True)
        if not value or is_typed or _may_be_value(value, words)
    ]
    if "*" in text or any(words.certain.search(clause) for clause in short):
        return "certain"
    return "likely" if any(words.likely.search(clause) for clause in short) else "bare"


def _may_be_value(text: str, words: _Words) -> bool:
    if words is _load_words("zh"):
        if text[:1] in _NO_VALUE_START:
            return False
        return len(text) <= _MAX_UNTYPED_CHARACTERS or bool(_VALUE_WORD_ZH.fullmatch(text))
    parts = text.split()
    return len(parts) <= _MAX_UNTYPED_WORDS and all(map(_VALUE_WORD.fullmatch, parts))


@cache
def gendered_roles(pronoun: str) -> frozenset[str]:
    """The roles of people that a pronoun, "he" or "she", cannot mean."""
    roles = tomllib.loads(files("thinkback.language").joinpath("corrections.toml").read_text("utf-8"))[
        "roles"
    ]
    return frozenset(role for other, names in roles.items() if other != pronoun for role in names)


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
    tail = rf"(?:{gap}{around})*[\s*]*\Z"
    if gap:  # the same, but for the empty end: the regex engine looks only at white space and asterisks
        tail = rf"[\s*](?:(?<=\s)\s*{around}{tail}|[\s*]*\Z)"

    def compile_(pattern: str) -> re.Pattern[str]:
        return re.compile(pattern, re.IGNORECASE)

    return _Words(
        lead=compile_(rf"[\s*]*(?:{around}(?:{space}|\Z))*"),
        tail=compile_(tail),
        after_link=compile_(rf".*{edge}{data['link']}{space}(?P<value>.+)\Z"),
        place=compile_(rf"{data['place']}{gap}"),
        place_before=compile_(rf"(?<![^\W\u3400-\u9fff]){data['place']}{gap}(?:(?:the|an?)\s+)?\Z"),
        certain=compile_(f"{edge}{data['certain']}{edge}"),
        likely=compile_(f"{edge}{data['likely']}{edge}"),
        **{
            name: compile_(data[name])
            for name in ("linked", "naming", "old", "notices", "other_purpose", "pause", "reactions")
        },
    )
