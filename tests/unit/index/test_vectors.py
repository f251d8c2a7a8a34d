"""Bit sketches rank like angles and are compared exactly."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thinkback.index.vectors import compute_sketches, hamming_distances, random_planes


def vectors(rows: int, dim: int, seed: int) -> npt.NDArray[np.float32]:
    return np.random.default_rng(seed).standard_normal((rows, dim), dtype=np.float32)


@given(st.integers(1, 40), st.integers(1, 700), st.integers(0, 1000))
def test_distance_counts_separating_planes(rows: int, dim: int, seed: int) -> None:
    x = vectors(rows, dim, seed)
    sides = x @ random_planes(dim).T
    certain = (np.abs(sides) > 1e-4).all(axis=1) & bool((np.abs(sides[0]) > 1e-4).all())
    counted = ((sides > 0) != (sides[0] > 0)).sum(axis=1)
    apart = hamming_distances(list(compute_sketches(x)), list(compute_sketches(x[:1])[:, 0]))
    assert apart[certain].tolist() == counted[certain].tolist()


@pytest.mark.parametrize("dim", [3, 64, 512, 700])
def test_planes_are_orthogonal_and_deterministic(dim: int) -> None:
    across = random_planes(dim)
    assert across.shape == (min(dim, 512), dim)
    assert np.allclose(across @ across.T, np.eye(len(across)), atol=1e-5)
    random_planes.cache_clear()
    assert (random_planes(dim) == across).all()


def test_distance_grows_with_the_angle() -> None:
    a, b = vectors(2, 512, seed=1)
    mixed = np.stack([(1 - share) * a + share * b for share in (0.0, 0.2, 0.4, 0.6, 0.8)])
    apart = hamming_distances(
        list(compute_sketches(mixed)), list(compute_sketches(a[None, :])[:, 0])
    ).tolist()
    assert apart == sorted(apart)
    assert apart[0] == 0
