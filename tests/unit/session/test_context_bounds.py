"""The figures of benchmarks/working.py on a shorter talk: the context stays small and keeps what was told."""

from __future__ import annotations

from benchmarks.working import bounded, excluded, hostile


def test_the_context_does_not_grow_and_holds_what_is_asked_for() -> None:
    figures = bounded(turns=160, embedder="hashing", show=False)
    assert figures["growth"] <= 1.05
    assert figures["facts_kept"] >= 0.95


def test_every_excluded_option_is_named_with_its_reason_and_none_is_open() -> None:
    figures = excluded("hashing", show=False)
    assert (figures["options"], figures["named_with_reason"], figures["mentioned_as_open"]) == (40, 40, 0)


def test_no_hostile_reply_loses_an_item() -> None:
    figures = hostile("hashing")
    assert figures["items"] >= 15
    assert set(figures["lost"].values()) == {0}
