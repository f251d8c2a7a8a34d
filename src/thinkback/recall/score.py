"""Relevance scores of candidates: weighted features of a preset, and the explanation of each score."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from thinkback.index.space_index import CandidateColumns, Hits, ScoreDistribution
from thinkback.language.questions import QueryManner
from thinkback.language.scripts import has_han
from thinkback.presets import Preset, QueryTypeWeights, ScoreWeights
from thinkback.types import Score, ScoreBreakdown, ScoreComponent

if TYPE_CHECKING:
    import numpy.typing as npt

    Scores = npt.NDArray[np.float64]

# What is usual, and how many rows of a space weigh as much.
_MIN_PLAIN_SCORE = 0.35
_MIN_DEVIATION = 1e-3  # a deviation below it is that of a space in which all is alike
_TYPICAL_WORDS = ScoreDistribution(20, 0.03, 0.10)
_TYPICAL_MEANING = ScoreDistribution(20, 0.12, 0.12)
_TYPICAL_MEANING_HAN = ScoreDistribution(20, 0.45, 0.15)
_NOISE_WEIGHT = 2.0  # by how much more the middle lies where chance stands out by a deviation more
_MIN_NOISE_ROWS = 15  # rows; fewer are no smaller space
_MIN_NOISE_DEVIATIONS = math.sqrt(2 * math.log(_MIN_NOISE_ROWS))
_MIN_MEANING_DEVIATIONS = 1.5  # deviations by which a meaning stands out by more than chance
_PERIOD_BONUS = 0.1  # what the time asked for is worth on the plain scale: not enough to matter by itself
_IGNORED_COVERAGE = 0.2  # of a row's words, said in any query on the matter; only more than that tells it


class WeightedColumn(NamedTuple):
    """One part of a score: its value for every candidate, and what that counts."""

    name: str
    values: Scores
    weight: float


@dataclass(frozen=True, slots=True)
class Scorer:
    """One question's way of scoring."""

    preset: Preset
    text: str
    manner: QueryManner = "asks"
    period: tuple[float, float] | None = None
    whole_period: bool = False  # whether all of that time is wanted, whatever it was
    for_thoughts: bool = False  # whether thoughts are scored, or raw turns
    about_ids: tuple[int, ...] = ()  # the thoughts told of those whom the question speaks of
    space_rows: int = 0  # of the space, thoughts and turns

    def __call__(self, columns: CandidateColumns) -> Scores:
        preset = self.preset
        if preset.weights is None:
            plain: Scores = preset.cosine * columns.cosine + preset.lexical * columns.lexical
            if self.period is not None:
                plain = self._include_whole_period(plain + _PERIOD_BONUS * self._in_period(columns), columns)
            return plain
        values = self.column_values(columns)
        score = self.logistic(self._weighted_sum(values, preset.weights))
        score[self._is_noise(columns, values)] = 0.0
        # What is near by any measure stays a find among many that are as near: a question asked every day.
        near = 0.5 * columns.cosine + 0.5 * columns.lexical >= _MIN_PLAIN_SCORE
        return self._include_whole_period(np.where(near, np.maximum(score, preset.threshold), score), columns)

    def _include_whole_period(self, score: Scores, columns: CandidateColumns) -> Scores:
        """The score; where all of a time is wanted, that matters, and of the rest what says its name.

        What has no vector is not meant to be found.
        """
        if not self.whole_period:
            return score
        then = (self._in_period(columns) > 0) & (columns.cosine != 0)
        return np.where(then, np.maximum(score, self.preset.threshold), score * (columns.lexical > 0))

    def logistic(self, linear: Scores) -> Scores:
        """The weighted sum as a score from 0 to 1.

        Of n rows that mean nothing the best stands out by some sqrt(2 ln n) deviations: in a large space it
        takes more to matter.
        """
        bent: Scores = 1 / (1 + np.exp((self.midpoint - linear) / self.preset.logistic_scale))
        return bent

    @property
    def midpoint(self) -> float:
        """The weighted sum that scores 0.5 in this space."""
        return self.preset.midpoint + _NOISE_WEIGHT * (
            math.sqrt(2 * math.log(max(self.space_rows, _MIN_NOISE_ROWS))) - _MIN_NOISE_DEVIATIONS
        )

    def weighted_columns(self, columns: CandidateColumns) -> Iterator[WeightedColumn]:
        """Every part that is summed, with its weight, as `why` tells it; of a plain sum those beyond two."""
        if self.preset.weights is not None:
            weights = self._weights(self.preset.weights)
            for name, values in self.column_values(columns).items():
                yield WeightedColumn(name, values, getattr(weights, name))
        elif self.period is not None:
            yield WeightedColumn("time", self._in_period(columns), _PERIOD_BONUS)

    def _weighted_sum(self, values: Mapping[str, Scores], manners: QueryTypeWeights) -> Scores:
        weights = self._weights(manners)
        total = np.zeros(len(next(iter(values.values()))))
        for name, value in values.items():
            total += getattr(weights, name) * value
        return total

    @staticmethod
    def _is_noise(columns: CandidateColumns, values: Mapping[str, Scores]) -> npt.NDArray[np.bool_]:
        """What shares no word with the query, is not near in meaning, and has nothing else to do with it."""
        meaning = values["meaning"] if "meaning" in values else values["meaning_han"]
        chance = (
            (meaning < _MIN_MEANING_DEVIATIONS) & (columns.lexical_before <= 0) & (values["told_before"] <= 0)
        )
        chance = (columns.lexical <= 0) & (chance | (columns.cosine <= 0))
        for name in ("time", "about"):  # who asks for a day alone wants what was said then, whatever it was
            if name in values:
                chance &= values[name] <= 0
        return chance

    def column_values(self, columns: CandidateColumns) -> dict[str, Scores]:
        """The parts by their weights' names, as they are weighed."""
        words = _shrink_to_typical(columns.lexical_distribution, _TYPICAL_WORDS)
        han = has_han(self.text)
        meaning = _shrink_to_typical(
            columns.cosine_distribution, _TYPICAL_MEANING_HAN if han else _TYPICAL_MEANING
        )
        found = {
            "words": (columns.lexical - words.mean) / words.deviation,
            "meaning_han" if han else "meaning": (columns.cosine - meaning.mean) / meaning.deviation,
            "before": columns.lexical_before / words.deviation,
            "meaning_before": _positive_only((columns.cosine_before - meaning.mean) / meaning.deviation),
            "after": columns.lexical_after / words.deviation,
            "meaning_after": _positive_only((columns.cosine_after - meaning.mean) / meaning.deviation),
            "told": np.maximum(0.0, columns.query_coverage - _IGNORED_COVERAGE),
            "told_before": np.maximum(0.0, columns.query_coverage_before - _IGNORED_COVERAGE),
            "length": np.log1p(columns.length),
        }
        if self.manner == "asks":
            asked = _shrink_to_typical(columns.question_distribution, _TYPICAL_WORDS)
            said = columns.lexical if columns.question_lexical is None else columns.question_lexical
            found["asked"] = (said - asked.mean) / asked.deviation
        if self.for_thoughts:
            found["thought"] = np.ones(len(columns.ids))
        if self.about_ids:
            found["about"] = np.isin(columns.ids, self.about_ids).astype(np.float64)
        if self.period is not None:
            found["time"] = self._in_period(columns)
        return found

    def _in_period(self, columns: CandidateColumns) -> Scores:
        """1 for what began in the time that is asked for, 0 for the rest."""
        start, end = self.period or (math.inf, -math.inf)
        return ((columns.start_time >= start) & (columns.start_time < end)).astype(np.float64)

    def feature_adjuster(self, features: Mapping[str, float]) -> Callable[[float], float]:
        """A total -> the same with what is known of a memory once it is read (`recall/signs.py`)."""
        preset = self.preset
        if preset.weights is None or not features:
            return lambda total: total
        weights = self._weights(preset.weights)
        by = math.fsum(getattr(weights, name) * value for name, value in features.items())
        odds = math.exp(-by / preset.logistic_scale)
        return lambda total: 1 / (1 + (1 - total) / total * odds) if 0 < total < 1 else total

    def adjust_for_features(self, total: float, features: Mapping[str, float]) -> float:
        return self.feature_adjuster(features)(total)

    def _weights(self, manners: QueryTypeWeights) -> ScoreWeights:
        return {"asks": manners.asks, "tells": manners.tells, "at length": manners.at_length}[self.manner]


def _positive_only(beside: Scores) -> Scores:
    """What stands beside a row speaks for it, or says nothing: another matter is no reason against it."""
    return np.fmax(beside, 0.0)


def _shrink_to_typical(found: ScoreDistribution, usual: ScoreDistribution) -> ScoreDistribution:
    """The spread of a space, leaning on what is usual while the space is small."""
    n = found.size + usual.size
    mean = (found.size * found.mean + usual.size * usual.mean) / n
    logs = found.size * math.log(max(found.deviation, _MIN_DEVIATION)) + usual.size * math.log(
        usual.deviation
    )
    return ScoreDistribution(n, mean, math.exp(logs / n))


_WHOLE_PERIOD_REASON = "all of that time is asked for"
_ROUNDING_TOLERANCE = 1e-6  # a difference below it is one of rounding


def score_explainer(hits: Hits, scorer: Scorer) -> Callable[[int, Score], Score]:
    """A function that explains the score of one of these hits, by its id."""
    if scorer.preset.weights is None or hits.columns is None:
        return _plain_explainer(hits.columns, scorer)
    return _relative_explainer(hits.columns, scorer)


def _plain_explainer(parts: CandidateColumns | None, scorer: Scorer) -> Callable[[int, Score], Score]:
    """Parts as they are, added; and what the time asked for adds."""
    preset = scorer.preset
    columns = [] if parts is None else list(scorer.weighted_columns(parts))
    places = {} if parts is None else {id_: place for place, id_ in enumerate(parts.ids.tolist())}

    def explained(id_: int, score: Score) -> Score:
        own = (
            ScoreComponent("words", score.lexical, preset.lexical),
            ScoreComponent("meaning", score.cosine, preset.cosine),
        )
        more = (ScoreComponent(name, float(values[places[id_]]), weight) for name, values, weight in columns)
        mine = (*own, *more)
        total = math.fsum(part.contribution for part in mine)
        why = _WHOLE_PERIOD_REASON if score.total > total else "faded"
        return _with_total(
            replace(score, total=total, breakdown=ScoreBreakdown(mine, total, total)), score.total, why
        )

    return explained


def _relative_explainer(parts: CandidateColumns, scorer: Scorer) -> Callable[[int, Score], Score]:
    """Parts in standard deviations over the space, their sum bent to a score from 0 to 1."""
    places = {id_: place for place, id_ in enumerate(parts.ids.tolist())}
    columns = list(scorer.weighted_columns(parts))
    finals = scorer(parts)

    def explained(id_: int, score: Score) -> Score:
        place = places[id_]
        mine = tuple(ScoreComponent(name, float(values[place]), weight) for name, values, weight in columns)
        linear = math.fsum(part.contribution for part in mine)
        bent = float(scorer.logistic(np.array([linear]))[0])
        final = float(finals[place])
        why = "shares nothing to search by"
        if final > bent:
            why = _WHOLE_PERIOD_REASON if scorer.whole_period else "near by words and meaning as they are"
        found = _with_total(
            replace(score, total=bent, breakdown=ScoreBreakdown(mine, linear, bent)), final, why
        )
        return _with_total(found, score.total, "faded")

    return explained


def _with_total(score: Score, total: float, why: str) -> Score:
    """The score with this total, and the reason if it is another one."""
    if abs(score.total - total) < _ROUNDING_TOLERANCE:
        return replace(score, total=total)
    return score.adjusted(total, why)
