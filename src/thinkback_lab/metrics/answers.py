"""Answers against what was expected, without a judge: anchors, and words in common.

    anchor_map     the share of a question's anchors that the answer says: its mean is PerLTQA's MAP (Eq. 5)
    anchor_recall  the same for all that the reader was given to read
    correctness    TiM's labels by anchors: 1 says all of them, 0.5 some, 0 none
    f1             words (in Chinese: characters) shared with the expected answer

An anchor is said where its characters stand in the text, regardless of case, width and spacing.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence

_WORD = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]|[^\W_]+(?:['’][^\W_]+)*")
_FILLERS = frozenset(("a", "an", "the"))
_LATIN_EDGE = re.compile(r"[a-z0-9]")


def folded(text: str) -> str:
    """One width, one case, single spaces."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def says(text: str, anchor: str) -> bool:
    """Whether `text` has the anchor; a Latin word or a number only as a whole one: 8 is not in 28."""
    wanted, inside = folded(anchor), folded(text)
    at = inside.find(wanted) if wanted else -1
    while at >= 0:
        before, after = inside[at - 1 : at], inside[at + len(wanted) : at + len(wanted) + 1]
        begins = not (_LATIN_EDGE.match(before) and _LATIN_EDGE.match(wanted[0]))
        ends = not (_LATIN_EDGE.match(after) and _LATIN_EDGE.match(wanted[-1]))
        if begins and ends:
            return True
        at = inside.find(wanted, at + 1)
    return False


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
