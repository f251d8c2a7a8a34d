"""Answers against what was expected, without a judge: anchors, and words in common.

    anchor_map     the share of a question's anchors that the answer says: its mean is PerLTQA's MAP (Eq. 5)
    anchor_recall  the same for all that the reader was given to read
    correctness    TiM's labels by anchors: 1 says all of them, 0.5 some, 0 none
    f1             words (in Chinese: characters) shared with the expected answer

An anchor is said where its characters stand in the text, regardless of case, width, apostrophes and spacing.
A word of letters counts only as a whole one, a number too: 8 is neither in 28 nor in 8.5, 十 not in 二十.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence

from thinkback_lab.text import HAN

_WORD = re.compile(rf"[{HAN}]|[^\W_{HAN}]+(?:'[^\W_{HAN}]+)*")
_LETTER = re.compile(rf"[^\W_{HAN}]")
_NUMERAL = re.compile(r"[零〇一二两三四五六七八九十百千万亿]")
_FRACTION = re.compile(r"[.,]\d")
_LOOSE = re.compile(rf"(?<=[{HAN}]) | (?=[{HAN}])")
_FILLERS = frozenset(("a", "an", "the"))


def folded(text: str) -> str:
    """One width, one case, one apostrophe; single spaces, and none beside a Chinese sign."""
    plain = unicodedata.normalize("NFKC", text).casefold().replace("’", "'")
    return _LOOSE.sub("", " ".join(plain.split()))


def says(text: str, anchor: str) -> bool:
    """Whether `text` has the anchor."""
    wanted, inside = folded(anchor), folded(text)
    at = inside.find(wanted) if wanted else -1
    while at >= 0:
        end = at + len(wanted)
        if not _goes_on(inside, at) and not _goes_on(inside, end):
            return True
        at = inside.find(wanted, at + 1)
    return False


def _goes_on(text: str, at: int) -> bool:
    """Whether a word or a number runs across the place before `text[at]`."""
    before, after = text[max(at - 1, 0) : at], text[at : at + 1]
    if any(kind.match(before) and kind.match(after) for kind in (_LETTER, _NUMERAL)):
        return True
    fraction = before.isdigit() and _FRACTION.match(text, at)
    whole = after.isdigit() and at > 1 and text[at - 2].isdigit() and before in ".,"
    return bool(fraction or whole)


def anchored(text: str, anchors: Sequence[str]) -> float:
    """The share of `anchors` that `text` says."""
    return sum(says(text, anchor) for anchor in anchors) / len(anchors)


def correctness(share: float) -> float:
    return 1.0 if share == 1 else 0.5 if share > 0 else 0.0


def f1(answer: str, expected: str) -> float:
    """Words in common, counted as often as they occur in both; articles do not count."""
    ours, theirs = _words(answer), _words(expected)
    common = sum((ours & theirs).values())
    if not common:
        return 0.0
    precision, recall = common / ours.total(), common / theirs.total()
    return 2 * precision * recall / (precision + recall)


def _words(text: str) -> Counter[str]:
    return Counter(word for word in _WORD.findall(folded(text)) if word not in _FILLERS)
