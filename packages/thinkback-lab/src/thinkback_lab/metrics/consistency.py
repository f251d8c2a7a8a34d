"""Similarity of repeated recalls: the mean over all pairs, from 0 to 1.

  same_first    Jaccard overlap of the sources of the first memory
  same_five     the same for the first five memories
  same_anchors  share of the anchors that both answers contain or both omit
  same_words    lexical F1 of one answer against the other

The similarity of two recalls is the mean of the first two, that of two answers the mean of the last two
(words only if there are no anchors). Two empty recalls are equal; whether they are correct is scored
elsewhere.
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


def recall_overlap(first: SourceLists, second: SourceLists) -> dict[str, float]:
    """Overlap of two lists of memories, each given by its sources, best first."""
    return {"same_first": _overlap(first, second, FIRST_K), "same_five": _overlap(first, second, FIVE_K)}


def answer_similarity(first: str, second: str, anchors: Collection[str] = ()) -> dict[str, float]:
    """Similarity of two answers to one question."""
    scores = {
        "same_words": 1.0 if normalise_text(first) == normalise_text(second) else word_f1(first, second)
    }
    if anchors:
        scores["same_anchors"] = fmean(
            contains_anchor(first, anchor) == contains_anchor(second, anchor) for anchor in anchors
        )
    return scores


def mean_over_pairs(
    values: Sequence[ValueT], similarity: Callable[[ValueT, ValueT], Mapping[str, float]]
) -> dict[str, float]:
    """Mean of every score over all pairs of at least two values."""
    scores = [similarity(one, other) for one, other in combinations(values, 2)]
    return {name: fmean(each[name] for each in scores) for name in scores[0]}


def _overlap(first: SourceLists, second: SourceLists, k: int) -> float:
    first_ids, second_ids = set[str]().union(*first[:k]), set[str]().union(*second[:k])
    return len(first_ids & second_ids) / len(first_ids | second_ids) if first_ids | second_ids else 1.0
