"""The paper's own way to search, and the default, by name."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.conftest import OpenMemory

from thinkback.errors import InvalidInput
from thinkback.memory import Memory
from thinkback.presets import HYBRID, TIM, preset


def test_an_unknown_name_lists_the_known() -> None:
    with pytest.raises(InvalidInput, match="no preset 'best': choose from fading, hybrid, tim"):
        preset("best")


def test_tim_looks_into_the_querys_own_group_of_a_random_matrix_only(open_memory: OpenMemory) -> None:
    memory = open_memory(preset="tim")
    for number in range(150):
        memory.remember(f"I own boat {number} painted with pattern {number * 7919 % 1000}.")
    memory.post_think()
    hashing = memory.store.hashing("default")
    assert hashing is not None
    assert (hashing.learned, hashing.probes) == (False, 1)
    text = memory.turns()[42].text
    found = memory.recall(text + " indeed", explain=True)
    assert found.probes == 1
    assert {item.group for item in (*found.items, *found.dropped)} <= {found.group}
    assert all(item.score.total == pytest.approx(item.score.cosine) for item in found)


def test_the_default_finds_what_tim_misses(open_memory: OpenMemory) -> None:
    faithful, default = open_memory(preset=TIM), open_memory(preset=HYBRID)
    for number in range(120):
        faithful.remember(f"Boat {number} has pattern {number * 7919 % 1000}.")
    texts = [turn.text for turn in faithful.turns()]

    def found(memory: Memory) -> int:
        answers = [memory.recall(f"Tell me of {text}", k=1) for text in texts]
        return sum(text in [item.text for item in found] for found, text in zip(answers, texts, strict=True))

    assert found(default) == len(texts)
    assert 0 < found(faithful) < len(texts)


def test_a_preset_of_ones_own(open_memory: OpenMemory) -> None:
    memory = open_memory(preset=replace(HYBRID, name="strict", threshold=0.99, nearly=0.99))
    memory.remember("I live in Lyon.")
    assert len(memory.recall("Where do I live?")) == 0
