"""Questions about everything that is known."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from thinkback.memory import Memory
from thinkback.recall.overview import asks_for_overview


@pytest.mark.parametrize(
    ("text", "is_overview"),
    [
        ("what do you know about me?", True),
        ("What do u remember about me", True),
        ("tell me everything you know about me", True),
        ("who am I?", True),
        ("what have I told you so far", True),
        ("你都记得我什么？", True),
        ("你对我了解多少", True),
        ("what do you know about my cat?", False),
        ("who am I meeting tomorrow?", False),
        ("what do you remember of the party?", False),
        ("你记得我妹妹叫什么吗", False),
    ],
)
def test_overviews_are_recognised(text: str, is_overview: bool) -> None:
    assert asks_for_overview(text) == is_overview


def test_newest_facts_are_recalled_and_said(memory: Memory) -> None:
    for number in range(12):
        memory.remember(f"I own boat number {number}.")
    memory.remember("I live in Bergen and work at a bakery.")
    memory.post_think()
    found = " ".join(item.text for item in memory.recall("What do you know about me?"))
    assert "Bergen" in found
    answer = memory.chat("what do u know about me").text
    assert "Bergen" in answer
    assert "bakery" in answer


def test_forgotten_facts_are_not_in_an_overview(memory: Memory) -> None:
    memory.remember("I live in Bergen.")
    memory.remember("My salary is 5000 euros.")
    memory.post_think()
    memory.remember("forget my salary")
    assert "5000" not in " ".join(item.text for item in memory.recall("What do you know about me?"))


def test_overview_of_a_time_before_anything_was_true(memory: Memory) -> None:
    memory.remember("I live in Bergen.")
    memory.post_think()
    assert memory.recall("What do you know about me?", as_of=datetime(2001, 1, 1, tzinfo=UTC)).items == ()
