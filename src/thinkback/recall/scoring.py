"""How well candidates answer: a preset's parts weighed into one score, the same for thoughts and raw turns.

A plain preset adds its parts as they are. A relative one asks first how far each part stands out of the
space: a cosine of 0.5 says much among English sentences and nothing among Chinese ones (MiniLM knows none),
a third of the question's words is much for a long question and little for a short one. So parts are counted
in standard deviations over the space, which in a small space lean on what is usual. How much each is worth
depends on how the query is put: after a statement, what follows it in memory is wanted, not the statement
again. The weighted sum becomes a score from 0 to 1: the relevance threshold adapts with the space.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from thinkback.index.shelf import Parts, Spread
from thinkback.presets import Manners, Preset, Weights
from thinkback.text.questions.spoken import Manner
from thinkback.text.scripts import has_han

if TYPE_CHECKING:
    import numpy.typing as npt

    Scores = npt.NDArray[np.float64]

# What is usual, and how many rows of a space weigh as much.
_NEAR = 0.35
_LEAST = 1e-3  # a deviation below it is that of a space in which all is alike
_WORDS = Spread(20, 0.03, 0.10)
_MEANING = Spread(20, 0.12, 0.12)
_MEANING_HAN = Spread(20, 0.45, 0.15)
_NOISE = 2.0  # by how much more the middle lies where chance stands out by a deviation more
_FEW = 15  # rows; fewer are no smaller space
_OF_FEW = math.sqrt(2 * math.log(_FEW))
_OUT = 1.5  # deviations by which a meaning stands out by more than chance
_IN_TIME = 0.1  # what the time asked for is worth on the plain scale: not enough to matter by itself
_IN_PASSING = 0.2  # of a row's words, said in any query on the matter; only more than that tells it


class Weighed(NamedTuple):
    """One part of a score: its value for every candidate, and what that counts."""

    name: str
    values: Scores
    weight: float


@dataclass(frozen=True, slots=True)
class Scorer:
    """One question's way of scoring."""

    preset: Preset
    text: str
    manner: Manner = "asks"
    within: tuple[float, float] | None = None
    anything: bool = False  # whether all of that time is wanted, whatever it was
    thoughts: bool = False  # whether thoughts are scored, or raw turns
    about: tuple[int, ...] = ()  # the thoughts told of those whom the question speaks of
    rows: int = 0  # of the space, thoughts and turns

    def __call__(self, parts: Parts) -> Scores:
        preset = self.preset
        if preset.weights is None:
            plain: Scores = preset.cosine * parts.cosine + preset.lexical * parts.lexical
            if self.within is not None:
                plain = self._all_then(plain + _IN_TIME * self._timely(parts), parts)
            return plain
        values = self.values(parts)
        score = self.bent(self._sum(values, preset.weights))
        score[self._by_chance(parts, values)] = 0.0
        # What is near by any measure stays a find among many that are as near: a question asked every day.
        near = 0.5 * parts.cosine + 0.5 * parts.lexical >= _NEAR
        return self._all_then(np.where(near, np.maximum(score, preset.threshold), score), parts)

    def _all_then(self, score: Scores, parts: Parts) -> Scores:
        """The score; where all of a time is wanted, that matters, and of the rest what says its name.

        What has no vector is not meant to be found.
        """
        if not self.anything:
            return score
        then = (self._timely(parts) > 0) & (parts.cosine != 0)
        return np.where(then, np.maximum(score, self.preset.threshold), score * (parts.lexical > 0))

    def bent(self, linear: Scores) -> Scores:
        """The weighted sum as a score from 0 to 1.

        Of n rows that mean nothing the best stands out by some sqrt(2 ln n) deviations: in a large space it
        takes more to matter.
        """
        bent: Scores = 1 / (1 + np.exp((self.middle - linear) / self.preset.steep))
        return bent

    @property
    def middle(self) -> float:
        """The weighted sum that scores 0.5 in this space."""
        return self.preset.middle + _NOISE * (math.sqrt(2 * math.log(max(self.rows, _FEW))) - _OF_FEW)

    def weighed(self, parts: Parts) -> Iterator[Weighed]:
        """Every part that is summed, with its weight, as `why` tells it; of a plain sum those beyond two."""
        if self.preset.weights is not None:
            weights = self._weights(self.preset.weights)
            for name, values in self.values(parts).items():
                yield Weighed(name, values, getattr(weights, name))
        elif self.within is not None:
            yield Weighed("time", self._timely(parts), _IN_TIME)

    def _sum(self, values: Mapping[str, Scores], manners: Manners) -> Scores:
        weights = self._weights(manners)
        total = np.zeros(len(next(iter(values.values()))))
        for name, value in values.items():
            total += getattr(weights, name) * value
        return total

    @staticmethod
    def _by_chance(parts: Parts, values: Mapping[str, Scores]) -> npt.NDArray[np.bool_]:
        """What shares no word with the query, is not near in meaning, and has nothing else to do with it."""
        meaning = values["meaning"] if "meaning" in values else values["meaning_han"]
        chance = (meaning < _OUT) & (parts.before <= 0) & (values["told_before"] <= 0)
        chance = (parts.lexical <= 0) & (chance | (parts.cosine <= 0))
        for name in ("time", "about"):  # who asks for a day alone wants what was said then, whatever it was
            if name in values:
                chance &= values[name] <= 0
        return chance

    def values(self, parts: Parts) -> dict[str, Scores]:
        """The parts by their weights' names, as they are weighed."""
        words = _steadied(parts.lexicals, _WORDS)
        han = has_han(self.text)
        meaning = _steadied(parts.cosines, _MEANING_HAN if han else _MEANING)
        found = {
            "words": (parts.lexical - words.mean) / words.deviation,
            "meaning_han" if han else "meaning": (parts.cosine - meaning.mean) / meaning.deviation,
            "before": parts.before / words.deviation,
            "meaning_before": _for_it((parts.cosine_before - meaning.mean) / meaning.deviation),
            "after": parts.after / words.deviation,
            "meaning_after": _for_it((parts.cosine_after - meaning.mean) / meaning.deviation),
            "told": np.maximum(0.0, parts.told - _IN_PASSING),
            "told_before": np.maximum(0.0, parts.told_before - _IN_PASSING),
            "length": np.log1p(parts.length),
        }
        if self.manner == "asks":
            asked = _steadied(parts.askeds, _WORDS)
            said = parts.lexical if parts.asked is None else parts.asked
            found["asked"] = (said - asked.mean) / asked.deviation
        if self.thoughts:
            found["thought"] = np.ones(len(parts.ids))
        if self.about:
            found["about"] = np.isin(parts.ids, self.about).astype(np.float64)
        if self.within is not None:
            found["time"] = self._timely(parts)
        return found

    def _timely(self, parts: Parts) -> Scores:
        """1 for what began in the time that is asked for, 0 for the rest."""
        start, end = self.within or (math.inf, -math.inf)
        return ((parts.since >= start) & (parts.since < end)).astype(np.float64)

    def lifting(self, signs: Mapping[str, float]) -> Callable[[float], float]:
        """A total -> the same with what is known of a memory once it is read (`recall/signs.py`)."""
        preset = self.preset
        if preset.weights is None or not signs:
            return lambda total: total
        weights = self._weights(preset.weights)
        by = math.fsum(getattr(weights, name) * value for name, value in signs.items())
        odds = math.exp(-by / preset.steep)
        return lambda total: 1 / (1 + (1 - total) / total * odds) if 0 < total < 1 else total

    def lifted(self, total: float, signs: Mapping[str, float]) -> float:
        return self.lifting(signs)(total)

    def _weights(self, manners: Manners) -> Weights:
        return {"asks": manners.asks, "tells": manners.tells, "at length": manners.at_length}[self.manner]


def _for_it(beside: Scores) -> Scores:
    """What stands beside a row speaks for it, or says nothing: another matter is no reason against it."""
    return np.fmax(beside, 0.0)


def _steadied(found: Spread, usual: Spread) -> Spread:
    """The spread of a space, leaning on what is usual while the space is small."""
    n = found.n + usual.n
    mean = (found.n * found.mean + usual.n * usual.mean) / n
    logs = found.n * math.log(max(found.deviation, _LEAST)) + usual.n * math.log(usual.deviation)
    return Spread(n, mean, math.exp(logs / n))
