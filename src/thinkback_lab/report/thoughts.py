"""Recalled thoughts by turn (TiM 001, figure 2): texts that came back, laid out by t-SNE of their embeddings.

The papers recall the same history at each turn of a dialogue; a compact cloud over all turns is consistent
memory. A case's questions stand for its turns, in their order.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from thinkback_lab.extras import extra
from thinkback_lab.report.charts import Dot
from thinkback_lab.runs.record import Record

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Embed = Callable[[Sequence[str]], npt.NDArray[np.float32]]

FEWEST, MOST = 10, 400
BANDS = 6
_SHOWN = 120


@dataclass(frozen=True, slots=True)
class Recalled:
    turn: int
    text: str


def recalled(records: Sequence[Record], seed: int = 0) -> list[Recalled]:
    """What the readers were given, each text once a turn of its case, at most `MOST` drawn at random."""
    turns: dict[str, int] = {}
    points: dict[tuple[str, int, str], Recalled] = {}
    for record in records:
        turn = turns[record.case] = turns.get(record.case, 0) + 1
        for found in record.context:
            points.setdefault((record.case, turn, found.text), Recalled(turn, found.text))
    all_of_them = list(points.values())
    if len(all_of_them) <= MOST:
        return all_of_them
    chosen = random.Random(seed).sample(range(len(all_of_them)), MOST)  # noqa: S311 - a sample, no secret
    return [all_of_them[at] for at in sorted(chosen)]


def bands(turns: Sequence[int]) -> list[tuple[int, int]]:
    """The turns in at most six runs, each with about as many points."""
    ordered, distinct = sorted(turns), sorted(set(turns))
    if len(distinct) <= BANDS:
        return [(turn, turn) for turn in distinct]
    cuts = {ordered[len(ordered) * part // BANDS] for part in range(1, BANDS)}
    starts = [distinct[0], *sorted(cuts - {distinct[0]})]
    ends = [max(turn for turn in distinct if turn < start) for start in starts[1:]]
    return list(zip(starts, [*ends, distinct[-1]], strict=True))


def laid_out(points: Sequence[Recalled], embed: Embed, seed: int = 0) -> list[Dot]:
    """Two dimensions; equal texts share a place. At least `FEWEST` different texts are wanted."""
    import numpy as np

    manifold = extra("sklearn.manifold")
    texts = sorted({point.text for point in points})
    vectors = np.asarray(embed(texts), dtype=np.float64)
    perplexity = min(30.0, (len(texts) - 1) / 3)
    layout = manifold.TSNE(perplexity=perplexity, init="pca", random_state=seed, n_jobs=1).fit_transform(
        vectors
    )
    places = {text: (float(x), float(y)) for text, (x, y) in zip(texts, layout, strict=True)}
    spans = bands([point.turn for point in points])
    return [
        Dot(*places[point.text], _band(point.turn, spans), f"turn {point.turn}: {point.text[:_SHOWN]}")
        for point in points
    ]


def band_names(points: Sequence[Recalled]) -> list[str]:
    return [
        f"turn {first}" if first == last else f"turns {first}–{last}"
        for first, last in bands([point.turn for point in points])
    ]


def _band(turn: int, spans: Sequence[tuple[int, int]]) -> int:
    return next(at for at, (first, last) in enumerate(spans) if first <= turn <= last)
