"""What a judge replies: TiM's labels {0, 0.5, 1} for correctness and coherence, and a score from 0 to 10.

The reason comes first, so that the figures follow from it. A reply with anything else in it is no verdict.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

LABELS = (0, 0.5, 1)
SCORES = tuple(range(11))
REASON_LENGTH = 200

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "reason": {"type": "string", "maxLength": REASON_LENGTH},
        "correctness": {"type": "number", "enum": list(LABELS)},
        "coherence": {"type": "number", "enum": list(LABELS)},
        "score": {"type": "integer", "enum": list(SCORES)},
    },
    "required": ["reason", "correctness", "coherence", "score"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class Verdict:
    correctness: float
    coherence: float
    score: float
    reason: str = ""


def read(text: str) -> Verdict:
    """Raises ValueError where the text is no verdict."""
    try:
        told = json.loads(text)
    except RecursionError as error:
        raise ValueError("nested without end") from error
    if not isinstance(told, dict):
        raise ValueError("no JSON object")
    reason = told.get("reason")
    return Verdict(
        correctness=_one_of(LABELS, told, "correctness"),
        coherence=_one_of(LABELS, told, "coherence"),
        score=_one_of(SCORES, told, "score"),
        reason=reason[:REASON_LENGTH] if isinstance(reason, str) else "",
    )


def _one_of(allowed: Sequence[float], told: dict[str, Any], name: str) -> float:
    value = told.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or value not in allowed:
        raise ValueError(f"{name} is {json.dumps(value)[:40]}, which is none of {list(allowed)}")
    return float(value)
