"""How far two judges agree: how often they say the same, and Cohen's kappa, which takes off what chance does.

Kappa is not defined where both say one and the same thing throughout: there is nothing to tell from chance.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence


def exact(ours: Sequence[Hashable], theirs: Sequence[Hashable]) -> float:
    """The share of things that both gave the same label."""
    return sum(a == b for a, b in zip(ours, theirs, strict=True)) / len(ours)


def kappa(ours: Sequence[Hashable], theirs: Sequence[Hashable]) -> float | None:
    """1 for full agreement, 0 for as much as chance gives, below it for less; None where undefined."""
    n = len(ours)
    by_us, by_them = Counter(ours), Counter(theirs)
    chance = sum(by_us[label] * by_them[label] for label in by_us) / n**2
    return None if chance == 1 else (exact(ours, theirs) - chance) / (1 - chance)
