"""Locality-sensitive hashing: similar vectors share a group, so that a query is compared with few groups.

TiM (arXiv), Eq. 1: H(x) = argmax([xR; -xR]) with R of shape (d, b/2) and b groups. `random_hashing` is the R
of the paper. One probe of a random R finds only 10-26% of the true top ten, so we deviate in two ways: the
columns of R may be learned from the space, and a query may probe several groups.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from thinkback.errors import InvalidInput
from thinkback.types import Hashing

if TYPE_CHECKING:
    import numpy.typing as npt

    from thinkback.types import Vector

    Groups = npt.NDArray[np.int64]

TARGET_GROUP_SIZE = 50  # rows; few enough to compare one by one, enough to consolidate together

_HASH_BATCH_ROWS = 4096
_KMEANS_BATCH_ROWS = 2048


def spherical_kmeans(vectors: Vector, count: int, *, seed: int, rounds: int, sample: int) -> Vector:
    """Cluster centres on the unit sphere, one per row; deterministic for the same vectors and seed.

    The centres become the learned columns of R. A sample and a few rounds are precise enough, because a query
    probes several groups.
    """
    random = np.random.Generator(np.random.PCG64(seed))
    chosen = random.permutation(len(vectors))[: max(sample, count)]
    points = _normalise_rows(vectors[np.sort(chosen)].astype(np.float32, copy=False))
    centres = points[np.sort(random.permutation(len(points))[:count])]
    if len(centres) < count:  # fewer points than columns: fill up with random directions
        extra = random.standard_normal((count - len(centres), vectors.shape[1]), dtype=np.float32)
        return np.concatenate([centres, _normalise_rows(extra)])
    for _ in range(rounds):
        labels, likeness = _assign_to_centres(points, centres)
        centres = _update_centres(points, labels, likeness, centres)
    return centres


def _assign_to_centres(points: Vector, centres: Vector) -> tuple[npt.NDArray[np.int64], Vector]:
    """The nearest centre of every point, and its cosine."""
    labels = np.empty(len(points), dtype=np.int64)
    likeness = np.empty(len(points), dtype=np.float32)
    columns = centres.T
    for start in range(0, len(points), _KMEANS_BATCH_ROWS):
        cosine = points[start : start + _KMEANS_BATCH_ROWS] @ columns
        best = cosine.argmax(axis=1)
        labels[start : start + _KMEANS_BATCH_ROWS] = best
        likeness[start : start + _KMEANS_BATCH_ROWS] = cosine[np.arange(len(best)), best]
    return labels, likeness


def _update_centres(
    points: Vector, labels: npt.NDArray[np.int64], likeness: Vector, centres: Vector
) -> Vector:
    """Move each centre to the mean direction of its points.

    A centre without points takes the worst fitting point.
    """
    order = np.argsort(labels, kind="stable")
    present, first = np.unique(labels[order], return_index=True)
    sums = np.zeros_like(centres)
    sums[present] = np.add.reduceat(points[order], first, axis=0)
    empty = np.setdiff1d(np.arange(len(centres)), present)
    sums[empty] = points[np.argsort(likeness, kind="stable")[: len(empty)]]
    return _normalise_rows(sums)


def _normalise_rows(rows: Vector) -> Vector:
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    return (rows / np.where(norms > 0, norms, 1)).astype(np.float32, copy=False)


def random_hashing(dim: int, groups: int, seed: int, size: int = 0) -> Hashing:
    """R of the paper: standard normal, with one probe."""
    _validate_group_count(groups)
    if dim < 1:
        raise InvalidInput(f"vectors need at least one dimension, got {dim}")
    normal = np.random.Generator(np.random.PCG64(seed)).standard_normal((dim, groups // 2), dtype=np.float32)
    return Hashing(matrix=normal, seed=seed, learned=False, probes=1, size=size)


def learned_hashing(
    vectors: Vector, groups: int, seed: int, *, rounds: int = 5, sample_per_column: int = 16
) -> Hashing:
    """R whose columns are the cluster centres of the space, so that groups follow the data."""
    _validate_group_count(groups)
    if vectors.ndim != 2 or not len(vectors):
        raise InvalidInput("a hashing can only be learned from a matrix of at least one vector")
    centres = spherical_kmeans(
        vectors, groups // 2, seed=seed, rounds=rounds, sample=sample_per_column * groups // 2
    )
    return Hashing(matrix=centres.T, seed=seed, learned=True, probes=1, size=len(vectors))


def assign_groups(hashing: Hashing, vectors: Vector) -> Groups:
    """H(x) of every row; ties go to the lowest group."""
    result = np.empty(len(vectors), dtype=np.int64)
    half = hashing.groups // 2
    for start in range(0, len(vectors), _HASH_BATCH_ROWS):
        projection = vectors[start : start + _HASH_BATCH_ROWS] @ hashing.matrix
        rows = np.arange(len(projection))
        up, down = projection.argmax(axis=1), projection.argmin(axis=1)
        # argmax([xR; -xR]) without building the array; on a tie the positive half has the lower index.
        result[start : start + _HASH_BATCH_ROWS] = np.where(
            projection[rows, up] >= -projection[rows, down], up, down + half
        )
    return result


def rank_groups(hashing: Hashing, vector: Vector) -> Groups:
    """All groups, best first: the order in which a query probes them. The first one is H(x)."""
    return nearest_groups(vector @ hashing.matrix, hashing.groups)


def nearest_groups(projection: Vector, count: int) -> Groups:
    """The `count` best groups for a query with the projection xR, best first."""
    both = np.concatenate([-projection, projection])  # negated [xR; -xR]: ascending order is best first
    if count < len(both):
        top = np.sort(np.argpartition(both, count - 1)[:count])  # ties go to the lowest group
        return top[np.argsort(both[top], kind="stable")]
    return np.argsort(both, kind="stable")


def calibrate_probes(
    hashing: Hashing, queries: Vector, vectors: Vector, groups: Groups, *, target: float = 0.95, k: int = 10
) -> Hashing:
    """The hashing with the fewest probes whose mean recall@k on sample queries reaches `target`."""
    if not 0 < target <= 1 or k < 1:
        raise InvalidInput(f"calibration needs 0 < target <= 1 and k >= 1, got target={target}, k={k}")
    if not len(queries) or not len(vectors):
        return hashing
    ranks = []
    for start in range(0, len(queries), 128):
        batch = queries[start : start + 128]
        cosine = batch @ vectors.T
        wanted = min(k, len(vectors))
        top = np.argpartition(cosine, len(vectors) - wanted, axis=1)[:, -wanted:]
        projection = batch @ hashing.matrix
        order = np.argsort(-np.concatenate([projection, -projection], axis=1), axis=1, kind="stable")
        rank = np.empty_like(order)
        np.put_along_axis(rank, order, np.arange(hashing.groups)[None, :], axis=1)
        ranks.append(np.take_along_axis(rank, groups[top], axis=1))
    # A neighbour is found with p probes if the rank of its group is below p.
    flat = np.sort(np.concatenate(ranks, axis=None))
    return replace(hashing, probes=int(flat[math.ceil(target * len(flat) - 1e-9) - 1]) + 1)


def choose_group_count(rows: int, target: int = TARGET_GROUP_SIZE) -> int:
    """The number of groups b for a space: a power of two, so that groups hold target/2 to target rows.

    With learned columns almost every vector has a positive best projection, so that b/2 groups share the
    rows.
    """
    columns = 1
    while columns * target < rows:
        columns *= 2
    return 2 * columns


def needs_regrouping(rows: int, hashing: Hashing) -> bool:
    """Whether the groups hold twice as many rows as they should."""
    return rows > TARGET_GROUP_SIZE * hashing.groups


def _validate_group_count(groups: int) -> None:
    if groups < 2 or groups % 2:
        raise InvalidInput(f"b, the number of groups, must be even and at least 2, got {groups}")
