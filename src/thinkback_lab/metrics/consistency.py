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

from thinkback_lab.metrics.answers import f1, folded, says

Value = TypeVar("Value")
Sources = Sequence[Collection[str]]
FIRST, FIVE = 1, 5


def recalls_alike(ours: Sources, theirs: Sources) -> dict[str, float]:
    """Of two lists of memories, each given by the items it comes from, best first."""
    return {"same_first": _overlap(ours, theirs, FIRST), "same_five": _overlap(ours, theirs, FIVE)}


def answers_alike(ours: str, theirs: str, anchors: Collection[str] = ()) -> dict[str, float]:
    """Of two answers to one question."""
    told = {"same_words": 1.0 if folded(ours) == folded(theirs) else f1(ours, theirs)}
    if anchors:
        told["same_anchors"] = fmean(says(ours, anchor) == says(theirs, anchor) for anchor in anchors)
    return told


def pairwise(
    values: Sequence[Value], alike: Callable[[Value, Value], Mapping[str, float]]
) -> dict[str, float]:
    """Every figure's mean over all pairs of at least two values."""
    told = [alike(one, other) for one, other in combinations(values, 2)]
    return {name: fmean(each[name] for each in told) for name in told[0]}


def _overlap(ours: Sources, theirs: Sources, k: int) -> float:
    one, other = set[str]().union(*ours[:k]), set[str]().union(*theirs[:k])
    return len(one & other) / len(one | other) if one | other else 1.0
