"""Triple F1: the thoughts that should be held against those that are, micro-averaged.

Every object of a thought makes one triple (subject, relation, object); a denied thought's relation begins
with "not ". Two triples match when all three parts are equal after folding width and case, white space,
articles (a, an, the) and surrounding punctuation; "I", "the user", 我 and 用户 are one subject. There is no
partial credit and no table of synonyms: the relation must have the name of the vocabulary.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

from thinkback import Thought
from thinkback_lab.scenarios.format import Triple

Key = tuple[str, str, str]

_EDGES = " .,;:!?\"'“”‘’。，！？；：、「」『』《》()（）"
_ARTICLE = re.compile(r"\b(?:the|an?)\s+(?=\S)")
_SELVES = frozenset(("i", "me", "user", "我", "用户"))


@dataclass(frozen=True, slots=True)
class Matched:
    """The comparison of one scenario, as sets."""

    right: frozenset[Key]
    missing: frozenset[Key]
    extra: frozenset[Key]


@dataclass(frozen=True, slots=True)
class F1:
    precision: float | None
    recall: float | None
    f1: float | None


def match(expected: Iterable[Triple], thoughts: Iterable[Thought]) -> Matched:
    gold = frozenset((_subject(each.s), fold(each.r), fold(each.o)) for each in expected)
    held = frozenset(
        (_subject(each.subject), fold(f"not {each.relation}" if each.negated else each.relation), fold(o))
        for each in thoughts
        if each.searched  # who is who is a decision about names, not a fact that was told
        for o in each.objects
    )
    return Matched(gold & held, gold - held, held - gold)


def score(matches: Iterable[Matched]) -> F1:
    """Over all scenarios together; None where there is nothing to divide by."""
    pairs = list(matches)
    right = sum(len(each.right) for each in pairs)
    missing = sum(len(each.missing) for each in pairs)
    extra = sum(len(each.extra) for each in pairs)
    return F1(
        precision=_ratio(right, right + extra),
        recall=_ratio(right, right + missing),
        f1=_ratio(2 * right, 2 * right + missing + extra),
    )


def fold(words: str) -> str:
    """A part of a triple as it is compared."""
    plain = unicodedata.normalize("NFKC", words).casefold().replace("’", "'")
    return _ARTICLE.sub("", " ".join(plain.split())).strip(_EDGES)


def _subject(words: str) -> str:
    folded = fold(words)
    return "user" if folded in _SELVES else folded


def _ratio(part: int, whole: int) -> float | None:
    return part / whole if whole else None
