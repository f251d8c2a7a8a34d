"""How well candidates answer: a preset's parts weighed into one score, the same for thoughts and raw turns.

A plain preset adds its parts as they are. A relative one asks first how far each part stands out of the
space: a cosine of 0.5 says much among English sentences and nothing among Chinese ones (MiniLM knows none),
a third of the question's words is much for a long question and little for a short one. So parts are counted
in standard deviations over the space, which in a small space lean on what is usual, and the weighted sum
becomes a score from 0 to 1: the relevance threshold adapts with the space.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from thinkback.index.shelf import Parts, Spread
from thinkback.presets import Preset
from thinkback.text.scripts import has_han

if TYPE_CHECKING:
    import numpy.typing as npt

    from thinkback.types import Vector

    Scores = npt.NDArray[np.float64]

# What is usual, and how many rows of a space weigh as much.
_NEAR = 0.35
_LEAST = 1e-3  # a deviation below it is that of a space in which all is alike
_WORDS = Spread(20, 0.03, 0.10)
_MEANING = Spread(20, 0.12, 0.12)
_MEANING_HAN = Spread(20, 0.45, 0.15)


class Weighed(NamedTuple):
    """One part of a score: its value for every candidate, or one for all; and what that counts."""

    name: str
    values: Scores | Vector | npt.NDArray[np.bool_] | float
    weight: float


@dataclass(frozen=True, slots=True)
class Scorer:
    """One question's way of scoring."""

    preset: Preset
    text: str
    states: bool = False  # the question tells something, and does not only ask
    within: tuple[float, float] | None = None
    thoughts: bool = False  # whether thoughts are scored, or raw turns
    about: tuple[int, ...] = ()  # the thoughts told of those whom the question speaks of

    def __call__(self, parts: Parts) -> Scores:
        preset = self.preset
        if not preset.relative:
            plain: Scores = preset.cosine * parts.cosine + preset.lexical * parts.lexical
            return plain
        score = self.bent(self.linear(parts))
        score[(parts.cosine <= 0) & (parts.lexical <= 0)] = 0.0  # what has no words to search by is no find
        # What is near by any measure stays a find among many that are as near: a question asked every day.
        near = 0.5 * parts.cosine + 0.5 * parts.lexical >= _NEAR
        return np.where(near, np.maximum(score, preset.threshold), score)

    def bent(self, linear: Scores) -> Scores:
        """The weighted sum as a score from 0 to 1."""
        bent: Scores = 1 / (1 + np.exp((self.preset.middle - linear) / self.preset.steep))
        return bent

    def linear(self, parts: Parts) -> Scores:
        """The weighted sum of all parts."""
        weighed = self.weighed(parts)
        words = next(weighed)
        total: Scores = np.asarray(words.weight * words.values, dtype=np.float64)
        for _, values, weight in weighed:
            total += weight * values
        return total

    def weighed(self, parts: Parts) -> Iterator[Weighed]:
        """Every part that this question is scored by, and its weight: what `linear` sums and `why` tells.

        Words come first; they and the meaning are in standard deviations.
        """
        preset = self.preset
        words = _steadied(parts.lexicals, _WORDS)
        han = has_han(self.text)
        meaning = _steadied(parts.cosines, _MEANING_HAN if han else _MEANING)
        weight = preset.cosine_han if han else preset.cosine
        yield Weighed("words", (parts.lexical - words.mean) / words.deviation, preset.lexical)
        yield Weighed("meaning", (parts.cosine - meaning.mean) / meaning.deviation, weight)
        yield Weighed("words_before", parts.before / words.deviation, preset.before)
        near_before = (parts.cosine_before - meaning.mean) / meaning.deviation
        yield Weighed("meaning_before", near_before, preset.cosine_before)
        if self.states:
            yield Weighed("told", parts.told, -preset.told)
        if self.thoughts:
            yield Weighed("thought", 1.0, preset.thought)
        if self.about:
            yield Weighed("about", np.isin(parts.ids, self.about), preset.about)
        if self.within is not None:
            start, end = self.within
            yield Weighed("time", (parts.since >= start) & (parts.since < end), preset.time)


def _steadied(found: Spread, usual: Spread) -> Spread:
    """The spread of a space, leaning on what is usual while the space is small."""
    n = found.n + usual.n
    mean = (found.n * found.mean + usual.n * usual.mean) / n
    logs = found.n * math.log(max(found.deviation, _LEAST)) + usual.n * math.log(usual.deviation)
    return Spread(n, mean, math.exp(logs / n))
