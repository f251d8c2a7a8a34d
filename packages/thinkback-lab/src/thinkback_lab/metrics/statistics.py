"""Bootstrap intervals, paired significance tests and agreement between judges.

Two systems are compared question by question: with McNemar's exact test if all scores are 0 or 1, otherwise
with a permutation test of the mean difference. Several comparisons use Holm's correction.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import comb

PERMUTATIONS = 10_000
_SIGNS_PER_BLOCK = 1 << 22  # limits memory


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedComparison:
    """One system against the baseline; differences are relative to the baseline."""

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


def compare_paired(baseline: Sequence[float], scores: Sequence[float], seed: int = 0) -> PairedComparison:
    """Compare two lists of scores of the same questions in the same order."""
    differences = [own - base for base, own in zip(baseline, scores, strict=True)]
    wins, losses = sum(each > 0 for each in differences), sum(each < 0 for each in differences)
    binary = set(baseline) | set(scores) <= {0.0, 1.0}
    return PairedComparison(
        n=len(differences),
        baseline=sum(baseline) / len(baseline),
        mean=sum(scores) / len(scores),
        difference=sum(differences) / len(differences),
        interval=bootstrap_interval(differences, seed),
        wins=wins,
        ties=len(differences) - wins - losses,
        losses=losses,
        test="McNemar, exact" if binary else "permutation",
        p=sign_test(wins, losses) if binary else permutation_test(differences, seed),
    )


def sign_test(wins: int, losses: int) -> float:
    """Two-sided sign test: probability that a fair coin is at least this one-sided."""
    trials = wins + losses
    tail = sum(comb(trials, count) for count in range(min(wins, losses) + 1))
    return min(1.0, float(Fraction(2 * tail, 2**trials)))


def permutation_test(differences: Sequence[float], seed: int = 0) -> float:
    """Two-sided permutation test: how often random signs give a mean at least as far from 0."""
    import numpy as np

    nonzero = np.asarray([each for each in differences if each], dtype=np.float64)
    if not len(nonzero):
        return 1.0
    observed = abs(nonzero.sum()) * (1 - 1e-12)
    draw = np.random.default_rng(seed)
    block = max(1, _SIGNS_PER_BLOCK // len(nonzero))
    extreme = 0
    for start in range(0, PERMUTATIONS, block):
        size = min(block, PERMUTATIONS - start)
        signs = draw.integers(0, 2, size=(size, len(nonzero)), dtype=np.int8) * 2.0 - 1.0
        extreme += int((abs(signs @ nonzero) >= observed).sum())
    return (extreme + 1) / (PERMUTATIONS + 1)


def holm_correction(ps: Sequence[float]) -> list[float]:
    """Adjust p values for multiple comparisons (Holm 1979)."""
    adjusted = [0.0] * len(ps)
    largest = 0.0
    for rank, index in enumerate(sorted(range(len(ps)), key=lambda index: ps[index])):
        largest = max(largest, min(1.0, ps[index] * (len(ps) - rank)))
        adjusted[index] = largest
    return adjusted


BOOTSTRAP_RESAMPLES = 1000
CONFIDENCE_LEVEL = 0.95
_DRAWS_PER_BLOCK = 1 << 22  # limits memory


def bootstrap_interval(values: Sequence[float], seed: int = 0) -> tuple[float, float]:
    """95% percentile interval of the mean, from resampling with a fixed seed."""
    import numpy as np

    sample = np.asarray(values, dtype=np.float64)
    if len(sample) < 2 or np.ptp(sample) == 0:
        mean = float(sample.mean())
        return mean, mean
    draw = np.random.default_rng(seed)
    block = max(1, _DRAWS_PER_BLOCK // len(sample))
    means = np.concatenate(
        [
            sample[
                draw.integers(len(sample), size=(min(block, BOOTSTRAP_RESAMPLES - start), len(sample)))
            ].mean(axis=1)
            for start in range(0, BOOTSTRAP_RESAMPLES, block)
        ]
    )
    low, high = np.quantile(means, [(1 - CONFIDENCE_LEVEL) / 2, (1 + CONFIDENCE_LEVEL) / 2])
    return float(low), float(high)


def exact_agreement(first: Sequence[Hashable], second: Sequence[Hashable]) -> float:
    """Share of items with the same label."""
    return sum(a == b for a, b in zip(first, second, strict=True)) / len(first)


def cohens_kappa(first: Sequence[Hashable], second: Sequence[Hashable]) -> float | None:
    """Agreement corrected for chance: 1 full, 0 chance level; None if both use one and the same label
    throughout.
    """
    n = len(first)
    first_counts, second_counts = Counter(first), Counter(second)
    chance = sum(first_counts[label] * second_counts[label] for label in first_counts) / n**2
    return None if chance == 1 else (exact_agreement(first, second) - chance) / (1 - chance)
