"""Retrieval: whether, how fully and how high in the list the items that hold the answer came back.

    hit@k     one of the first k memories comes from a gold item (TiM's retrieval accuracy, at k = 5)
    recall@k  the share of the gold items that the first k memories come from (PerLTQA, table 5)
    mrr       1 / the rank of the first memory that comes from a gold item

A thought counts through the turns it was drawn from. `abstained` is all that is asked of a question that the
history does not answer: that nothing came back.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence


def ranking_scores(
    gold: Collection[str], found: Sequence[Collection[str]], ks: Sequence[int]
) -> dict[str, float]:
    """The figures of one question; `found` are the sources of each memory, best first."""
    wanted = set(gold)
    right = [wanted.intersection(sources) for sources in found]
    first = next((rank for rank, held in enumerate(right, start=1) if held), None)
    told: dict[str, float] = {}
    for k in ks:
        told[f"hit@{k}"] = float(first is not None and first <= k)
    for k in ks:
        told[f"recall@{k}"] = len(set().union(*right[:k])) / len(wanted)
    told["mrr"] = 0.0 if first is None else 1 / first
    return told


def context_scores(gold: Collection[str], found: Sequence[Collection[str]]) -> dict[str, float]:
    """Whether a gold item is among all that the reader is given, and what share of them."""
    wanted = set(gold)
    there = wanted.intersection(set().union(*found))
    return {"in_context": float(bool(there)), "context_recall": len(there) / len(wanted)}
