"""Detection of secrets in running text without a model: by format, or by a label with a value near it.

A label ("password", 验证码) alone is no secret: "my password is too weak" contains none. Every value near a
label is scored: by its shape (`_shape_score`), by how the words link it to the label (`_link_score`), minus
one if the label often means something else ("code" does, "passcode" does not). From `_SECRET_THRESHOLD`
points on it is a secret. A span covers the value only, so the sentence stays readable. Search windows are
bounded: time is linear.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from thinkback.language.safety.normalise import MARK_PLACEHOLDER
from thinkback.language.safety.secret_formats import find_unlabelled_secrets, has_other_label
from thinkback.language.safety.secret_kinds import (
    ACCOUNT,
    API_KEY,
    CARD,
    IDENTITY,
    PASSWORD,
    PIN,
    SECRET,
    SSN,
    SecretMatch,
)
from thinkback.language.safety.secret_labels import (
    ADJACENT,
    ENTER_VERB_BEFORE,
    INTRODUCED_BEFORE,
    LABEL,
    LABEL_LINK,
    LABEL_LINK_REVERSED,
    NEXT_SENTENCE_LINK,
    ORDINARY_VALUE,
    ORDINARY_WORDS,
    OTHER_LABEL,
    OTHER_NUMBER_BEFORE,
    PHRASE,
    PLACEHOLDER,
    SENTENCE_BREAK,
    SPELLED_DIGITS,
    UNIT_AFTER,
)
from thinkback.language.writing_systems import has_han

_SECRET_THRESHOLD = 4
_MIN_LABELS = 16  # that are read in any text
_CHARACTERS_PER_LABEL = 100  # further labels that are read in a long text
_UNLABELLED_VALUE = re.compile(
    rf"(?i:{SPELLED_DIGITS})|[\"'`“「‘«„][^\"'`”」’»“\n]{{3,60}}[\"'`”」’»“]|\d[\d ,-]{{1,30}}\d"
    r"|(?<![!-~])[!-~]{0,100}\d[!-~]{0,100}|[a-z]{2,}[A-Z!#$%&*+_~][!-~]{1,60}"
)
_CHARACTERS_BEFORE_LABEL, _CHARACTERS_AFTER_LABEL = 60, 90  # where the value of a label may be
_TRAILING_PUNCTUATION = ".,;:!?)]}>\"'`，。；：！？）"
_OPENING_QUOTES = "\"'`“「‘("
_LEADING_MARKS = f"=:{_OPENING_QUOTES}"
_VALUE_TOKEN = re.compile(rf"{SPELLED_DIGITS}|(?<!\d[ -])\d{{3}}[ -]\d{{3}}(?![ -]?\d)|[!-~]{{3,200}}", re.I)
_NUMBER_TOKEN = re.compile(r"[A-Z]{0,2}\d(?:[ -]?[\dA-Z]){5,33}\b|[!-~]{6,40}")
_SEED_PHRASE = re.compile(r"(?:[a-z]{3,12}[\s,]{1,3}){3,23}[a-z]{3,12}", re.I)
_PINYIN = re.compile(r"(?:(?:[bpmfdtnlgkhjqxrzcsyw]|[zcs]h)?[aeiouv]{1,3}(?:ng?|r)?){4,}")
_QUOTED_VALUE = re.compile(  # not after the apostrophe of "I'm"
    "(?:(?<=[A-Za-z])(?!'(?:m|s|t|d|re|ll|ve)\\b)|(?<![A-Za-z]))[\"'`“「‘]([^\"'`”」’\n]{3,60})[\"'`”」’]"
)
_CARD_CODE = re.compile(r"cv[vc]|安全码|security code", re.I)
_CLAUSE_END = re.compile(
    r"[\"'`”」’]?(?:[.,;!?)\n，。；！？]|\s*\Z|\s{1,3}(?:and|but|btw|so|if|for|in case|please|thanks)\b)",
    re.I,
)


def detect_secrets(text: str) -> Iterator[SecretMatch]:
    """Find all secrets of a normalised text, in no particular order; spans may overlap."""
    for start, end, kind in (*find_unlabelled_secrets(text), *_find_labelled_secrets(text)):
        if MARK_PLACEHOLDER not in text[start:end]:
            yield start, end, kind


def find_values(text: str, start: int, end: int) -> list[SecretMatch]:
    """The values of a passage that contains a secret, or else the whole passage.

    A value that is labelled as a number of another kind ("tracking code ...") is none.

    Nothing of a passage with a mark: its secret is redacted already.
    """
    if MARK_PLACEHOLDER in text[start:end]:
        return []
    tokens = [
        token
        for token in _UNLABELLED_VALUE.finditer(text, start, end)
        if not ORDINARY_VALUE.fullmatch(token[0])
    ]
    if not tokens:
        return [(start, end, SECRET)]
    return [(token.start(), token.end(), SECRET) for token in tokens if not has_other_label(token)]


def _find_labelled_secrets(text: str) -> Iterator[SecretMatch]:
    """Find values near labels; a value gets the kind of the label with the highest score.

    Where labels follow each other densely, the values after them are found by their shape alone.
    """
    best: dict[tuple[int, int], tuple[int, str]] = {}
    labels = max(_MIN_LABELS, len(text) // _CHARACTERS_PER_LABEL)
    for label in LABEL.finditer(text):
        labels -= 1
        if labels < 0:
            for token in _UNLABELLED_VALUE.finditer(text, label.start()):
                if not ORDINARY_VALUE.fullmatch(token[0]):
                    best.setdefault(token.span(), (_SECRET_THRESHOLD, SECRET))
            break
        if not _is_other_label(text, label):
            for start, end, points, kind in _score_values(text, label):
                if points > best.get((start, end), (0, ""))[0]:
                    best[start, end] = points, kind
    return ((start, end, kind) for (start, end), (_, kind) in best.items())


def _is_other_label(text: str, label: re.Match[str]) -> bool:
    """Whether the label is of another kind: "zip code", "piano keys"."""
    return bool(OTHER_LABEL.search(text, max(0, label.start() - 16), label.start()))


def _score_values(text: str, label: re.Match[str]) -> Iterator[tuple[int, int, int, str]]:
    """(start, end, points, kind) of the values near a label that reach the threshold."""
    strength, _, name = (label.lastgroup or "").partition("_")
    kind = PASSWORD if name == PHRASE else name.replace("_", " ")
    weak = strength == "weak" and label[0] != "PIN"
    link = LABEL_LINK.match(text, label.end())
    if link and (multiword := _match_multiword_value(text, link.end(), name)):
        yield (*multiword, _SECRET_THRESHOLD, kind)
        return
    pattern = _NUMBER_TOKEN if kind in (CARD, ACCOUNT, IDENTITY, SSN) else _VALUE_TOKEN
    for first, last in (
        (max(0, label.start() - _CHARACTERS_BEFORE_LABEL), label.start()),
        (label.end(), label.end() + _CHARACTERS_AFTER_LABEL),
    ):
        for token in pattern.finditer(text, first, last):
            value = token[0].lstrip(_LEADING_MARKS)
            start = token.end() - len(value)
            value = value.rstrip(_TRAILING_PUNCTUATION)
            shape = _shape_score(text, start, start + len(value), kind, first) if value else 0
            points = shape + _link_score(text, label, start, start + len(value)) - weak if shape else 0
            if points >= _SECRET_THRESHOLD:
                yield start, start + len(value), points, kind


def _match_multiword_value(text: str, at: int, name: str) -> tuple[int, int] | None:
    """Match a value of several words: quoted, or a seed phrase."""
    quoted = _QUOTED_VALUE.match(text, max(0, at - 1)) or _QUOTED_VALUE.match(text, at)
    if quoted and quoted[1].lower() not in ORDINARY_WORDS and not PLACEHOLDER.fullmatch(quoted[1]):
        return quoted.span(1)
    phrase = _SEED_PHRASE.match(text, at) if name == PHRASE else None
    if phrase and phrase[0].lower().split()[0] not in ORDINARY_WORDS:
        return phrase.span()
    return None


def _shape_score(text: str, start: int, end: int, kind: str, low: int) -> int:
    """Score how much `text[start:end]` looks like a secret.

    0: not a secret; 1: a word or a year; 2: digits, or letters and digits; 3: mixed, or exactly six digits.
    """
    value = text[start:end]
    digits = sum(c.isdigit() for c in value)
    if (
        len(value) < 3
        or (len(set(value)) < 2 and not digits)
        or ORDINARY_VALUE.fullmatch(value)
        or UNIT_AFTER.match(text, end)
        or OTHER_NUMBER_BEFORE.search(text, max(low, start - 24), start)
        or (kind == API_KEY and (len(value) < 8 or not digits))
    ):
        return 0
    if kind in (CARD, ACCOUNT, IDENTITY, SSN):
        return 3 * (digits >= 12) or 2 * (kind != CARD and digits >= 6)
    if value.isascii() and value.isdigit():
        return _digits_shape_score(text, value, start, kind)
    return _word_shape_score(text, value, start, end)


def _digits_shape_score(text: str, value: str, start: int, kind: str) -> int:
    if len(value) == 3:
        return 2 * (_CARD_CODE.search(text, max(0, start - 40), start) is not None)
    if len(value) == 6:
        return 3
    year = kind != PIN and re.fullmatch(r"(?:19|20)\d\d", value)
    return 0 if len(value) > 10 else 1 if year else 2


def _word_shape_score(text: str, value: str, start: int, end: int) -> int:
    if re.fullmatch(SPELLED_DIGITS, value, re.I):
        return 2
    kinds = ["d" if c.isdigit() else "a" if c.isalnum() else "s" for c in value]
    changes = sum(first != second for first, second in pairwise(kinds))
    if "d" in kinds:
        return 3 if changes > 1 and {"a", "d"} <= set(kinds) else 2 if len(value) > 3 else 0
    if (value[1:] != value[1:].lower() and value != value.upper()) or re.search(r"[^\w'./&,-]|-\w+-", value):
        return 2 if len(value) > 4 else 0
    word = value.lower()
    if (
        len(value) < 4
        or word in ORDINARY_WORDS
        or re.search(r"(?:ed|ing|ly|n't|'s|able|ible|\W)\Z|[/.,]", word)
    ):
        return 0
    return int(text[start - 1 : start] in _OPENING_QUOTES or bool(_CLAUSE_END.match(text, end)))


def _link_score(text: str, label: re.Match[str], start: int, end: int) -> int:
    """Score how closely a value is linked to a label.

    0: in another sentence; 1: near; 2: adjacent or introduced ("it's ..."); 3: stated ("is ...") or entered.
    """
    after = start >= label.end()
    gap = text[label.end() : start] if after else text[end : label.start()]
    entered = bool(ENTER_VERB_BEFORE.search(text, max(0, start - 16), start))
    introduced = bool(INTRODUCED_BEFORE.search(text, max(0, start - 12), start))
    if (after and LABEL_LINK.fullmatch(gap)) or (not after and LABEL_LINK_REVERSED.fullmatch(gap)):
        return 3
    if after and not gap and has_han(label[0]) and _PINYIN.fullmatch(text[start:end].lower()):
        return 3  # 密码xihongshi
    if SENTENCE_BREAK.search(gap):
        return 2 * (after and NEXT_SENTENCE_LINK.fullmatch(gap) is not None)
    if entered:
        return 3
    return 2 if introduced or (after and ADJACENT.fullmatch(gap)) else 1
