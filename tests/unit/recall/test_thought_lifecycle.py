"""States of retired thoughts, found through the journal, including undone actions."""

from __future__ import annotations

from dataclasses import replace

from tests.conftest import FakeClock

from thinkback.memory import Memory
from thinkback.recall.thought_lifecycle import LifecycleResolver, LifecycleState
from thinkback.types import Operation, Plan


def told(memory: Memory, clock: FakeClock, *sayings: str) -> None:
    for saying in sayings:
        memory.remember(saying)
        clock.advance(86_400)
    memory.post_think()


def fate(memory: Memory, id_: int) -> LifecycleState:
    thought = next(each for each in memory.thoughts(current=False) if each.id == id_)
    return LifecycleResolver(lambda id_: memory.journal(thought=id_))(thought)


def test_replaced_thought_leads_to_the_current_one(memory: Memory, clock: FakeClock) -> None:
    told(memory, clock, "I live in Lyon.", "I live in Oslo.", "I live in Rome.")
    for id_ in (1, 2):
        became, heir = fate(memory, id_)
        assert (became, heir and heir.object) == ("replaced", "Rome")
    assert fate(memory, 3).status == "held"


def test_merged_thought_has_the_state_of_its_result(memory: Memory, clock: FakeClock) -> None:
    told(memory, clock, "I like tea.")
    told(memory, clock, "I like tea.")
    assert memory.journal()[-1].action == "merge"
    became, heir = fate(memory, 1)
    assert (became, heir and heir.id) == ("held", 2)
    memory.forget(2, "a joke")
    assert fate(memory, 1) == ("forgotten", None)


def test_ended_and_retracted_thoughts_have_different_states(memory: Memory, clock: FakeClock) -> None:
    told(memory, clock, "I work at Bosch.", "I no longer work at Bosch.")
    assert fate(memory, 1) == ("replaced", None)
    told(memory, clock, "My address is 14 Elm Street.")
    told(memory, clock, "Please forget my address.")
    address = next(each for each in memory.thoughts(current=False) if each.object == "14 Elm Street")
    assert fate(memory, address.id) == ("forgotten", None)


def test_thought_forgotten_because_of_a_negated_one_is_denied(memory: Memory, clock: FakeClock) -> None:
    told(memory, clock, "I like tea.", "I don't like coffee.")
    assert [thought.negated for thought in memory.thoughts()] == [False, True]
    forget = Operation(action="forget", reason="thought:2 speaks against it", retire=(1,), premises=(2,))
    plan = Plan(turn=None, lease="", actor="test", operations=(forget,))
    memory.store.apply(memory.user, plan, [], clock())
    assert fate(memory, 1) == ("denied", None)


def test_ended_thought_is_replaced_without_a_successor(memory: Memory, clock: FakeClock) -> None:
    told(memory, clock, "I live in Lyon.", "Nice weather today.")
    end = Operation(action="end", reason="turn:2 says it is over", retire=(1,))
    plan = Plan(turn=None, lease="", actor="test", operations=(end,))
    (action,) = memory.store.apply(memory.user, plan, [], clock())
    assert fate(memory, 1) == ("replaced", None)
    memory.undo(action)
    assert fate(memory, 1).status == "held"


def test_denied_successor_leaves_no_successor(memory: Memory, clock: FakeClock) -> None:
    told(memory, clock, "I live in Lyon.", "I live in Oslo.", "I no longer live in Oslo.")
    assert fate(memory, 1) == ("replaced", None)


def test_forgotten_successor_means_forgotten(memory: Memory, clock: FakeClock) -> None:
    told(memory, clock, "I live in Lyon.", "I live in Oslo.")
    memory.forget(2, "private")
    assert fate(memory, 1) == ("forgotten", None)


def test_redone_action_counts(memory: Memory, clock: FakeClock) -> None:
    told(memory, clock, "I live in Lyon.", "I live in Oslo.")
    undo = memory.undo(2)
    assert fate(memory, 1).status == "held"
    memory.undo(undo)
    became, heir = fate(memory, 1)
    assert (became, heir and heir.object) == ("replaced", "Oslo")


def test_thought_of_an_undone_action_is_forgotten(memory: Memory, clock: FakeClock) -> None:
    told(memory, clock, "I live in Lyon.")
    memory.undo(1)
    assert fate(memory, 1) == ("forgotten", None)


def test_thousand_replacements_are_followed(memory: Memory, clock: FakeClock) -> None:
    """Step by step, not by calls within calls: those have an end."""
    told(memory, clock, "I live in Lyon.", "I live in Oslo.")
    supersede = memory.journal()[1]
    old, new = supersede.after
    chain = [
        replace(
            supersede,
            id=n,
            before=(replace(new, id=n),),
            after=(replace(old, id=n), replace(new, id=n + 1)),
        )
        for n in range(1, 3001)
    ]
    touching = {n: chain[max(0, n - 2) : n] for n in range(1, 3002)}
    assert LifecycleResolver(lambda id_: touching[id_])(replace(old, id=1)).successor == replace(new, id=3001)
