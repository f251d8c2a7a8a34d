"""Runs benchmarks/session_context.py on a shorter conversation: the context stays small and complete."""

from __future__ import annotations

from benchmarks.session_context import bounded, excluded, hostile


def test_context_does_not_grow_and_keeps_facts() -> None:
    figures = bounded(turns=160, embedder="hashing", show=False)
    assert figures["growth"] <= 1.05
    assert figures["facts_kept"] >= 0.95


def test_excluded_options_are_shown_with_their_reasons() -> None:
    figures = excluded("hashing", show=False)
    assert (figures["options"], figures["named_with_reason"], figures["mentioned_as_open"]) == (40, 40, 0)


def test_hostile_replies_lose_no_item() -> None:
    figures = hostile("hashing")
    assert figures["items"] >= 15
    assert set(figures["lost"].values()) == {0}
