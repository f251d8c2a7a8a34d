"""Forgetting by time: faded thoughts rank lower or are archived, but never retired."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conftest import FakeClock, OpenMemory
from tests.factories import NOW
from tests.scripted_reader import ScriptedReader, add, fact

from thinkback.errors import InvalidInput
from thinkback.memory import Memory
from thinkback.presets import HYBRID, Retention
from thinkback.recall.score import retention_factor

POLICY = Retention(days=10)
DAY = 86_400.0


@given(st.floats(0, 1e4), st.floats(0, 1e4), st.integers(0, 50))
def test_retention_falls_with_time_and_rises_with_recalls(sooner: float, later: float, times: int) -> None:
    first, second = (
        retention_factor(POLICY, NOW, times, NOW + timedelta(days=day)) for day in sorted((sooner, later))
    )
    assert 0 <= second <= first <= 1
    assert retention_factor(POLICY, NOW, times + 1, NOW + timedelta(days=later)) >= retention_factor(
        POLICY, NOW, times, NOW + timedelta(days=later)
    )


def test_retention_follows_ebbinghaus() -> None:
    assert retention_factor(POLICY, NOW, 0, NOW) == 1
    assert retention_factor(POLICY, NOW, 0, NOW + timedelta(days=10)) == pytest.approx(0.3679, abs=1e-4)
    assert retention_factor(POLICY, NOW, 1, NOW + timedelta(days=20)) == pytest.approx(0.3679, abs=1e-4)


def fading(open_memory: OpenMemory, policy: Retention) -> Memory:
    return open_memory(":memory:", preset=replace(HYBRID, retention=policy))


def tell(memory: Memory, *turns: str) -> None:
    for turn in turns:
        memory.remember(turn)
        memory.post_think()


def test_recalled_thought_fades_less(open_memory: OpenMemory, clock: FakeClock) -> None:
    script = {
        f"{name} likes tea.": [
            add("likes tea", fact("tea", f"{name} likes tea.", about=name, relation="likes"))
        ]
        for name in ("Anna", "Ben")
    }
    memory = open_memory(":memory:", preset=replace(HYBRID, retention=POLICY), think=ScriptedReader(script))
    tell(memory, *script)
    for _ in range(3):
        clock.advance(5 * DAY)
        assert "Ben" in memory.recall("What does Ben like?", k=1)[0].text
    clock.advance(20 * DAY)
    found = {
        item.thought.sentence: item.score.total
        for item in memory.recall("Who likes tea?", k=5)
        if item.thought
    }
    assert found["Ben likes tea."] > found["Anna likes tea."]
    assert all(thought.current for thought in memory.thoughts(current=False))


def test_archived_thought_stays_in_the_space(open_memory: OpenMemory, clock: FakeClock) -> None:
    memory = fading(open_memory, replace(POLICY, archive_below=0.05))
    tell(memory, "I like tea.")
    clock.advance(31 * DAY)
    assert not any(item.thought for item in memory.recall("What do I like?"))
    (kept,) = memory.thoughts()
    assert kept.current
    assert memory.recall("What do I like?", as_of=clock())[0].thought == kept


def test_without_policy_nothing_fades_or_is_counted(memory: Memory, clock: FakeClock) -> None:
    tell(memory, "I like tea.")
    before = memory.recall("What do I like?")[0].score
    clock.advance(10_000 * DAY)
    assert memory.recall("What do I like?")[0].score == before
    assert memory.store.recall_counts(memory.user, [1]) == {}


def test_erasing_removes_recall_counts(open_memory: OpenMemory) -> None:
    memory = fading(open_memory, POLICY)
    tell(memory, "I like tea.")
    memory.recall("What do I like?")
    assert memory.store.recall_counts(memory.user, [1])[1].times == 1
    memory.erase(turn="turn:1")
    assert memory.store.recall_counts(memory.user, [1]) == {}


@pytest.mark.parametrize("wrong", [{"days": 0}, {"growth": -1}, {"weight": 2}, {"archive_below": 1}])
def test_invalid_policy_is_rejected(wrong: dict[str, float]) -> None:
    with pytest.raises(InvalidInput):
        Retention(**wrong)
