"""How alike several recalls of the same thing are: the mean over every two of them, from 0 to 1.

    same_first    Jaccard overlap of the items that the first memory comes from
    same_five     the same for the first five memories
    same_anchors  the share of the anchors that both answers say, or both leave out
    same_words    lexical F1 of one answer against the other

Recalls are as alike as the mean of the first two, answers as the mean of the last two (of words alone, where
nobody noted anchors). Two recalls of nothing are alike: whether anything right came back is told beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import combinations
from statistics import fmean
from typing import TypeVar

from thinkback_lab.metrics.answers import contains_anchor, normalise_text, word_f1

ValueT = TypeVar("ValueT")
SourceLists = Sequence[Collection[str]]
FIRST_K, FIVE_K = 1, 5


def recall_overlap(ours: SourceLists, theirs: SourceLists) -> dict[str, float]:
    """Of two lists of memories, each given by the items it comes from, best first."""
    return {"same_first": _overlap(ours, theirs, FIRST_K), "same_five": _overlap(ours, theirs, FIVE_K)}


def answer_similarity(ours: str, theirs: str, anchors: Collection[str] = ()) -> dict[str, float]:
    """Of two answers to one question."""
    told = {"same_words": 1.0 if normalise_text(ours) == normalise_text(theirs) else word_f1(ours, theirs)}
    if anchors:
        told["same_anchors"] = fmean(
            contains_anchor(ours, anchor) == contains_anchor(theirs, anchor) for anchor in anchors
        )
    return told


def mean_over_pairs(
    values: Sequence[ValueT], alike: Callable[[ValueT, ValueT], Mapping[str, float]]
) -> dict[str, float]:
    """Every figure's mean over all pairs of at least two values."""
    told = [alike(one, other) for one, other in combinations(values, 2)]
    return {name: fmean(each[name] for each in told) for name in told[0]}


def _overlap(ours: SourceLists, theirs: SourceLists, k: int) -> float:
    one, other = set[str]().union(*ours[:k]), set[str]().union(*theirs[:k])
    return len(one & other) / len(one | other) if one | other else 1.0
