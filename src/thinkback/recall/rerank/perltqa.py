"""PerLTQA's re-ranking by memory classification (seed 004, 3.4 and A.4).

Eq. 1 classifies the question; that is `Question.kinds`, where nothing said is as likely as anything. Eq. 2
retrieves k memories of each half of memory, semantic and episodic, 2k in all. Eq. 3 ranks them anew:

    s' = 0.5 P(half of the memory | question) + 0.5 sigmoid(s)

The paper's classes are the halves, so P of a half is the sum over its kinds. Eq. 4, the answer, is made in
`recall/compose.py`. The retrieval model is exchangeable in the paper; s is the preset's score, in `perltqa`
that of BM25 as a share of the question's information. The paper's BM25 is not bounded; this one is below 1
and moves s' by an eighth at most: between the halves a sure classification decides, inside one the words do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import exp
from typing import Literal

from thinkback.recall.rerank.candidates import Seen
from thinkback.recall.search import Question
from thinkback.types import Kind

ALPHA = BETA = 0.5

Half = Literal["semantic", "episodic"]
_HALVES: dict[Kind, Half] = {
    "profile": "semantic",
    "relationship": "semantic",
    "knowledge": "semantic",
    "event": "episodic",
    "dialogue": "episodic",
}


def totals(question: Question, rows: Sequence[Seen]) -> list[float]:
    """Of each half the k best by s, scored by the equation; 0 for the others, and for what no word led to."""
    likely = _probabilities(question.kinds)
    scored = [0.0] * len(rows)
    places = sorted(range(len(rows)), key=lambda place: -rows[place].score.total)  # stable
    left: dict[Half, int] = {"semantic": question.k, "episodic": question.k}
    for place in places:
        row = rows[place]
        half = _HALVES[row.kind]
        if left[half] and row.score.total > 0:
            left[half] -= 1
            scored[place] = ALPHA * likely[half] + BETA * _sigmoid(row.score.total)
    return scored


def _probabilities(kinds: Mapping[Kind, float]) -> dict[Half, float]:
    if not kinds:
        return {"semantic": 0.5, "episodic": 0.5}
    summed: dict[Half, float] = {"semantic": 0.0, "episodic": 0.0}
    for kind, probability in kinds.items():
        summed[_HALVES[kind]] += probability
    return summed


def _sigmoid(score: float) -> float:
    return 1 / (1 + exp(-score))
