"""Classification as PerLTQA measures it (table 4): precision, recall and F1 weighted by how many there are.

A class that is never said has precision 0. Recall weighted so is the accuracy, as the paper's table shows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

Confusion = dict[str, dict[str, int]]


def confusion_matrix(true: Sequence[str], said: Sequence[str]) -> Confusion:
    """How often each true class was said to be which; what is only ever said has an empty row."""
    counted = Counter(zip(true, said, strict=True))
    labels = sorted({*true, *said})
    return {one: {other: counted[one, other] for other in labels} for one in labels}


def class_scores(table: Confusion) -> dict[str, dict[str, float]]:
    """n, precision, recall and F1 of every true class."""
    told = {}
    for label, row in table.items():
        there, right = sum(row.values()), row[label]
        if there:
            precision = right / (sum(each[label] for each in table.values()) or 1)
            recall = right / there
            f1 = 2 * precision * recall / (precision + recall) if right else 0.0
            told[label] = {"n": there, "precision": precision, "recall": recall, "f1": f1}
    return told


def weighted_scores(table: Confusion) -> dict[str, float]:
    """The figures of the classes, each weighted by its number, and the accuracy."""
    rows = class_scores(table)
    n = sum(row["n"] for row in rows.values())
    told = {
        name: sum(row["n"] * row[name] for row in rows.values()) / n for name in ("precision", "recall", "f1")
    }
    return told | {"accuracy": sum(table[label][label] for label in table) / n}
