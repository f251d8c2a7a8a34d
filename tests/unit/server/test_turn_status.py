"""The outcome of a turn: pending, done or failed."""

from __future__ import annotations

import threading

import pytest
from tests.conftest import OpenMemory
from tests.scripted_reader import ScriptedReader

from thinkback.errors import NotFound
from thinkback.memory import Memory
from thinkback.server.turn_status import get_outcome, think_now
from thinkback.think.contract import ProposedChange, ReadRequest
from thinkback.types import Turn


def test_turn_is_pending_until_thought_over(memory: Memory) -> None:
    turn = memory.remember("I live in Lyon.")
    assert get_outcome(memory, turn.id).state == "pending"
    (came,) = think_now(memory, [turn])
    assert came.state == "done"
    assert [action.action for action in came.actions] == ["insert"]


def test_earlier_pending_turns_are_thought_over_first(memory: Memory) -> None:
    for number in range(20):
        memory.remember(f"I like tea number {number}.")
    turn = memory.remember("I live in Lyon.")
    (came,) = think_now(memory, [turn])
    assert came.state == "done"
    assert memory.stats().pending == 0


def test_timeout_leaves_rest_pending(memory: Memory) -> None:
    for number in range(20):
        memory.remember(f"I like tea number {number}.")
    turn = memory.remember("I live in Lyon.")
    assert [each.state for each in think_now(memory, [turn], seconds=0)] == ["pending"]


def test_waits_for_other_process_with_lease(open_memory: OpenMemory) -> None:
    memory = open_memory()
    turn = memory.remember("I live in Lyon.")
    (claimed,) = memory.store.claim("default", 1, 300, memory._clock())

    def give_back() -> None:
        memory.store.release("default", turn.id, claimed.lease, reason="going", retry_at=memory._clock())

    later = threading.Timer(0.2, give_back)
    later.start()
    try:
        (came,) = think_now(memory, [turn], seconds=30)
    finally:
        later.join()
    assert came.state == "done"


def test_failed_turn_has_reason(open_memory: OpenMemory) -> None:
    def refuse(turn: Turn, request: ReadRequest) -> list[ProposedChange]:
        raise ValueError("no way to read it")

    memory = open_memory(think=ScriptedReader({"I live in Lyon.": refuse}))
    (came,) = think_now(memory, [memory.remember("I live in Lyon.")])
    assert came.state == "failed"
    assert "no way to read it" in came.reason


def test_missing_turn_is_not_found(memory: Memory) -> None:
    with pytest.raises(NotFound):
        get_outcome(memory, 7)
