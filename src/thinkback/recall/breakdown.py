"""A score taken apart: every part with its weight, the sum of them, and what was changed afterwards."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from thinkback.index.shelf import Hits, Parts
from thinkback.recall.scoring import Scorer
from thinkback.types import Part, Score, Sum

_ALL_THEN = "all of that time is asked for"
_SAME = 1e-6  # a difference below it is one of rounding


def breakdown(hits: Hits, scorer: Scorer) -> Callable[[int, Score], Score]:
    """A function that explains the score of one of these hits, by its id."""
    if scorer.preset.weights is None or hits.parts is None:
        return _plain(hits.parts, scorer)
    return _relative(hits.parts, scorer)


def _plain(parts: Parts | None, scorer: Scorer) -> Callable[[int, Score], Score]:
    """Parts as they are, added; and what the time asked for adds."""
    preset = scorer.preset
    columns = [] if parts is None else list(scorer.weighed(parts))
    places = {} if parts is None else {id_: place for place, id_ in enumerate(parts.ids.tolist())}

    def explained(id_: int, score: Score) -> Score:
        own = (Part("words", score.lexical, preset.lexical), Part("meaning", score.cosine, preset.cosine))
        more = (Part(name, float(values[places[id_]]), weight) for name, values, weight in columns)
        mine = (*own, *more)
        total = math.fsum(part.contribution for part in mine)
        why = _ALL_THEN if score.total > total else "faded"
        return _adjusted(replace(score, total=total, sum=Sum(mine, total, total)), score.total, why)

    return explained


def _relative(parts: Parts, scorer: Scorer) -> Callable[[int, Score], Score]:
    """Parts in standard deviations over the space, their sum bent to a score from 0 to 1."""
    places = {id_: place for place, id_ in enumerate(parts.ids.tolist())}
    columns = list(scorer.weighed(parts))
    finals = scorer(parts)

    def explained(id_: int, score: Score) -> Score:
        place = places[id_]
        mine = tuple(Part(name, float(values[place]), weight) for name, values, weight in columns)
        linear = math.fsum(part.contribution for part in mine)
        bent = float(scorer.bent(np.array([linear]))[0])
        final = float(finals[place])
        why = "shares nothing to search by"
        if final > bent:
            why = _ALL_THEN if scorer.anything else "near by words and meaning as they are"
        found = _adjusted(replace(score, total=bent, sum=Sum(mine, linear, bent)), final, why)
        return _adjusted(found, score.total, "faded")

    return explained


def _adjusted(score: Score, total: float, why: str) -> Score:
    """The score with this total, and the reason if it is another one."""
    if abs(score.total - total) < _SAME:
        return replace(score, total=total)
    return score.moved(total, why)
