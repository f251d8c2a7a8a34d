"""Two-dimensional map of the thoughts of a space (the t-SNE view of the TiM papers), with numpy only.

Exact t-SNE compares all pairs of points, which takes minutes for 10,000. So t-SNE places at most
`MAX_LANDMARKS` of them, after a PCA, and every other point is placed between its nearest landmarks
(docs/decisions/0028). The same vectors always give the same map.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
import numpy.typing as npt

from thinkback.memory import Memory
from thinkback.server.views.snapshot import KIND_NUMBERS, SpaceSnapshot
from thinkback.server.views.topics import label_groups
from thinkback.types import KINDS, SpaceKey, VersionStamp

MAX_LANDMARKS = 500
PCA_DIMENSIONS = 30
PERPLEXITY = 30.0
ITERATIONS, EXAGGERATED_ITERATIONS, EXAGGERATION = 250, 75, 12.0
NEAREST_LANDMARKS = 6
SEED = 20231114
MIN_TSNE_POINTS = 12  # fewer are placed by PCA
MAX_CACHED_MAPS = 32

Matrix = npt.NDArray[np.float32]


class MapCache:
    """The maps of the spaces that were looked at last. One map of a space is computed at a time."""

    def __init__(self) -> None:
        self._maps: OrderedDict[SpaceKey, tuple[VersionStamp, dict[str, Any]]] = OrderedDict()
        self._lock = threading.Lock()
        self._computing: WeakValueDictionary[SpaceKey, threading.Lock] = WeakValueDictionary()

    def get(self, memory: Memory, snapshot: SpaceSnapshot) -> dict[str, Any]:
        """The map of a snapshot, from the cache if the space has not changed."""
        key = (memory.tenant, memory.user)
        with self._lock:
            computing = self._computing.setdefault(key, threading.Lock())
        with computing:
            with self._lock:
                stamp, found = self._maps.get(key, (None, None))
            if found is None or stamp != snapshot.stamp:
                found = make_map(memory, snapshot)
            with self._lock:
                self._maps[key] = (snapshot.stamp, found)
                self._maps.move_to_end(key)
                while len(self._maps) > MAX_CACHED_MAPS:
                    self._maps.popitem(last=False)
        return found


def make_map(memory: Memory, snapshot: SpaceSnapshot) -> dict[str, Any]:
    """Place the current thoughts of a space that have a vector."""
    started = time.perf_counter()
    delta = memory.store.delta(memory.user, VersionStamp())
    entries = {entry.id: entry for entry in delta.entries if entry.kind == "thought"}
    rows = [row for row in snapshot.rows if row.thought.current and row.thought.id in entries]
    matrix = np.array([entries[row.thought.id].vector for row in rows], dtype=np.float32)
    method = "tsne" if len(rows) >= MIN_TSNE_POINTS else "pca"
    placed = project(matrix) if rows else np.zeros((0, 2), dtype=np.float32)
    numbers = [entries[row.thought.id].group for row in rows]
    points = [
        [row.thought.id, round(float(x), 4), round(float(y), 4), group, KIND_NUMBERS[row.thought.kind]]
        for row, (x, y), group in zip(rows, placed, numbers, strict=True)
    ]
    return {
        "method": method,
        "points": points,
        "kinds": list(KINDS),
        "groups": _groups(points, [row.thought.sentence for row in rows]),
        "ms": round((time.perf_counter() - started) * 1000),
    }


def project(vectors: Matrix) -> Matrix:
    """Points between -1 and 1 in two dimensions, close together if their vectors are."""
    reduced = _pca(vectors, PCA_DIMENSIONS)
    if len(vectors) < MIN_TSNE_POINTS:
        flat = np.zeros((len(vectors), 2), dtype=np.float32)
        flat[:, : min(2, reduced.shape[1])] = reduced[:, :2]
        return _scaled(flat)
    count = min(len(vectors), MAX_LANDMARKS)
    chosen = np.sort(np.random.default_rng(SEED).permutation(len(vectors))[:count])
    landmarks = reduced[chosen]
    placed = _tsne(landmarks)
    if count == len(vectors):
        return _scaled(placed)
    result = _place_between(reduced, landmarks, placed)
    result[chosen] = placed
    return _scaled(result)


def _pca(vectors: Matrix, dimensions: int) -> Matrix:
    centred = vectors - vectors.mean(axis=0)
    _, directions = np.linalg.eigh((centred.T @ centred).astype(np.float64))
    kept = directions[:, ::-1][:, : min(dimensions, vectors.shape[1])]
    largest = np.abs(kept).argmax(axis=0)  # fixes the sign, which is arbitrary
    kept = kept * np.sign(kept[largest, np.arange(kept.shape[1])])
    reduced: Matrix = (centred @ kept).astype(np.float32)
    return reduced


def _squared_distances(one: Matrix, other: Matrix) -> Matrix:
    squared: Matrix = np.sum(one**2, axis=1)[:, None] + np.sum(other**2, axis=1) - 2 * (one @ other.T)
    return np.maximum(squared, 0, out=squared)


def _plane_distances(placed: Matrix) -> Matrix:
    """Squared distances in the plane, without BLAS: its threads cost more than so small a product."""
    across = placed[:, None, 0] - placed[None, :, 0]
    along = placed[:, None, 1] - placed[None, :, 1]
    across *= across
    along *= along
    across += along
    return across


def _neighbour_probabilities(points: Matrix) -> Matrix:
    """The symmetric joint probabilities of t-SNE, with the perplexity of each row found by bisection."""
    distances = _squared_distances(points, points)
    count = len(points)
    target = np.log(min(PERPLEXITY, (count - 1) / 3))
    np.fill_diagonal(distances, np.inf)
    low, high = np.zeros((count, 1), np.float32), np.full((count, 1), np.inf, np.float32)
    finite = distances[np.isfinite(distances)]
    beta = np.full((count, 1), 1 / max(float(finite.mean()), 1e-12), np.float32)
    nearest = distances.min(axis=1, keepdims=True)
    shifted = distances - nearest
    np.fill_diagonal(shifted, 0)
    for _ in range(30):
        weights = np.exp(-beta * shifted)
        np.fill_diagonal(weights, 0)
        total = weights.sum(axis=1, keepdims=True)
        entropy = np.log(total) + beta * (weights * shifted).sum(axis=1, keepdims=True) / total
        too_wide = entropy > target
        low, high = np.where(too_wide, beta, low), np.where(too_wide, high, beta)
        beta = np.where(np.isinf(high), beta * 2, (low + high) / 2).astype(np.float32)
    weights /= total
    joint: Matrix = (weights + weights.T) / (2 * count)
    return np.maximum(joint, 1e-12)


def _tsne(points: Matrix) -> Matrix:
    """Exact t-SNE, started from the first two principal components."""
    joint = _neighbour_probabilities(points)
    placed = (points[:, :2] / max(float(points[:, 0].std()), 1e-12) * 1e-2).astype(np.float32)
    velocity = np.zeros_like(placed)
    gains = np.ones_like(placed)
    rate = max(len(points) / EXAGGERATION, 50.0)
    exaggerated = joint * np.float32(EXAGGERATION)
    for step in range(ITERATIONS):
        closeness = _plane_distances(placed)
        closeness += 1
        np.reciprocal(closeness, out=closeness)
        np.fill_diagonal(closeness, 0)
        forces = closeness * np.float32(-1 / closeness.sum())
        forces += exaggerated if step < EXAGGERATED_ITERATIONS else joint
        forces *= closeness
        pull = np.stack([np.einsum("ij,j->i", forces, placed[:, axis]) for axis in (0, 1)], axis=1)
        gradient = 4 * (forces.sum(axis=1, keepdims=True) * placed - pull)
        same = np.sign(gradient) == np.sign(velocity)
        gains = np.maximum(np.where(same, gains * 0.8, gains + 0.2), 0.01)
        momentum = 0.5 if step < EXAGGERATED_ITERATIONS else 0.8
        velocity = momentum * velocity - rate * gains * gradient
        placed = placed + velocity
        placed -= placed.mean(axis=0)
    return placed.astype(np.float32)


def _place_between(points: Matrix, landmarks: Matrix, placed: Matrix) -> Matrix:
    """Every point at the weighted mean of its nearest landmarks."""
    result = np.empty((len(points), 2), dtype=np.float32)
    count = min(NEAREST_LANDMARKS, len(landmarks))
    for start in range(0, len(points), 1000):
        distances = _squared_distances(points[start : start + 1000], landmarks)
        nearest = np.argpartition(distances, count - 1, axis=1)[:, :count]
        near = np.take_along_axis(distances, nearest, axis=1)
        weights = np.exp(-near / np.maximum(near.mean(axis=1, keepdims=True), 1e-12) * 3)
        weights /= weights.sum(axis=1, keepdims=True)
        result[start : start + 1000] = (weights[:, :, None] * placed[nearest]).sum(axis=1)
    return result


def _scaled(placed: Matrix) -> Matrix:
    """Centred, with the largest coordinate 1."""
    centred = placed - (placed.max(axis=0) + placed.min(axis=0)) / 2
    scaled: Matrix = centred / max(float(np.abs(centred).max()), 1e-12)
    return scaled


def _groups(points: list[list[Any]], sentences: list[str]) -> list[dict[str, Any]]:
    """Size, middle and most telling words of each group, largest group first."""
    members: dict[int, list[int]] = {}
    for index, point in enumerate(points):
        members.setdefault(point[3], []).append(index)
    labels = label_groups({group: [sentences[index] for index in of] for group, of in members.items()})
    groups = []
    for group, indexes in sorted(members.items(), key=lambda item: -len(item[1])):
        groups.append(
            {
                "group": group,
                "count": len(indexes),
                "x": round(sum(points[index][1] for index in indexes) / len(indexes), 4),
                "y": round(sum(points[index][2] for index in indexes) / len(indexes), 4),
                "label": labels[group],
            }
        )
    return groups
