"""Bootstrap intervals, paired significance tests and agreement between judges."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import comb

PERMUTATIONS = 10_000
_SIGNS_PER_BLOCK = 1 << 22  # signs drawn at once


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedComparison:
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


def compare_paired(baseline: Sequence[float], ours: Sequence[float], seed: int = 0) -> PairedComparison:
    """Compare two columns of the same questions in the same order."""
    differences = [own - base for base, own in zip(baseline, ours, strict=True)]
    wins, losses = sum(each > 0 for each in differences), sum(each < 0 for each in differences)
    binary = set(baseline) | set(ours) <= {0.0, 1.0}
    return PairedComparison(
        n=len(differences),
        baseline=sum(baseline) / len(baseline),
        mean=sum(ours) / len(ours),
        difference=sum(differences) / len(differences),
        interval=bootstrap_interval(differences, seed),
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
    block = max(1, _SIGNS_PER_BLOCK // len(told))
    beyond = 0
    for start in range(0, PERMUTATIONS, block):
        size = min(block, PERMUTATIONS - start)
        signs = draw.integers(0, 2, size=(size, len(told)), dtype=np.int8) * 2.0 - 1.0
        beyond += int((abs(signs @ told) >= seen).sum())
    return (beyond + 1) / (PERMUTATIONS + 1)


def holm_correction(ps: Sequence[float]) -> list[float]:
    """Each p so raised that the chance of one false finding among all stays below it (Holm 1979)."""
    raised = [0.0] * len(ps)
    most = 0.0
    for rank, at in enumerate(sorted(range(len(ps)), key=lambda at: ps[at])):
        most = max(most, min(1.0, ps[at] * (len(ps) - rank)))
        raised[at] = most
    return raised


BOOTSTRAP_RESAMPLES = 1000
CONFIDENCE_LEVEL = 0.95
_DRAWS_PER_BLOCK = 1 << 22  # numbers drawn at once


def bootstrap_interval(values: Sequence[float], seed: int = 0) -> tuple[float, float]:
    """The 95% interval of the mean of `values`."""
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


def exact_agreement(ours: Sequence[Hashable], theirs: Sequence[Hashable]) -> float:
    """The share of things that both gave the same label."""
    return sum(a == b for a, b in zip(ours, theirs, strict=True)) / len(ours)


def cohens_kappa(ours: Sequence[Hashable], theirs: Sequence[Hashable]) -> float | None:
    """1 for full agreement, 0 for as much as chance gives, below it for less; None where undefined."""
    n = len(ours)
    by_us, by_them = Counter(ours), Counter(theirs)
    chance = sum(by_us[label] * by_them[label] for label in by_us) / n**2
    return None if chance == 1 else (exact_agreement(ours, theirs) - chance) / (1 - chance)
