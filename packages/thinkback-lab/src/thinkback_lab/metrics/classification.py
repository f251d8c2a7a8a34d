"""Classification metrics of PerLTQA's table 4: precision, recall and F1, weighted by class size.

A class that is never predicted has precision 0. Weighted recall equals accuracy, as in the paper.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

Confusion = dict[str, dict[str, int]]


def confusion_matrix(true: Sequence[str], predicted: Sequence[str]) -> Confusion:
    """Counts by true class and prediction; a label that occurs only as a prediction has an empty row."""
    counted = Counter(zip(true, predicted, strict=True))
    labels = sorted({*true, *predicted})
    return {one: {other: counted[one, other] for other in labels} for one in labels}


def class_scores(table: Confusion) -> dict[str, dict[str, float]]:
    """n, precision, recall and F1 of every true class."""
    scores = {}
    for label, row in table.items():
        total, correct = sum(row.values()), row[label]
        if total:
            precision = correct / (sum(each[label] for each in table.values()) or 1)
            recall = correct / total
            f1 = 2 * precision * recall / (precision + recall) if correct else 0.0
            scores[label] = {"n": total, "precision": precision, "recall": recall, "f1": f1}
    return scores


def weighted_scores(table: Confusion) -> dict[str, float]:
    """Scores of the classes weighted by their size, and the accuracy."""
    rows = class_scores(table)
    n = sum(row["n"] for row in rows.values())
    scores = {
        name: sum(row["n"] * row[name] for row in rows.values()) / n for name in ("precision", "recall", "f1")
    }
    return scores | {"accuracy": sum(table[label][label] for label in table) / n}
