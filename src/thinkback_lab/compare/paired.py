"""Paired statistics: two systems asked the same questions, so each question is its own control.

0 or 1 on every question   McNemar's test, exact: of the questions on which they differ, how many
                           each won, against a fair coin
anything else              a permutation test of the mean difference: each question's sign turned at random
several comparisons        Holm's correction
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import comb

from thinkback_lab.metrics.bootstrap import interval

PERMUTATIONS = 10_000
_BLOCK = 1 << 22  # signs drawn at once


@dataclass(frozen=True, slots=True, kw_only=True)
class Paired:
    """One system against the baseline, question by question; differences are from the baseline."""

    n: int
    baseline: float
    mean: float
    difference: float
    interval: tuple[float, float]
    wins: int
    ties: int
    losses: int
    test: str
    p: float


def paired(baseline: Sequence[float], ours: Sequence[float], seed: int = 0) -> Paired:
    """Compare two columns of the same questions in the same order."""
    differences = [own - base for base, own in zip(baseline, ours, strict=True)]
    wins, losses = sum(each > 0 for each in differences), sum(each < 0 for each in differences)
    binary = set(baseline) | set(ours) <= {0.0, 1.0}
    return Paired(
        n=len(differences),
        baseline=sum(baseline) / len(baseline),
        mean=sum(ours) / len(ours),
        difference=sum(differences) / len(differences),
        interval=interval(differences, seed),
        wins=wins,
        ties=len(differences) - wins - losses,
        losses=losses,
        test="McNemar, exact" if binary else "permutation",
        p=sign_test(wins, losses) if binary else permutation_test(differences, seed),
    )


def sign_test(wins: int, losses: int) -> float:
    """Two-sided: how likely a fair coin is to be at least so one-sided."""
    thrown = wins + losses
    tail = sum(comb(thrown, count) for count in range(min(wins, losses) + 1))
    return min(1.0, float(Fraction(2 * tail, 2**thrown)))


def permutation_test(differences: Sequence[float], seed: int = 0) -> float:
    """Two-sided: how often turned signs give a mean at least as far from 0, what was seen counted in."""
    import numpy as np

    told = np.asarray([each for each in differences if each], dtype=np.float64)
    if not len(told):
        return 1.0
    seen = abs(told.sum()) * (1 - 1e-12)
    draw = np.random.default_rng(seed)
    block = max(1, _BLOCK // len(told))
    beyond = 0
    for start in range(0, PERMUTATIONS, block):
        size = min(block, PERMUTATIONS - start)
        signs = draw.integers(0, 2, size=(size, len(told)), dtype=np.int8) * 2.0 - 1.0
        beyond += int((abs(signs @ told) >= seen).sum())
    return (beyond + 1) / (PERMUTATIONS + 1)


def holm(ps: Sequence[float]) -> list[float]:
    """Each p so raised that the chance of one false finding among all stays below it (Holm 1979)."""
    raised = [0.0] * len(ps)
    most = 0.0
    for rank, at in enumerate(sorted(range(len(ps)), key=lambda at: ps[at])):
        most = max(most, min(1.0, ps[at] * (len(ps) - rank)))
        raised[at] = most
    return raised
