"""Spherical k-means: the cluster centres that become the learned columns of R (TiM 002, Eq. 1).

TiM draws R at random; centres of the data make groups that follow it. Precision matters little here (a query
probes several groups), so a sample and few rounds do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from thinkback.types import Vector

_BATCH = 2048


def spherical_kmeans(vectors: Vector, count: int, *, seed: int, rounds: int, sample: int) -> Vector:
    """`count` unit centres, one a row; the same vectors and seed give the same centres."""
    random = np.random.Generator(np.random.PCG64(seed))
    chosen = random.permutation(len(vectors))[: max(sample, count)]
    points = _unit(vectors[np.sort(chosen)].astype(np.float32, copy=False))
    centres = points[np.sort(random.permutation(len(points))[:count])]
    if len(centres) < count:  # fewer points than columns: the rest are directions of their own
        extra = random.standard_normal((count - len(centres), vectors.shape[1]), dtype=np.float32)
        return np.concatenate([centres, _unit(extra)])
    for _ in range(rounds):
        labels, likeness = _assign(points, centres)
        centres = _recentre(points, labels, likeness, centres)
    return centres


def _assign(points: Vector, centres: Vector) -> tuple[npt.NDArray[np.int64], Vector]:
    """The nearest centre of every point, and its cosine."""
    labels = np.empty(len(points), dtype=np.int64)
    likeness = np.empty(len(points), dtype=np.float32)
    columns = centres.T
    for start in range(0, len(points), _BATCH):
        cosine = points[start : start + _BATCH] @ columns
        best = cosine.argmax(axis=1)
        labels[start : start + _BATCH] = best
        likeness[start : start + _BATCH] = cosine[np.arange(len(best)), best]
    return labels, likeness


def _recentre(points: Vector, labels: npt.NDArray[np.int64], likeness: Vector, centres: Vector) -> Vector:
    """Each centre becomes the direction of its points' sum; one without points takes a misfit."""
    order = np.argsort(labels, kind="stable")
    present, first = np.unique(labels[order], return_index=True)
    sums = np.zeros_like(centres)
    sums[present] = np.add.reduceat(points[order], first, axis=0)
    empty = np.setdiff1d(np.arange(len(centres)), present)
    sums[empty] = points[np.argsort(likeness, kind="stable")[: len(empty)]]
    return _unit(sums)


def _unit(rows: Vector) -> Vector:
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    return (rows / np.where(norms > 0, norms, 1)).astype(np.float32, copy=False)
