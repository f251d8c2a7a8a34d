"""Facts that are told beside a question are kept without a model, and found when they are asked for."""

from __future__ import annotations

from benchmarks.facts_in_questions import HELD_OUT, count, read_messages


def test_held_out_messages() -> None:
    messages = read_messages([HELD_OUT])[::2]
    counts = count(messages, "minilm+use", "hybrid")
    assert counts["covered"] >= 0.7 * counts["facts"]
    assert counts["found"] >= 0.8 * counts["facts"]
    assert counts["silent"] >= 0.8 * counts["empty"]
