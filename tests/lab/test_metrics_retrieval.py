"""Retrieval metrics: by hand, and properties for arbitrary lists."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thinkback_lab.metrics.retrieval import context_scores, ranking_scores

KS = (1, 2, 3, 5, 10)
IDS = st.sampled_from("abcdefgh")
GOLD = st.lists(IDS, min_size=1, max_size=4).map(tuple)
FOUND = st.lists(st.lists(IDS, max_size=3).map(tuple), max_size=12)


def test_metrics_by_hand() -> None:
    told = ranking_scores(("a", "b"), [("x",), ("a", "x"), (), ("a", "b")], KS)
    assert [told[f"hit@{k}"] for k in KS] == [0, 1, 1, 1, 1]
    assert [told[f"recall@{k}"] for k in KS] == [0, 0.5, 0.5, 1, 1]
    assert told["mrr"] == 0.5
    assert context_scores(("a", "b"), [("a",), ("x",)]) == {"in_context": 1, "context_recall": 0.5}


def test_empty_recall_scores_zero() -> None:
    assert set(ranking_scores(("a",), [], KS).values()) == {0}
    assert set(context_scores(("a",), []).values()) == {0}


@given(GOLD, FOUND)
def test_scores_are_bounded_and_monotonic(gold: tuple[str, ...], found: list[tuple[str, ...]]) -> None:
    told = ranking_scores(gold, found, KS)
    assert all(0 <= value <= 1 for value in told.values())
    for name in ("hit", "recall"):
        curve = [told[f"{name}@{k}"] for k in KS]
        assert curve == sorted(curve)
    for k in KS:
        assert told[f"recall@{k}"] <= told[f"hit@{k}"]
        assert (told[f"recall@{k}"] > 0) == bool(told[f"hit@{k}"])
        assert (told["mrr"] >= 1 / k) == bool(told[f"hit@{k}"])
    assert (told["mrr"] == 1) == (told["hit@1"] == 1)


@given(GOLD, FOUND)
def test_repeated_gold_item_counts_once(gold: tuple[str, ...], found: list[tuple[str, ...]]) -> None:
    assert ranking_scores(gold * 2, found, KS) == ranking_scores(gold, found, KS)


@given(GOLD, FOUND)
def test_context_contains_at_least_first_k(gold: tuple[str, ...], found: list[tuple[str, ...]]) -> None:
    k = max(len(found), 1)
    told, there = ranking_scores(gold, found, (k,)), context_scores(gold, found)
    assert there["in_context"] == told[f"hit@{k}"]
    assert there["context_recall"] == pytest.approx(told[f"recall@{k}"])


@given(GOLD, FOUND)
def test_gold_memory_at_first_rank_is_hit(gold: tuple[str, ...], found: list[tuple[str, ...]]) -> None:
    told = ranking_scores(gold, [gold, *found], KS)
    assert told["mrr"] == told["hit@1"] == told["recall@1"] == 1
