"""Chinese names and values as they are compared: without width, case, blanks, quotes and punctuation."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter

LONG = 8  # characters: a shorter value must be said as it is, or one must hold the other
SHARED = 0.5
_PLAIN = re.compile(r"[\W_]+")
_NOTE = re.compile(r"[(（][^()（）]*[)）]\s*\Z")


def fold(words: str) -> str:
    return _PLAIN.sub("", unicodedata.normalize("NFKC", words).casefold())


def fold_name(name: str) -> str:
    """Without the note that tells namesakes apart: 恋恋笔记本（美国2004年…爱情片） is 恋恋笔记本."""
    return fold(_NOTE.sub("", name.strip())) or fold(name)


def same_value(gold: str, drawn: str) -> bool:
    """Equal, one inside the other (a list, a sentence), or, of long texts without figures, half the same.

    Dates and numbers share most of their characters with wrong ones, so they get no partial credit.
    """
    theirs, ours = fold(gold), fold(drawn)
    if not theirs or not ours:
        return False
    if theirs == ours or (min(len(theirs), len(ours)) >= 2 and (ours in theirs or theirs in ours)):
        return True
    if min(len(theirs), len(ours)) < LONG or any(character.isdigit() for character in theirs + ours):
        return False
    return character_f1(theirs, ours) >= SHARED


def character_f1(one: str, other: str) -> float:
    shared = sum((Counter(one) & Counter(other)).values())
    return 2 * shared / (len(one) + len(other))
