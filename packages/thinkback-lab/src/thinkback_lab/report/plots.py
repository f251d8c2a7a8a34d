"""Top-k curves and the t-SNE map of recalled texts."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from thinkback_lab.errors import import_extra
from thinkback_lab.metrics.retrieval import ranking_scores
from thinkback_lab.report.charts import ScatterPoint, Series
from thinkback_lab.runs.finished_runs import FinishedRun
from thinkback_lab.runs.records import Record

DEFAULT_MAX_RANK = 20  # used if a run does not record its ranks


def top_k_curves(run: FinishedRun) -> tuple[Series, Series] | None:
    """(hit@k, recall@k) over the questions with gold, up to the last scored rank; None if empty."""
    answered = [record for record in run.records if record.gold]
    last = max(run.settings.get("k") or (DEFAULT_MAX_RANK,))
    deepest = min(last, max((len(record.found) for record in answered), default=0))
    if not deepest:
        return None
    ks = range(1, deepest + 1)
    sums: dict[str, float] = {}
    for record in answered:
        for name, value in ranking_scores(record.gold, [each.sources for each in record.found], ks).items():
            sums[name] = sums.get(name, 0.0) + value
    hit, recall = (
        Series(f"{what}@k", tuple((k, sums[f"{what}@{k}"] / len(answered)) for k in ks), look)
        for look, what in enumerate(("hit", "recall"))
    )
    return hit, recall


if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Embed = Callable[[Sequence[str]], npt.NDArray[np.float32]]

MIN_TEXTS, MAX_POINTS = 10, 400
MAX_TURN_BANDS = 6
_MAX_TIP_CHARACTERS = 120


@dataclass(frozen=True, slots=True)
class RecalledText:
    turn: int
    text: str


def recalled_texts(records: Sequence[Record], seed: int = 0) -> list[RecalledText]:
    """The texts given to readers, once per turn of a case; at most `MAX_POINTS`, drawn at random."""
    turns: dict[str, int] = {}
    points: dict[tuple[str, int, str], RecalledText] = {}
    for record in records:
        turn = turns[record.case] = turns.get(record.case, 0) + 1
        for memory in record.context:
            points.setdefault((record.case, turn, memory.text), RecalledText(turn, memory.text))
    candidates = list(points.values())
    if len(candidates) <= MAX_POINTS:
        return candidates
    positions = random.Random(seed).sample(range(len(candidates)), MAX_POINTS)  # noqa: S311 - a sample, no secret
    return [candidates[at] for at in sorted(positions)]


def turn_bands(turns: Sequence[int]) -> list[tuple[int, int]]:
    """Group the turns into at most six ranges with about the same number of points."""
    ordered, distinct = sorted(turns), sorted(set(turns))
    if len(distinct) <= MAX_TURN_BANDS:
        return [(turn, turn) for turn in distinct]
    cuts = {ordered[len(ordered) * part // MAX_TURN_BANDS] for part in range(1, MAX_TURN_BANDS)}
    starts = [distinct[0], *sorted(cuts - {distinct[0]})]
    ends = [max(turn for turn in distinct if turn < start) for start in starts[1:]]
    return list(zip(starts, [*ends, distinct[-1]], strict=True))


def tsne_layout(points: Sequence[RecalledText], embed: Embed, seed: int = 0) -> list[ScatterPoint]:
    """Two-dimensional t-SNE layout; equal texts share a point. Needs at least `MIN_TEXTS` different texts."""
    import numpy as np

    manifold = import_extra("sklearn.manifold")
    texts = sorted({point.text for point in points})
    vectors = np.asarray(embed(texts), dtype=np.float64)
    perplexity = min(30.0, (len(texts) - 1) / 3)
    layout = manifold.TSNE(perplexity=perplexity, init="pca", random_state=seed, n_jobs=1).fit_transform(
        vectors
    )
    coordinates = {text: (float(x), float(y)) for text, (x, y) in zip(texts, layout, strict=True)}
    spans = turn_bands([point.turn for point in points])
    return [
        ScatterPoint(
            *coordinates[point.text],
            _band_index(point.turn, spans),
            f"turn {point.turn}: {point.text[:_MAX_TIP_CHARACTERS]}",
        )
        for point in points
    ]


def turn_band_names(points: Sequence[RecalledText]) -> list[str]:
    return [
        f"turn {first}" if first == last else f"turns {first}–{last}"
        for first, last in turn_bands([point.turn for point in points])
    ]


def _band_index(turn: int, spans: Sequence[tuple[int, int]]) -> int:
    return next(at for at, (first, last) in enumerate(spans) if first <= turn <= last)
