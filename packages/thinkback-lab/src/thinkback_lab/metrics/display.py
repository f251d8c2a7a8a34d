"""Names, order and formatting of metrics."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

_RANK_METRIC = re.compile(r"(hit|recall)@(\d+)")
_MEANINGS = {
    "mrr": "1 / rank of the first memory that comes from a gold item",
    "in_context": "the reader's context contains a gold item",
    "context_recall": "share of the gold items in the reader's context",
    "abstained": "nothing was recalled for an unanswerable question",
    "anchor_map": "share of the anchors in the answer (PerLTQA's MAP)",
    "anchor_recall": "share of the anchors in the reader's context",
    "correctness": "1: the answer contains all anchors, 0.5: some, 0: none",
    "f1": "words shared by the answer and the expected one",
    "judge_correctness": "correctness by the judge: 0, 0.5 or 1",
    "judge_coherence": "coherence by the judge: 0, 0.5 or 1",
    "judge_score": "the judge's score from 0 to 10",
    "context_tokens": "tokens given to the reader (fewer are cheaper)",
    "consistency": "similarity of the results when a question is asked again",
}
_LEADING_METRICS = (
    "hit@1", "hit@5", "recall@5", "mrr", "judge_correctness", "judge_coherence", "correctness",
    "anchor_recall", "anchor_map", "f1", "abstained", "consistency",
)  # fmt: skip
LOWER_IS_BETTER = frozenset(("context_tokens", "ms_per_query"))


def describe_metric(name: str) -> str:
    if match := _RANK_METRIC.fullmatch(name):
        what, k = match.groups()
        first = "the first memory" if k == "1" else f"one of the first {k} memories"
        share = "the first memory comes" if k == "1" else f"the first {k} memories come"
        return (
            f"{first} comes from a gold item"
            if what == "hit"
            else f"share of the gold items that {share} from"
        )
    return _MEANINGS.get(name, "")


def leading_metrics(names: Iterable[str]) -> list[str]:
    """The most important of these metrics, in order."""
    available = list(names)
    return [name for name in _LEADING_METRICS if name in available] or available[:3]


def rate_metrics(names: Iterable[str]) -> list[str]:
    """Up to three leading metrics between 0 and 1, retrieval first."""
    leading = [name for name in leading_metrics(names) if name not in ("judge_score", *LOWER_IS_BETTER)]
    retrieval = [name for name in ("hit@1", "hit@5", "recall@5") if name in leading]
    return (retrieval + [name for name in leading if name not in retrieval])[:3]


def format_metric(name: str, value: object) -> str:
    """Three decimals for a share, one for tokens or milliseconds, a dash for None."""
    if not isinstance(value, int | float):
        return "-"
    return f"{value:,.1f}" if name in LOWER_IS_BETTER else f"{value:.3f}"


def format_interval(results: Mapping[str, Any], name: str) -> str:
    bounds = results.get("intervals", {}).get(name)
    return f"{format_metric(name, bounds[0])} – {format_metric(name, bounds[1])}" if bounds else "-"
