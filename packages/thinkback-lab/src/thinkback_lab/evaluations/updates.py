"""Scores the marks of a tuned model on examples with gold (`training.update_examples`).

An update is a known fact that is marked as replaced or ended. It is right if the gold marks the fact as one
of the two. Marks below a log probability are left out. The gold marks a sentence only if all its facts are
gone, so many updates that count as wrong are right in part (`benchmarks/updates.py`).
"""

from __future__ import annotations

import gzip
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from thinkback.think.update_form import mark_probabilities, parse_reply
from thinkback_lab.errors import LabError


@dataclass(frozen=True, slots=True)
class MarkedFact:
    """A known fact of an example: whether the gold and the model mark it as outdated, and how surely."""

    lang: str
    outdated: bool
    marked: bool
    log_probability: float


def read_marked_facts(examples: Path, replies: Path) -> list[MarkedFact]:
    """The known facts of examples with what a model replied.

    Raises:
        LabError: the replies belong to other examples.
    """
    rows, answers = read_json_rows(examples), read_json_rows(replies)
    if [(row["life"], row["turn"]) for row in rows] != [(row["life"], row["turn"]) for row in answers]:
        raise LabError(f"{replies} has not the replies to {examples}")
    facts = []
    for row, answer in zip(rows, answers, strict=True):
        marks, sure = dict(parse_reply(answer["reply"])), mark_probabilities(answer.get("tokens") or ())
        for number, gold in parse_reply(row["reply"]):
            marked = marks.get(number, "keep") != "keep"
            facts.append(MarkedFact(row["lang"], gold != "keep", marked, sure.get(number, -math.inf)))
    return facts


def score_updates(facts: Sequence[MarkedFact], thresholds: Sequence[float]) -> dict[str, dict[str, Any]]:
    """Precision and recall of the updates, for each threshold of the log probability."""
    wanted = sum(fact.outdated for fact in facts)
    figures = {}
    for threshold in thresholds:
        found = [fact for fact in facts if fact.marked and fact.log_probability >= threshold]
        right = sum(fact.outdated for fact in found)
        figures[f"log probability >= {threshold}"] = {
            "known": len(facts),
            "outdated": wanted,
            "found": len(found),
            "precision": round(right / len(found), 4) if found else None,
            "recall": round(right / wanted, 4) if wanted else None,
        }
    return figures


def read_json_rows(path: Path) -> list[Any]:
    """The rows of a file of JSON lines, plain or gzipped."""
    open_text = gzip.open if path.suffix == ".gz" else open
    with open_text(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]
