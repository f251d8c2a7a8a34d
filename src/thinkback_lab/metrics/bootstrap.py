"""How sure a mean is: percentile intervals from resampling the questions, the same for the same seed."""

from __future__ import annotations

from collections.abc import Sequence

RESAMPLES = 1000
LEVEL = 0.95
_BLOCK = 1 << 22  # numbers drawn at once


def interval(values: Sequence[float], seed: int = 0) -> tuple[float, float]:
    """The 95% interval of the mean of `values`."""
    import numpy as np

    sample = np.asarray(values, dtype=np.float64)
    if len(sample) < 2 or np.ptp(sample) == 0:
        mean = float(sample.mean())
        return mean, mean
    draw = np.random.default_rng(seed)
    block = max(1, _BLOCK // len(sample))
    means = np.concatenate(
        [
            sample[draw.integers(len(sample), size=(min(block, RESAMPLES - start), len(sample)))].mean(axis=1)
            for start in range(0, RESAMPLES, block)
        ]
    )
    low, high = np.quantile(means, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(low), float(high)
