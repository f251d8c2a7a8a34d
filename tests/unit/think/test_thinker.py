"""Post-thinking: every turn is thought over once, or tried again, or given up with a reason."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.conftest import FakeClock, OpenMemory

from thinkback.embedders.hashing import HashingEmbedder
from thinkback.errors import DiskFull, ModelPaused, ModelUnavailable, RateLimited
from thinkback.llms.scripted import ScriptedLLM
from thinkback.memory import Memory
from thinkback.think.rule_generator import RuleGenerator
from thinkback.think.thinker import FIRST_RETRY_SECONDS, LEASE_SECONDS, MAX_ATTEMPTS
from thinkback.think.worker import Worker
from thinkback.types import ThoughtDraft, Turn

if TYPE_CHECKING:
    from thinkback.types import Vector


@dataclass
class Meddling:
    """The rules, after something else happened: a failure, or somebody changing the space."""

    before: Callable[[Turn], object]
    seen: list[int] = field(default_factory=list)
    name: str = "meddling"

    def generate(self, turn: Turn, recent: Sequence[Turn] = ()) -> list[ThoughtDraft]:
        self.seen.append(turn.id)
        self.before(turn)
        return RuleGenerator().generate(turn)


def fail(error: BaseException) -> Callable[[Turn], object]:
    def raising(turn: Turn) -> object:
        raise error

    return raising


def test_thinking_over_makes_thoughts_with_their_source(memory: Memory) -> None:
    for text in ("I live in Lyon.", "Hello!", "I have a dog named Rex."):
        memory.remember(text)
    done: list[tuple[int, int]] = []
    result = memory.post_think(progress=lambda *step: done.append(step))
    assert (result.turns, result.failed) == (3, 0)
    assert done == [(1, 3), (2, 3), (3, 3)]
    assert {action.turn for action in result.actions} == {1, 3}
    assert {action.actor for action in result.actions} == {"rules"}
    assert set(result.usage.ms) == {"embed", "generate", "organise", "store"}
    assert (result.usage.llm_calls, result.usage.prompt_tokens) == (0, 0)
    assert all(turn.thought_at for turn in memory.turns())
    assert memory.post_think().turns == 0


def test_a_limit_leaves_the_rest_pending(memory: Memory) -> None:
    for number in range(3):
        memory.remember(f"I own boat {number}.")
    done: list[tuple[int, int]] = []
    assert memory.post_think(limit=2, progress=lambda *step: done.append(step)).turns == 2
    assert done == [(1, 2), (2, 2)]
    assert memory.stats().pending == 1
    assert memory.post_think(limit=0).turns == 0
    memory.post_think(limit=5, progress=lambda *step: done.append(step))
    assert done[-1] == (1, 1)


def test_an_able_model_thinks_and_is_named(open_memory: OpenMemory) -> None:
    reply = (
        '{"thoughts":[{"line":1,"subject":"user","relation":"lives in","objects":["Lyon"],"kind":"profile"}]}'
    )
    memory = open_memory(llm=ScriptedLLM([reply], name="able"), think="llm")
    memory.remember("My home is Lyon these days.")
    (action,) = memory.post_think().actions
    assert action.actor.startswith("able ")
    assert [thought.sentence for thought in memory.thoughts()] == ["The user lives in Lyon."]


def test_a_failing_model_is_tried_again_later_each_time_until_given_up(
    open_memory: OpenMemory, clock: FakeClock
) -> None:
    memory = open_memory(llm=ScriptedLLM([ModelUnavailable("down")] * MAX_ATTEMPTS), think="llm")
    memory.remember("I live in Lyon.")
    for attempt in range(MAX_ATTEMPTS):
        assert memory.stats().pending == 1
        assert memory.post_think().failed == 1
        wait = FIRST_RETRY_SECONDS * 4**attempt
        clock.advance(wait - 1)
        assert memory.post_think().failed == 0
        clock.advance(1)
    (failure,) = memory.failures()
    assert (failure.turn, failure.attempts) == (1, MAX_ATTEMPTS)
    assert "ModelUnavailable: down" in failure.reason
    assert (memory.stats().pending, memory.stats().failed) == (0, 1)
    assert memory.recall("Where do I live?")[0].text == "I live in Lyon."


def test_dead_letters_can_be_tried_again(open_memory: OpenMemory) -> None:
    first = open_memory(think=Meddling(fail(ValueError("a bug"))))
    first.remember("I live in Lyon.")
    assert first.post_think().failed == 1
    assert [failure.reason for failure in first.failures()] == ["ValueError: a bug"]
    second = open_memory()
    assert second.post_think().turns == 0
    assert second.retry_failures() == 1
    assert second.post_think().turns == 1
    assert second.failures() == []


def test_a_model_that_asks_to_wait_is_waited_for(open_memory: OpenMemory, clock: FakeClock) -> None:
    generator = Meddling(fail(RateLimited("slow down", retry_after=60)))
    memory = open_memory(think=generator)
    memory.remember("I live in Lyon.")
    memory.post_think()
    clock.advance(59)
    memory.post_think()
    assert generator.seen == [1]
    clock.advance(1)
    memory.post_think()
    assert generator.seen == [1, 1]


def test_a_poison_turn_does_not_block_the_others(open_memory: OpenMemory) -> None:
    def poison(turn: Turn) -> None:
        if "poison" in turn.query:
            raise RecursionError("too deep")

    memory = open_memory(think=Meddling(poison))
    for text in ("I live in Lyon.", "poison", "I like tea."):
        memory.remember(text)
    result = memory.post_think()
    assert (result.turns, result.failed) == (2, 1)
    assert len(memory.thoughts()) == 2
    assert [failure.turn for failure in memory.failures()] == [2]


def test_a_turn_that_ends_its_worker_is_given_up_as_well(open_memory: OpenMemory, clock: FakeClock) -> None:
    generator = Meddling(fail(SystemExit("killed")))
    memory = open_memory(think=generator)
    memory.remember("deadly")
    memory.remember("I like tea.")
    for _ in range(MAX_ATTEMPTS):
        with pytest.raises(SystemExit):
            memory.post_think()
        clock.advance(LEASE_SECONDS)
    generator.before = lambda turn: None
    assert memory.post_think().turns == 1
    assert [(failure.turn, "broken off" in failure.reason) for failure in memory.failures()] == [(1, True)]


def test_a_failing_database_is_the_callers_to_mend_and_costs_nothing(open_memory: OpenMemory) -> None:
    generator = Meddling(fail(DiskFull("no space left")))
    memory = open_memory(think=generator)
    memory.remember("I live in Lyon.")
    with pytest.raises(DiskFull):
        memory.post_think()
    generator.before = lambda turn: None
    assert memory.post_think().turns == 1
    assert len(memory.thoughts()) == 1


def test_a_space_that_changed_meanwhile_is_thought_over_again(open_memory: OpenMemory) -> None:
    """The user forgets the very thought that is about to be superseded: no dead letter, no stale plan."""

    class Interrupted(HashingEmbedder):
        def embed(self, texts: Sequence[str]) -> Vector:
            if texts == ["The user lives in Oslo."] and memory.thoughts():
                memory.forget(1, "just now")
            return super().embed(texts)

    memory = open_memory(embedder=Interrupted())
    memory.remember("I live in Lyon.")
    memory.post_think()
    memory.remember("I live in Oslo.")
    result = memory.post_think()
    assert (result.turns, result.failed) == (1, 1)
    assert memory.failures() == []
    assert [(thought.id, thought.objects) for thought in memory.thoughts()] == [(2, ("Oslo",))]


def test_a_user_erased_while_thinking_stays_erased(open_memory: OpenMemory) -> None:
    memory = open_memory(think=Meddling(lambda turn: memory.erase(user="default")))
    memory.remember("I live in Lyon.")
    result = memory.post_think()
    assert (result.turns, result.failed) == (0, 1)
    assert memory.store.users() == []


def test_a_turn_taken_over_by_another_is_left_to_it(open_memory: OpenMemory, clock: FakeClock) -> None:
    other = open_memory()

    def slow(turn: Turn) -> None:
        clock.advance(LEASE_SECONDS)
        other.post_think()

    memory = open_memory(think=Meddling(slow))
    memory.remember("I live in Lyon.")
    assert memory.post_think().turns == 0
    assert len(memory.journal()) == 1
    assert memory.failures() == []


# --- the background -------------------------------------------------------------------------------


def test_the_background_thinks_by_itself(open_memory: OpenMemory) -> None:
    memory = open_memory(background=True)
    memory.remember("I live in Lyon.")
    assert memory.wait(20)
    assert len(memory.thoughts()) == 1
    sibling = memory.for_user("bob")
    sibling.remember("I live in Oslo.")
    assert sibling.wait(20)
    assert [thought.objects for thought in sibling.thoughts()] == [("Oslo",)]
    sibling.close()  # it lives as long as the first: nothing ends here
    memory.remember("I like tea.")
    assert memory.wait(20)
    assert memory.stats().pending == 0


def test_what_an_earlier_process_left_is_picked_up(open_memory: OpenMemory) -> None:
    with open_memory() as memory:
        memory.remember("I live in Lyon.")
        memory.for_user("bob").remember("I live in Oslo.")
    memory = open_memory(background=True)
    assert memory.wait(20)
    assert memory.stats().pending == 0
    bob = memory.for_user("bob")
    assert bob.wait(20)
    assert bob.stats().pending == 0


def test_without_a_background_there_is_nothing_to_wait_for(memory: Memory) -> None:
    memory.remember("I live in Lyon.")
    assert memory.wait(0)
    assert memory.stats().pending == 1


def test_closing_ends_after_the_turn_in_hand_and_loses_nothing(
    open_memory: OpenMemory, tmp_path: Path
) -> None:
    entered, leave = threading.Event(), threading.Event()

    def slowly(turn: Turn) -> None:
        entered.set()
        leave.wait(20)

    generator = Meddling(slowly)
    memory = open_memory(think=generator, background=True)
    for text in ("I live in Lyon.", "I like tea.", "I own a boat."):
        memory.remember(text)
    assert entered.wait(20)
    assert not memory.wait(0.01)
    closing = threading.Thread(target=memory.close)
    closing.start()
    time.sleep(0.05)  # let it ask the worker to stop
    leave.set()
    closing.join(20)
    assert generator.seen == [1]
    again = open_memory()
    assert (again.stats().turns, again.stats().pending, len(again.thoughts())) == (3, 2, 1)
    assert again.post_think().turns == 2


def test_a_failing_background_is_heard_of(open_memory: OpenMemory) -> None:
    generator = Meddling(fail(DiskFull("no space left")))
    memory = open_memory(think=generator, background=True)
    memory.remember("I live in Lyon.")
    with pytest.raises(DiskFull, match="no space"):
        memory.wait(20)
    generator.before = lambda turn: None
    memory.remember("I like tea.")
    assert memory.wait(20)
    assert memory.stats().pending == 0


# --- the worker alone -----------------------------------------------------------------------------


class Errands:
    """What a worker is sent to do."""

    def __init__(self, *left: bool | Exception) -> None:
        self.done: list[str] = []
        self.left = list(left)

    def __call__(self, space: str, *, stopping: Callable[[], bool]) -> bool:
        self.done.append(space)
        outcome = self.left.pop(0) if self.left else False
        if isinstance(outcome, Exception):
            raise outcome
        return outcome


def eventually(holds: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + 10
    while not holds() and time.monotonic() < deadline:
        time.sleep(0.005)
    return holds()


def test_wakes_in_quick_succession_are_one_errand() -> None:
    errands = Errands()
    worker = Worker(errands, idle_seconds=0.1)
    for _ in range(50):
        worker.wake("a")
    worker.wake("b")
    assert worker.wait(10)
    assert errands.done == ["a", "b"]
    worker.stop()


def test_writing_that_never_pauses_does_not_put_thinking_off_for_ever() -> None:
    errands = Errands()
    worker = Worker(errands, idle_seconds=0.2, max_wait_seconds=0.3)
    ends = time.monotonic() + 10
    while not errands.done and time.monotonic() < ends:
        worker.wake("a")
        time.sleep(0.01)
    assert errands.done[0] == "a"
    worker.stop()


def test_what_had_to_wait_is_looked_at_again_by_itself() -> None:
    errands = Errands(True, ModelUnavailable("down"), False)
    worker = Worker(errands, idle_seconds=0.01, retry_delay_seconds=0.05)
    worker.wake("a")
    assert eventually(lambda: len(errands.done) == 3)
    time.sleep(0.15)
    assert errands.done == ["a"] * 3
    assert worker.wait(10)  # the last round was well: the error before it is history
    worker.stop()


def test_a_stopped_worker_takes_no_errands_and_keeps_nobody_waiting() -> None:
    errands = Errands()
    worker = Worker(errands, idle_seconds=5)
    worker.wake("a")
    waiting = threading.Thread(target=worker.wait)
    waiting.start()
    worker.stop()
    waiting.join(5)
    assert not waiting.is_alive()
    worker.wake("b")
    assert worker.wait(5)
    assert errands.done == []
    worker.stop()


def test_a_turn_is_understood_by_those_just_before_it_in_its_session(memory: Memory) -> None:
    at = datetime(2024, 5, 15, 12, tzinfo=UTC)
    memory.remember("Had a call with my uncle Desmond.", at=at, session="a")
    memory.remember("He's retired now.", at=at + timedelta(minutes=5), session="a")
    memory.remember("He's married.", at=at + timedelta(minutes=6), session="b")
    memory.remember("He's a Buddhist.", at=at + timedelta(days=3), session="a")
    memory.post_think()
    assert [t.sentence for t in memory.thoughts()] == [
        "The user's uncle is Desmond.",
        "Desmond (the user's uncle) is retired.",
    ]


def test_a_model_left_alone_costs_a_turn_no_attempt_however_long(
    open_memory: OpenMemory, clock: FakeClock
) -> None:
    generator = Meddling(fail(ModelPaused("it is down")))
    memory = open_memory(think=generator)
    memory.remember("I live in Lyon.")
    for _ in range(10 * MAX_ATTEMPTS):
        assert memory.post_think().failed == 1
        clock.advance(FIRST_RETRY_SECONDS)
    assert (memory.stats().pending, memory.failures()) == (1, [])
    generator.before = lambda turn: None
    assert memory.post_think().turns == 1


def test_a_model_left_alone_is_left_for_as_long_as_it_asks(open_memory: OpenMemory, clock: FakeClock) -> None:
    generator = Meddling(fail(ModelPaused("slow down", retry_after=60)))
    memory = open_memory(think=generator)
    memory.remember("I live in Lyon.")
    memory.post_think()
    clock.advance(59)
    memory.post_think()
    assert generator.seen == [1]


def test_what_is_handed_back_is_thought_over_by_another_and_once(open_memory: OpenMemory) -> None:
    def give_up(turn: Turn) -> None:
        if generator.seen == [1]:
            memory.release_claims()
            assert other.post_think().turns == 1

    generator = Meddling(give_up)
    memory, other = open_memory(think=generator), open_memory()
    memory.remember("I live in Lyon.")
    assert memory.post_think().turns == 0
    assert [action.actor for action in memory.journal()] == ["rules"]
    memory.release_claims()  # nothing is in hand any more
    assert memory.stats().pending == 0


def test_stopping_ends_after_the_turn_in_hand(memory: Memory) -> None:
    for number in range(3):
        memory.remember(f"I own boat {number}.")
    assert memory.post_think(stopping=lambda: memory.stats().pending < 3).turns == 1
