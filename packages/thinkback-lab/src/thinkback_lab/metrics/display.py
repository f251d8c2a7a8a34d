"""What the figures of a run mean, which of them lead, and how they are written."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

_RANK_METRIC = re.compile(r"(hit|recall)@(\d+)")
_MEANINGS = {
    "mrr": "1 / rank of the first memory that comes from a gold item",
    "in_context": "a gold item is in what the reader is given",
    "context_recall": "share of the gold items in what the reader is given",
    "abstained": "nothing came back for a question the history does not answer",
    "anchor_map": "share of the anchors that the answer says (PerLTQA's MAP)",
    "anchor_recall": "share of the anchors in what the reader is given",
    "correctness": "1: the answer says all anchors, 0.5: some, 0: none",
    "f1": "words shared by the answer and the expected one",
    "judge_correctness": "correctness by the judge: 0, 0.5 or 1",
    "judge_coherence": "coherence by the judge: 0, 0.5 or 1",
    "judge_score": "the judge's score from 0 to 10",
    "context_tokens": "tokens given to the reader (fewer are cheaper)",
    "consistency": "agreement of the answers when the same is asked again",
}
_LEADING_METRICS = (
    "hit@1", "hit@5", "recall@5", "mrr", "judge_correctness", "judge_coherence", "correctness",
    "anchor_recall", "anchor_map", "f1", "abstained", "consistency",
)  # fmt: skip
LOWER_IS_BETTER = frozenset(("context_tokens", "ms_per_query"))


def describe_metric(name: str) -> str:
    if found := _RANK_METRIC.fullmatch(name):
        what, k = found.groups()
        first = "the first memory" if k == "1" else f"one of the first {k} memories"
        share = "the first memory comes" if k == "1" else f"the first {k} memories come"
        return (
            f"{first} comes from a gold item"
            if what == "hit"
            else f"share of the gold items that {share} from"
        )
    return _MEANINGS.get(name, "")


def leading_metrics(names: Iterable[str]) -> list[str]:
    """The figures that are looked at first, of those there are."""
    there = list(names)
    return [name for name in _LEADING_METRICS if name in there] or there[:3]


def rate_metrics(names: Iterable[str]) -> list[str]:
    """Up to three leading figures between 0 and 1: retrieval first, then what became of it."""
    lead = [name for name in leading_metrics(names) if name not in ("judge_score", *LOWER_IS_BETTER)]
    chosen = [name for name in ("hit@1", "hit@5", "recall@5") if name in lead]
    return (chosen + [name for name in lead if name not in chosen])[:3]


def format_metric(name: str, value: object) -> str:
    """Three places for a share, one for a count of tokens or milliseconds, a dash for nothing."""
    if not isinstance(value, int | float):
        return "-"
    return f"{value:,.1f}" if name in LOWER_IS_BETTER else f"{value:.3f}"


def format_interval(results: Mapping[str, Any], name: str) -> str:
    bounds = results.get("intervals", {}).get(name)
    return f"{format_metric(name, bounds[0])} – {format_metric(name, bounds[1])}" if bounds else "-"
