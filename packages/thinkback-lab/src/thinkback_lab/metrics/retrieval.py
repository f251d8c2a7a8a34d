"""Retrieval metrics: whether and how high in the list the gold items were recalled.

  hit@k     one of the first k memories comes from a gold item (TiM's retrieval accuracy at k = 5)
  recall@k  share of the gold items that the first k memories come from (PerLTQA, table 5)
  mrr       1 / rank of the first memory that comes from a gold item

A thought counts through its source turns. `abstained` is the only metric of unanswerable questions: nothing
was recalled.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence


def ranking_scores(
    gold: Collection[str], found: Sequence[Collection[str]], ks: Sequence[int]
) -> dict[str, float]:
    """Scores of one question; `found` are the sources of each memory, best first."""
    gold_ids = set(gold)
    hits_by_rank = [gold_ids.intersection(sources) for sources in found]
    first = next((rank for rank, hits in enumerate(hits_by_rank, start=1) if hits), None)
    scores: dict[str, float] = {}
    for k in ks:
        scores[f"hit@{k}"] = float(first is not None and first <= k)
    for k in ks:
        scores[f"recall@{k}"] = len(set().union(*hits_by_rank[:k])) / len(gold_ids)
    scores["mrr"] = 0.0 if first is None else 1 / first
    return scores


def context_scores(gold: Collection[str], found: Sequence[Collection[str]]) -> dict[str, float]:
    """Whether the reader's context contains a gold item, and what share of them."""
    gold_ids = set(gold)
    present = gold_ids.intersection(set().union(*found))
    return {"in_context": float(bool(present)), "context_recall": len(present) / len(gold_ids)}
