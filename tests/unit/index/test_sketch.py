"""Signs rank like angles, and count exactly."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from hypothesis import given
from hypothesis import strategies as st

from thinkback.index.sketch import distances, sketch


def vectors(rows: int, dim: int, seed: int) -> npt.NDArray[np.float32]:
    return np.random.default_rng(seed).standard_normal((rows, dim), dtype=np.float32)


@given(st.integers(1, 40), st.integers(1, 200), st.integers(0, 1000))
def test_the_distance_is_the_number_of_differing_signs(rows: int, dim: int, seed: int) -> None:
    x = vectors(rows, dim, seed)
    counted = ((x > 0) != (x[0] > 0)).sum(axis=1)
    assert distances(list(sketch(x)), list(sketch(x[:1])[:, 0])).tolist() == counted.tolist()


def test_the_distance_grows_with_the_angle() -> None:
    a, b = vectors(2, 2048, seed=1)
    mixed = np.stack([(1 - share) * a + share * b for share in (0.0, 0.2, 0.4, 0.6, 0.8)])
    apart = distances(list(sketch(mixed)), list(sketch(a[None, :])[:, 0])).tolist()
    assert apart == sorted(apart)
    assert apart[0] == 0
