"""Properties of H(x) = argmax([xR; -xR]) (TiM (arXiv), Eq. 1), for random and learned R."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thinkback.errors import InvalidInput
from thinkback.index import lsh
from thinkback.types import Hashing

Matrix = npt.NDArray[np.float32]


def unit(rows: npt.NDArray[np.float64]) -> Matrix:
    lengths: npt.NDArray[np.float64] = np.linalg.norm(rows, axis=1, keepdims=True)
    return (rows / lengths).astype(np.float32)


def clusters(n: int, dim: int = 32, seed: int = 0) -> Matrix:
    random = np.random.default_rng(seed)
    centres = random.standard_normal((max(2, n // 40), dim))
    return unit(centres[random.integers(0, len(centres), n)] + 0.5 * random.standard_normal((n, dim)))


seeds = st.integers(0, 2**32 - 1)
widths = st.integers(1, 40).map(lambda half: 2 * half)


def hashing_of(kind: bool, groups: int, seed: int) -> Hashing:
    return lsh.learned_hashing(clusters(200), groups, seed) if kind else lsh.random_hashing(32, groups, seed)


@given(st.booleans(), widths, seeds, st.floats(0.01, 100))
def test_equal_and_scaled_vectors_share_a_group(kind: bool, groups: int, seed: int, scale: float) -> None:
    hashing = hashing_of(kind, groups, seed % 5)
    x = np.random.default_rng(seed).standard_normal((5, 32)).astype(np.float32)
    found = lsh.assign_groups(hashing, x)
    assert ((found >= 0) & (found < groups)).all()
    assert (lsh.assign_groups(hashing, np.repeat(x, 2, axis=0)) == np.repeat(found, 2)).all()
    assert (lsh.assign_groups(hashing, np.float32(scale) * x) == found).all()


@given(st.booleans(), widths, seeds)
def test_opposite_vector_has_the_opposite_group(kind: bool, groups: int, seed: int) -> None:
    hashing = hashing_of(kind, groups, seed % 5)
    x = np.random.default_rng(seed).standard_normal((5, 32)).astype(np.float32)
    assert (lsh.assign_groups(hashing, -x) == (lsh.assign_groups(hashing, x) + groups // 2) % groups).all()


@given(st.booleans(), widths, seeds, st.integers(1, 80))
def test_ranked_groups_are_a_permutation_starting_with_the_own_group(
    kind: bool, groups: int, seed: int, count: int
) -> None:
    hashing = hashing_of(kind, groups, seed % 5)
    x = np.random.default_rng(seed).standard_normal(32).astype(np.float32)
    ranked = lsh.rank_groups(hashing, x)
    assert sorted(ranked.tolist()) == list(range(groups))
    assert ranked[0] == lsh.assign_groups(hashing, x[None, :])[0]
    both = np.concatenate([x @ hashing.matrix, -(x @ hashing.matrix)])
    assert (np.diff(both[ranked]) <= 0).all()
    assert (lsh.nearest_groups(x @ hashing.matrix, count) == ranked[:count]).all()


def test_ties_go_to_the_lowest_group() -> None:
    hashing = Hashing(np.array([[1, 1, 0]], np.float32), seed=0, learned=False, probes=1, size=0)
    x = np.array([[2], [-2], [0]], np.float32)
    assert lsh.assign_groups(hashing, x).tolist() == [0, 3, 0]
    assert lsh.rank_groups(hashing, x[2]).tolist() == [0, 1, 2, 3, 4, 5]


def test_collisions_decrease_with_the_angle() -> None:
    random = np.random.default_rng(7)
    x = unit(random.standard_normal((400, 24)))
    other = random.standard_normal((400, 24))
    away = unit(other - (other * x).sum(axis=1, keepdims=True) * x)  # a right angle to x
    rates = []
    for angle in (0.1, 0.4, 0.8, 1.2, 1.57):
        y = np.cos(angle) * x + np.sin(angle) * away
        same = [
            (lsh.assign_groups(h, x) == lsh.assign_groups(h, y)).mean()
            for h in (lsh.random_hashing(24, 16, s) for s in range(10))
        ]
        rates.append(np.mean(same))
    assert rates == sorted(rates, reverse=True)
    assert rates[0] > 0.8
    assert rates[-1] < 0.15


def test_random_hashing_depends_only_on_the_seed() -> None:
    one, same, other = (lsh.random_hashing(8, 6, seed, size=3) for seed in (1, 1, 2))
    assert one.matrix.shape == (8, 3)
    assert (one.probes, one.learned, one.size, one.groups) == (1, False, 3, 6)
    assert (one.matrix == same.matrix).all()
    assert (one.matrix != other.matrix).any()


def test_learned_hashing_is_deterministic_with_unit_columns() -> None:
    x = clusters(500)
    one, same = lsh.learned_hashing(x, 32, 3), lsh.learned_hashing(x, 32, 3)
    assert (one.matrix == same.matrix).all()
    assert (one.learned, one.size) == (True, 500)
    assert np.allclose(np.linalg.norm(one.matrix, axis=0), 1, atol=1e-5)


@pytest.mark.parametrize("n", [1, 3, 40])
def test_learned_hashing_accepts_few_or_equal_vectors(n: int) -> None:
    same = np.repeat(clusters(1), n, axis=0)
    hashing = lsh.learned_hashing(same, 16, 0)
    assert np.isfinite(hashing.matrix).all()
    assert len(set(lsh.assign_groups(hashing, same).tolist())) == 1


def test_learned_groups_are_better_balanced_than_random_ones() -> None:
    x = unit(clusters(2000).astype(np.float64) + 0.3)
    learned, drawn = lsh.learned_hashing(x, 64, 0), lsh.random_hashing(32, 64, 0)
    largest = [np.bincount(lsh.assign_groups(h, x)).max() for h in (learned, drawn)]
    assert largest[0] < largest[1]


def recall(hashing: Hashing, queries: Matrix, x: Matrix, k: int = 10) -> float:
    """Recall@k by looking into the probed groups, one query after the other."""
    groups = lsh.assign_groups(hashing, x)
    found = 0
    for query in queries:
        probed = np.isin(groups, lsh.rank_groups(hashing, query)[: hashing.probes])
        best = np.argsort(-(x @ query))[:k]
        found += int(probed[best].sum())
    return found / (k * len(queries))


@pytest.mark.parametrize("kind", [True, False])
@pytest.mark.parametrize("target", [0.5, 0.95, 1.0])
def test_calibration_reaches_the_target_with_the_fewest_probes(kind: bool, target: float) -> None:
    x = clusters(1500, seed=2)
    random = np.random.default_rng(5)
    queries = unit(x[random.integers(0, len(x), 150)] + 0.15 * random.standard_normal((150, 32)))
    hashing = lsh.learned_hashing(x, 64, 0) if kind else lsh.random_hashing(32, 64, 0)
    done = lsh.calibrate_probes(hashing, queries, x, lsh.assign_groups(hashing, x), target=target)
    assert recall(done, queries, x) >= target - 1e-9
    if done.probes > 1:
        fewer = Hashing(done.matrix, done.seed, done.learned, done.probes - 1, done.size)
        assert recall(fewer, queries, x) < target


def test_calibration_without_data_changes_nothing() -> None:
    hashing = lsh.random_hashing(4, 4, 0)
    none = np.zeros((0, 4), np.float32)
    assert lsh.calibrate_probes(hashing, none, none, np.zeros(0, np.int64)) is hashing


@given(st.integers(0, 10**7), st.integers(2, 500))
def test_group_count_is_a_fitting_power_of_two(n: int, target: int) -> None:
    width = lsh.choose_group_count(n, target)
    assert width >= 2
    assert width & (width - 1) == 0
    assert n / (width / 2) <= target
    assert width == 2 or n / (width / 2) > target / 2


@given(st.integers(0, 10**5))
def test_group_count_lasts_until_the_space_has_doubled(n: int) -> None:
    hashing = lsh.random_hashing(1, lsh.choose_group_count(n), 0)
    assert not lsh.needs_regrouping(2 * n, hashing)
    assert lsh.needs_regrouping(max(4 * n, 100) + 1, hashing)


def test_invalid_hashing_input_is_rejected() -> None:
    for groups in (0, 1, 3, -2):
        with pytest.raises(InvalidInput, match="even"):
            lsh.random_hashing(4, groups, 0)
    with pytest.raises(InvalidInput, match="dimension"):
        lsh.random_hashing(0, 2, 0)
    with pytest.raises(InvalidInput, match="at least one vector"):
        lsh.learned_hashing(np.zeros((0, 4), np.float32), 2, 0)
    hashing = lsh.random_hashing(4, 4, 0)
    with pytest.raises(InvalidInput, match="target"):
        lsh.calibrate_probes(hashing, clusters(2, 4), clusters(2, 4), np.zeros(2, np.int64), target=0)
