"""Logistic regression on hashed and dense features in plain numpy, the same bytes on every run.

Products are sums in a fixed order (`bincount`, `einsum` without BLAS), so that the number of threads does not
change the result.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]
    Integers = npt.NDArray[np.int64]

HISTORY = 12  # of L-BFGS
MAX_HALVINGS = 20
MIN_DECREASE = 1e-4  # Armijo's condition
MIN_RELATIVE_PROGRESS = 1e-7


@dataclass(frozen=True, slots=True, eq=False)
class SparseRows:
    """A matrix of hashed features: `values[i]` is added to row `rows[i]`, column `columns[i]`.

    Columns are numbered by the buckets that occur; `buckets` gives the bucket of each column.
    """

    rows: Integers
    columns: Integers
    values: Floats
    buckets: Integers
    count: int

    @classmethod
    def build(cls, features: Sequence[tuple[Integers, Floats]]) -> SparseRows:
        rows = np.repeat(np.arange(len(features)), [len(slots) for slots, _ in features])
        buckets, columns = np.unique(np.concatenate([slots for slots, _ in features]), return_inverse=True)
        values = np.concatenate([values for _, values in features])
        return cls(rows, columns, values, buckets, len(features))

    def times(self, weights: Floats) -> Floats:
        products = self.values * weights[self.columns]
        return np.asarray(np.bincount(self.rows, products, minlength=self.count), dtype=np.float64)

    def transposed_times(self, column: Floats) -> Floats:
        products = self.values * column[self.rows]
        return np.asarray(np.bincount(self.columns, products, minlength=len(self.buckets)), dtype=np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class Fitted:
    """Weights by bucket (`words`) and of the dense columns."""

    words: Floats
    dense: Floats


def fit_logistic(
    sparse: SparseRows,
    dense: Floats,
    targets: Floats,
    *,
    bucket_count: int,
    inverse_regularisation: float,
    iterations: int = 300,
    sample_weights: Floats | None = None,
) -> Fitted:
    """Minimise the log loss plus |w|^2 / (2 C), C being `inverse_regularisation`, as scikit-learn does."""
    split = len(sparse.buckets)
    importance = np.ones(sparse.count) if sample_weights is None else sample_weights

    def loss_and_gradient(weights: Floats) -> tuple[float, Floats]:
        logits = sparse.times(weights[:split]) + np.einsum("ij,j->i", dense, weights[split:])
        errors = importance * (1 / (1 + np.exp(-logits)) - targets)
        loss = float(np.sum(importance * (np.logaddexp(0, logits) - targets * logits)))
        penalty = float(np.sum(weights * weights)) / (2 * inverse_regularisation)
        gradient = np.concatenate([sparse.transposed_times(errors), np.einsum("ij,i->j", dense, errors)])
        return loss + penalty, gradient + weights / inverse_regularisation

    weights = minimise(loss_and_gradient, np.zeros(split + dense.shape[1]), iterations)
    words = np.zeros(bucket_count)
    words[sparse.buckets] = weights[:split]
    return Fitted(words, weights[split:])


def minimise(
    loss_and_gradient: Callable[[Floats], tuple[float, Floats]], start: Floats, iterations: int
) -> Floats:
    """L-BFGS with backtracking; stops when a step hardly changes the loss."""
    point = start
    loss, gradient = loss_and_gradient(point)
    steps: list[tuple[Floats, Floats]] = []
    for _ in range(iterations):
        direction = _descent_direction(gradient, steps)
        slope = float(np.sum(gradient * direction))
        size = 1.0 if steps else 1 / max(float(np.sqrt(np.sum(gradient**2))), 1.0)
        for _ in range(MAX_HALVINGS):
            candidate = point + size * direction
            new_loss, new_gradient = loss_and_gradient(candidate)
            if new_loss <= loss + MIN_DECREASE * size * slope:
                break
            size /= 2
        else:
            return point
        steps.append((candidate - point, new_gradient - gradient))
        del steps[:-HISTORY]
        finished = loss - new_loss <= MIN_RELATIVE_PROGRESS * max(abs(loss), 1.0)
        point, loss, gradient = candidate, new_loss, new_gradient
        if finished:
            break
    return point


def _descent_direction(gradient: Floats, steps: Sequence[tuple[Floats, Floats]]) -> Floats:
    """The two-loop recursion of L-BFGS."""
    direction = -gradient
    factors: list[tuple[float, float]] = []
    for step, change in reversed(steps):
        rho = 1 / float(np.sum(step * change))
        alpha = rho * float(np.sum(step * direction))
        factors.append((rho, alpha))
        direction = direction - alpha * change
    if steps:
        step, change = steps[-1]
        direction = direction * (float(np.sum(step * change)) / float(np.sum(change * change)))
    for (step, change), (rho, alpha) in zip(steps, reversed(factors), strict=True):
        beta = rho * float(np.sum(change * direction))
        direction = direction + (alpha - beta) * step
    return direction
