"""The figures of one question, from its record."""

from __future__ import annotations

from collections.abc import Sequence

from thinkback_lab.metrics.answers import anchored, correctness, f1
from thinkback_lab.metrics.retrieval import held, ranked
from thinkback_lab.runs.record import Record


def scores(record: Record, ks: Sequence[int]) -> dict[str, float]:
    """Where no model answered, the first memory found stands for the answer."""
    told: dict[str, float] = {}
    if record.gold:
        told |= ranked(record.gold, [each.sources for each in record.found], ks)
        told |= held(record.gold, [each.sources for each in record.context])
    if not record.answerable:
        told["abstained"] = float(not record.found)
    elif record.anchors or record.expected:
        told |= _answered(record)
    return told | {"context_tokens": float(record.context_tokens)}


def _answered(record: Record) -> dict[str, float]:
    first = record.found[0].text if record.found else ""
    answer = first if record.answer is None else record.answer
    told: dict[str, float] = {}
    if record.anchors:
        said = anchored(answer, record.anchors)
        told["anchor_map"] = said
        told["anchor_recall"] = anchored("\n".join(each.text for each in record.context), record.anchors)
        told["correctness"] = correctness(said)
    if record.expected:
        told["f1"] = f1(answer, record.expected)
    return told
