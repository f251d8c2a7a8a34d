"""Scores candidates: weighted components relative to the space, time, kind and answer features, retention."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from thinkback.index.space_index import CandidateColumns, Hits, ScoreDistribution
from thinkback.language.questions import QueryManner
from thinkback.language.writing_systems import has_han
from thinkback.presets import Preset, QueryTypeWeights, Retention, ScoreWeights
from thinkback.types import RecallCount, Score, ScoreBreakdown, ScoreComponent, Thought

if TYPE_CHECKING:
    import numpy.typing as npt

    from thinkback.types import Vector

    Scores = npt.NDArray[np.float64]

_MIN_PLAIN_SCORE = 0.35  # cosine and lexical score this high make a candidate relevant in any space
_MIN_DEVIATION = 1e-3  # lower bound, for a space in which all rows are alike

# Typical distributions, worth as many rows as their size says
_TYPICAL_WORDS = ScoreDistribution(20, 0.03, 0.10)
_TYPICAL_MEANING = ScoreDistribution(20, 0.12, 0.12)
_TYPICAL_MEANING_HAN = ScoreDistribution(20, 0.45, 0.15)

# How much the midpoint rises when the best of n random rows stands out by one deviation more
_NOISE_WEIGHT = 2.0
_MIN_NOISE_ROWS = 15  # minimum row count assumed by the noise correction
_MIN_NOISE_DEVIATIONS = math.sqrt(2 * math.log(_MIN_NOISE_ROWS))
_MIN_MEANING_DEVIATIONS = 1.5  # a smaller cosine of a turn may be chance
_PERIOD_BONUS = 0.1  # on the plain scale, for starting in the period of the query; not relevant by itself
_IGNORED_COVERAGE = 0.2  # this share of a row's words occurs in any query about the same subject

_WHOLE_PERIOD_REASON = "all of that time is asked for"
_FADED_REASON = "faded"
_ROUNDING_TOLERANCE = 1e-6
_SECONDS_PER_DAY = 86_400.0
_NO_COLUMNS: Mapping[str, Scores] = {}


def retention_factor(policy: Retention, since: datetime, times: int, now: datetime) -> float:
    """R of a thought that was learned or last recalled at `since` and recalled `times` times: from 1 to 0."""
    days = max(0.0, (now - since).total_seconds() / _SECONDS_PER_DAY)
    return math.exp(-days / (policy.days * (1 + policy.growth * times)))


@dataclass(frozen=True, slots=True, eq=False)
class RetentionScorer:
    """The retention policy at one moment. `recalls` reads how often thoughts were recalled."""

    policy: Retention
    now: datetime
    recalls: Callable[[Sequence[int]], Mapping[int, RecallCount]]

    def factors(self, thoughts: Sequence[Thought]) -> dict[int, float]:
        """R of each thought, by id."""
        recalled = self.recalls([thought.id for thought in thoughts])
        factors: dict[int, float] = {}
        for thought in thoughts:
            times, last = recalled.get(thought.id, RecallCount(0, thought.recorded_at))
            factors[thought.id] = retention_factor(
                self.policy, max(last, thought.recorded_at), times, self.now
            )
        return factors

    def apply(self, hits: Hits, retention: Mapping[int, float], limit: int) -> Hits:
        """The hits ranked by their faded scores; archived ones get a score of 0."""
        factors = np.array([retention.get(id_, 1.0) for id_ in hits.ids.tolist()])
        score = hits.score * (1 - self.policy.weight * (1 - factors))
        score[factors < self.policy.archive_below] = 0.0
        order = np.lexsort((hits.ids, -score))[:limit]
        return replace(
            hits,
            ids=hits.ids[order],
            turns=hits.turns[order],
            score=score[order],
            cosine=hits.cosine[order],
            lexical=hits.lexical[order],
            groups=hits.groups[order],
            positions=hits.positions[order],
            explained=tuple(hits.explained[n] for n in order.tolist()) if hits.explained else (),
        )


class WeightedColumn(NamedTuple):
    """One term of the weighted sum: its value for every candidate, and its weight."""

    name: str
    values: Scores
    weight: float


class _RawColumn(NamedTuple):
    """A column before it is standardised, and the least value that it may have afterwards."""

    values: Scores | Vector
    mean: float
    deviation: float
    least: float = -math.inf


def _standardise(columns: Mapping[str, _RawColumn]) -> dict[str, Scores]:
    """The columns less their means, in deviations; all at once, because numpy has a cost per call."""
    raw = np.array([column.values for column in columns.values()], dtype=np.float64)
    mean, deviation, least = np.array([column[1:] for column in columns.values()]).T[:, :, None]
    return dict(zip(columns, np.fmax((raw - mean) / deviation, least), strict=True))


class ScoredColumns(NamedTuple):
    """The score of every candidate, its weighted sum, and the columns it was computed from."""

    total: Scores
    linear: Scores
    columns: tuple[WeightedColumn, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scorer:
    """Scores the candidates of one query."""

    preset: Preset
    text: str
    manner: QueryManner = "asks"
    period: tuple[float, float] | None = None  # the time the query mentions, in seconds since 1970
    whole_period: bool = False  # the query asks for everything in the period
    for_thoughts: bool = False  # scores thoughts, not turns
    about_ids: tuple[int, ...] = ()  # thoughts about the people that the query mentions
    space_rows: int = 0  # number of thoughts and turns in the space

    def score(
        self, candidates: CandidateColumns, further: Mapping[str, Scores] = _NO_COLUMNS
    ) -> ScoredColumns:
        """Score all candidates. `further` are columns of a relative preset that the index cannot provide."""
        if self.preset.weights is None:
            return self._score_plain(candidates)
        values = {**self.column_values(candidates), **further}
        columns = self._weighted(values, self.preset.weights)
        weights = np.array([column.weight for column in columns])
        linear: Scores = np.add.reduce(np.array([column.values for column in columns]) * weights[:, None])
        total = self.logistic(linear)
        total[self._is_noise(candidates, values)] = 0.0
        # A question that is asked every day has many similar rows; none stands out, but all are relevant.
        near = 0.5 * candidates.cosine + 0.5 * candidates.lexical >= _MIN_PLAIN_SCORE
        total = np.where(near, np.maximum(total, self.preset.threshold), total)
        return ScoredColumns(self._include_whole_period(total, candidates), linear, columns)

    def _score_plain(self, candidates: CandidateColumns) -> ScoredColumns:
        preset = self.preset
        columns = [
            WeightedColumn("words", candidates.lexical, preset.lexical),
            WeightedColumn("meaning", candidates.cosine.astype(np.float64), preset.cosine),
        ]
        total: Scores = preset.cosine * candidates.cosine + preset.lexical * candidates.lexical
        if self.period is not None:
            in_period = self._in_period(candidates)
            columns.append(WeightedColumn("time", in_period, _PERIOD_BONUS))
            total = self._include_whole_period(total + _PERIOD_BONUS * in_period, candidates)
        return ScoredColumns(total, total, tuple(columns))

    def _include_whole_period(self, total: Scores, candidates: CandidateColumns) -> Scores:
        """If everything in the period is wanted: such rows are relevant, others only if they share a word.

        Rows without a vector (cosine 0) are not meant to be found.
        """
        if not self.whole_period:
            return total
        wanted = (self._in_period(candidates) > 0) & (candidates.cosine != 0)
        return np.where(wanted, np.maximum(total, self.preset.threshold), total * (candidates.lexical > 0))

    def logistic(self, linear: Scores) -> Scores:
        """The weighted sum mapped to a score from 0 to 1."""
        score: Scores = 1 / (1 + np.exp((self.midpoint - linear) / self.preset.logistic_scale))
        return score

    @property
    def midpoint(self) -> float:
        """The weighted sum that maps to 0.5 in this space.

        The best of n random rows stands out by about sqrt(2 ln n) deviations, so a large space needs more.
        """
        deviations = math.sqrt(2 * math.log(max(self.space_rows, _MIN_NOISE_ROWS)))
        return self.preset.midpoint + _NOISE_WEIGHT * (deviations - _MIN_NOISE_DEVIATIONS)

    def _is_noise(self, candidates: CandidateColumns, values: Mapping[str, Scores]) -> npt.NDArray[np.bool_]:
        """Candidates without a common word, a near meaning, or any other connection to the query.

        A thought is short and often shares no word with a question about it, so a distant meaning is enough.
        """
        noise = candidates.cosine <= 0
        if not self.for_thoughts:
            meaning = values["meaning"] if "meaning" in values else values["meaning_han"]
            noise |= (
                (meaning < _MIN_MEANING_DEVIATIONS)
                & (candidates.lexical_before <= 0)
                & (values["told_before"] <= 0)
            )
        noise &= candidates.lexical <= 0
        for name in ("time", "about"):  # "What happened on Monday?" wants anything that was said then
            if name in values:
                noise &= values[name] <= 0
        if "source" in values:
            noise &= values["source"] < self.midpoint
        return noise

    def column_values(self, candidates: CandidateColumns) -> dict[str, Scores]:
        """The values of the weighted sum of a relative preset, by the names of their weights."""
        words = _blend_with_typical(candidates.lexical_distribution, _TYPICAL_WORDS)
        han = has_han(self.text)
        meaning = _blend_with_typical(
            candidates.cosine_distribution, _TYPICAL_MEANING_HAN if han else _TYPICAL_MEANING
        )
        # a neighbour about another subject is no evidence against a row, and none at all (NaN) counts as 0
        columns = {
            "words": _RawColumn(candidates.lexical, words.mean, words.deviation),
            "meaning_han" if han else "meaning": _RawColumn(
                candidates.cosine, meaning.mean, meaning.deviation
            ),
            "before": _RawColumn(candidates.lexical_before, 0.0, words.deviation),
            "meaning_before": _RawColumn(candidates.cosine_before, meaning.mean, meaning.deviation, 0.0),
            "after": _RawColumn(candidates.lexical_after, 0.0, words.deviation),
            "meaning_after": _RawColumn(candidates.cosine_after, meaning.mean, meaning.deviation, 0.0),
            "told": _RawColumn(candidates.query_coverage, _IGNORED_COVERAGE, 1.0, 0.0),
            "told_before": _RawColumn(candidates.query_coverage_before, _IGNORED_COVERAGE, 1.0, 0.0),
            "length": _RawColumn(np.log1p(candidates.length), 0.0, 1.0),
        }
        if self.manner == "asks":
            asked = _blend_with_typical(candidates.question_distribution, _TYPICAL_WORDS)
            by_question = candidates.question_lexical
            lexical = candidates.lexical if by_question is None else by_question
            columns["asked"] = _RawColumn(lexical, asked.mean, asked.deviation)
        values = _standardise(columns)
        if self.for_thoughts:
            values["thought"] = np.ones(len(candidates.ids))
        if self.about_ids:
            values["about"] = mark_ids(candidates.ids, frozenset(self.about_ids))
        if self.period is not None:
            values["time"] = self._in_period(candidates)
        return values

    def _in_period(self, candidates: CandidateColumns) -> Scores:
        """1 for rows that start in the period of the query, else 0."""
        start, end = self.period or (math.inf, -math.inf)
        return ((candidates.start_time >= start) & (candidates.start_time < end)).astype(np.float64)

    def feature_odds(self, features: Mapping[str, float]) -> float:
        """What text features (`recall.features`) multiply the odds of a total score by; see `adjust_odds`."""
        preset = self.preset
        if preset.weights is None or not features:
            return 1.0
        weights = self._weights(preset.weights)
        linear = math.fsum(getattr(weights, name) * value for name, value in features.items())
        return math.exp(linear / preset.logistic_scale)

    def _weighted(
        self, values: Mapping[str, Scores], by_query_type: QueryTypeWeights
    ) -> tuple[WeightedColumn, ...]:
        weights = self._weights(by_query_type)
        return tuple(WeightedColumn(name, column, getattr(weights, name)) for name, column in values.items())

    def _weights(self, by_query_type: QueryTypeWeights) -> ScoreWeights:
        if self.for_thoughts:
            return by_query_type.thoughts
        return {
            "asks": by_query_type.asks,
            "tells": by_query_type.tells,
            "at length": by_query_type.at_length,
        }[self.manner]


def adjust_odds(total: float, odds: float) -> float:
    """A total score with its odds multiplied; 0 and 1 are certain, whatever the odds."""
    if odds == 1.0 or not 0 < total < 1:
        return total
    return 1 / (1 + (1 - total) / total / odds)


def mark_ids(ids: npt.NDArray[np.int64], wanted: Set[int]) -> Scores:
    """1 for each of `ids` that is wanted, else 0; much faster than `np.isin` for a few hundred."""
    return np.fromiter(map(wanted.__contains__, ids.tolist()), np.float64, len(ids))


def _blend_with_typical(observed: ScoreDistribution, typical: ScoreDistribution) -> ScoreDistribution:
    """The distribution in a space, pulled towards a typical one while the space is small."""
    size = observed.size + typical.size
    mean = (observed.size * observed.mean + typical.size * typical.mean) / size
    log_observed = observed.size * math.log(max(observed.deviation, _MIN_DEVIATION))
    log_typical = typical.size * math.log(typical.deviation)
    return ScoreDistribution(size, mean, math.exp((log_observed + log_typical) / size))


def explain_scores(scorer: Scorer, hits: Hits, scored: ScoredColumns | None) -> tuple[Score, ...]:
    """The score of each hit with its breakdown, from the columns recorded while scoring.

    `scored` is None if the index ranked by the plain weighted sum.
    """
    relative = scorer.preset.weights is not None
    columns: tuple[WeightedColumn, ...]
    positions: Sequence[int]
    if scored is None:
        words = WeightedColumn("words", hits.lexical, scorer.preset.lexical)
        meaning = WeightedColumn("meaning", hits.cosine.astype(np.float64), scorer.preset.cosine)
        columns, positions = (words, meaning), range(len(hits))
    else:
        columns, positions = scored.columns, hits.positions.tolist()
    scores: list[Score] = []
    for position, total, cosine, lexical in zip(
        positions, hits.score.tolist(), hits.cosine.tolist(), hits.lexical.tolist(), strict=True
    ):
        components = tuple(
            ScoreComponent(name, float(values[position]), weight) for name, values, weight in columns
        )
        linear = math.fsum(component.contribution for component in components)
        initial = float(scorer.logistic(np.array([linear]))[0]) if relative and scored is not None else linear
        score = Score(initial, cosine, lexical, ScoreBreakdown(components, linear, initial))
        scores.append(with_total(score, total, _adjustment_reason(scorer, initial, total)))
    return tuple(scores)


def _adjustment_reason(scorer: Scorer, initial: float, total: float) -> str:
    """Why the score of a candidate is not its weighted sum."""
    if scorer.preset.weights is None:
        return _WHOLE_PERIOD_REASON if total > initial else _FADED_REASON
    if total <= initial:
        return "shares nothing to search by"
    return _WHOLE_PERIOD_REASON if scorer.whole_period else "near by words and meaning as they are"


def with_total(score: Score, total: float, reason: str = _FADED_REASON) -> Score:
    """The score with another total; the breakdown records the reason unless it is a rounding error."""
    if abs(score.total - total) < _ROUNDING_TOLERANCE:
        return replace(score, total=total)
    return score.adjusted(total, reason)
