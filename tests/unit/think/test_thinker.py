"""Post-thinking through Memory: each turn is processed once, retried, or given up with a reason."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.conftest import FakeClock, OpenMemory
from tests.scripted_reader import ScriptedReader, add, fact

from thinkback.embedders.hashing import HashingEmbedder
from thinkback.errors import DiskFull, ModelPaused, ModelUnavailable, RateLimited
from thinkback.llms.scripted import ScriptedLLM
from thinkback.memory import Memory
from thinkback.think.contract import ProposedChange, ReadRequest
from thinkback.think.leases import LEASE_SECONDS
from thinkback.think.readers import WithoutModelReader
from thinkback.think.sentence_classifier import SentenceModel
from thinkback.think.thinker import FIRST_RETRY_SECONDS, MAX_ATTEMPTS, MAX_READ_CHARS
from thinkback.think.worker import Worker
from thinkback.types import Turn

if TYPE_CHECKING:
    from thinkback.types import Vector


def read_place(turn: Turn) -> list[ProposedChange]:
    """Propose the last word of "I live in Lyon." as the user's home, or as something the user likes."""
    value = turn.query.rstrip(".").rpartition(" ")[2]
    home = turn.query.startswith("I live in ")
    stated = fact(
        value,
        f"The user {'lives in' if home else 'likes'} {value}.",
        relation="lives in" if home else "likes",
    )
    return [replace(add(turn.query, stated), turn=turn.id)] if turn.query.startswith("I ") else []


@dataclass
class HookedReader:
    """Reads "I ..." with a hook that runs before each turn: a failure, or a concurrent change."""

    before: Callable[[Turn], object] = lambda turn: None
    seen: list[int] = field(default_factory=list)
    max_turns: int = 1
    needs_related: bool = False
    name: str = "hooked"

    def prepare(self) -> None:
        pass

    def read(self, request: ReadRequest) -> list[ProposedChange]:
        changes: list[ProposedChange] = []
        for turn in request.turns:
            self.seen.append(turn.id)
            self.before(turn)
            for change in read_place(turn):
                old = request.find("user", "lives in") if "lives in" in change.fact.sentence else ()  # type: ignore[union-attr]
                known = tuple(thought.id for thought in old)
                changes.append(replace(change, action="replace" if known else "add", targets=known))
        return changes


def fail(error: BaseException) -> Callable[[Turn], object]:
    def raising(turn: Turn) -> object:
        raise error

    return raising


def test_post_think_stores_thoughts_with_sources(open_memory: OpenMemory) -> None:
    memory = open_memory(think=HookedReader())
    for text in ("I live in Lyon.", "Hello!", "I like tea."):
        memory.remember(text)
    done: list[tuple[int, int]] = []
    result = memory.post_think(progress=lambda *step: done.append(step))
    assert (result.turns, result.failed) == (3, 0)
    assert done == [(1, 3), (2, 3), (3, 3)]
    assert {action.turn for action in result.actions} == {1, 3}
    assert {action.actor for action in result.actions} == {"hooked"}
    assert set(result.usage.ms) == {"scan", "embed", "read", "organise", "store"}
    assert (result.usage.llm_calls, result.usage.prompt_tokens) == (0, 0)
    assert all(turn.thought_at for turn in memory.turns())
    assert memory.post_think().turns == 0


def test_limit_leaves_the_rest_pending(open_memory: OpenMemory) -> None:
    memory = open_memory(think=HookedReader())
    for number in range(3):
        memory.remember(f"I own boat {number}.")
    done: list[tuple[int, int]] = []
    assert memory.post_think(limit=2, progress=lambda *step: done.append(step)).turns == 2
    assert done == [(1, 2), (2, 2)]
    assert memory.stats().pending == 1
    assert memory.post_think(limit=0).turns == 0
    memory.post_think(limit=5, progress=lambda *step: done.append(step))
    assert done[-1] == (1, 1)


def test_failing_model_is_retried_with_growing_delays(open_memory: OpenMemory, clock: FakeClock) -> None:
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
    assert memory.recall("Where do I live?")[0].ref == memory.turns()[0].ref


def test_dead_letters_can_be_retried(open_memory: OpenMemory) -> None:
    first = open_memory(think=HookedReader(fail(ValueError("a bug"))))
    first.remember("I live in Lyon.")
    assert first.post_think().failed == 1
    assert [failure.reason for failure in first.failures()] == ["ValueError: a bug"]
    second = open_memory(think=HookedReader())
    assert second.post_think().turns == 0
    assert second.retry_failures() == 1
    assert second.post_think().turns == 1
    assert second.failures() == []


def test_retry_after_of_the_model_is_respected(open_memory: OpenMemory, clock: FakeClock) -> None:
    reader = HookedReader(fail(RateLimited("slow down", retry_after=60)))
    memory = open_memory(think=reader)
    memory.remember("I live in Lyon.")
    memory.post_think()
    clock.advance(59)
    memory.post_think()
    assert reader.seen == [1]
    clock.advance(1)
    memory.post_think()
    assert reader.seen == [1, 1]


@pytest.mark.parametrize("max_turns", [1, 8])
def test_one_failing_turn_of_a_backlog_does_not_cost_the_others(
    open_memory: OpenMemory, max_turns: int
) -> None:
    def poison(turn: Turn) -> None:
        if "poison" in turn.query:
            raise RecursionError("too deep")

    memory = open_memory(think=HookedReader(poison, max_turns=max_turns))
    for text in ("I live in Lyon.", "poison", "I like tea."):
        memory.remember(text)
    result = memory.post_think()
    assert (result.turns, result.failed) == (2, 1)
    assert [failure.turn for failure in memory.failures()] == [2]


@pytest.mark.parametrize("max_turns", [1, 8])
def test_turn_that_crashes_its_worker_is_given_up(
    open_memory: OpenMemory, clock: FakeClock, max_turns: int
) -> None:
    def deadly(turn: Turn) -> None:
        if turn.query == "deadly":
            raise SystemExit("killed")

    reader = HookedReader(deadly, max_turns=max_turns)
    memory = open_memory(think=reader)
    memory.remember("deadly")
    memory.remember("I like tea.")
    for _ in range(MAX_ATTEMPTS):
        with pytest.raises(SystemExit):
            memory.post_think()
        clock.advance(LEASE_SECONDS)
    reader.before = lambda turn: None
    assert memory.post_think().turns == 1
    assert [(failure.turn, "broken off" in failure.reason) for failure in memory.failures()] == [(1, True)]


def test_process_that_ends_while_loading_counts_no_attempt(open_memory: OpenMemory) -> None:
    class Loading(HookedReader):
        loads = 0

        def prepare(self) -> None:
            self.loads += 1
            if self.loads <= 2 * MAX_ATTEMPTS:
                raise SystemExit

    memory = open_memory(think=Loading())
    memory.remember("I live in Lyon.")
    for _ in range(2 * MAX_ATTEMPTS):
        with pytest.raises(SystemExit):
            memory.post_think()
    assert memory.post_think().turns == 1
    assert memory.failures() == []


def test_prepared_reader_without_a_model_has_loaded_its_classifier() -> None:
    SentenceModel.shipped.cache_clear()
    WithoutModelReader().prepare()
    assert SentenceModel.shipped.cache_info().currsize == 1


def test_database_error_is_raised_and_loses_nothing(open_memory: OpenMemory) -> None:
    reader = HookedReader(fail(DiskFull("no space left")))
    memory = open_memory(think=reader)
    memory.remember("I live in Lyon.")
    with pytest.raises(DiskFull):
        memory.post_think()
    reader.before = lambda turn: None
    assert memory.post_think().turns == 1
    assert len(memory.thoughts()) == 1


def test_conflict_with_a_concurrent_change_is_retried(open_memory: OpenMemory) -> None:
    """The user forgets the thought that is about to be superseded: no dead letter, no stale plan."""

    class Interrupted(HashingEmbedder):
        def embed(self, texts: Sequence[str]) -> Vector:
            if texts == ["The user lives in Oslo."] and memory.thoughts():
                memory.forget(1, "just now")
            return super().embed(texts)

    memory = open_memory(embedder=Interrupted(), think=HookedReader())
    memory.remember("I live in Lyon.")
    memory.post_think()
    memory.remember("I live in Oslo.")
    result = memory.post_think()
    assert (result.turns, result.failed) == (1, 1)
    assert memory.failures() == []
    assert [(thought.id, thought.objects) for thought in memory.thoughts()] == [(2, ("Oslo",))]


def test_user_erased_during_thinking_stays_erased(open_memory: OpenMemory) -> None:
    memory = open_memory(think=HookedReader(lambda turn: memory.erase(user="default")))
    memory.remember("I live in Lyon.")
    result = memory.post_think()
    assert (result.turns, result.failed) == (0, 1)
    assert memory.store.users() == []


def test_turn_claimed_by_another_worker_is_left_alone(open_memory: OpenMemory, clock: FakeClock) -> None:
    other = open_memory(think=HookedReader())

    def slow(turn: Turn) -> None:
        clock.advance(LEASE_SECONDS)
        other.post_think()

    memory = open_memory(think=HookedReader(slow))
    memory.remember("I live in Lyon.")
    assert memory.post_think().turns == 0
    assert len(memory.journal()) == 1
    assert memory.failures() == []


# --- the background -------------------------------------------------------------------------------


def test_background_worker_processes_turns(open_memory: OpenMemory) -> None:
    memory = open_memory(background=True, think=HookedReader())
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


def test_turns_left_by_an_earlier_process_are_processed(open_memory: OpenMemory) -> None:
    with open_memory(think=HookedReader()) as memory:
        memory.remember("I live in Lyon.")
        memory.for_user("bob").remember("I live in Oslo.")
    memory = open_memory(background=True, think=HookedReader())
    assert memory.wait(20)
    assert memory.stats().pending == 0
    bob = memory.for_user("bob")
    assert bob.wait(20)
    assert bob.stats().pending == 0


def test_wait_returns_at_once_without_background(memory: Memory) -> None:
    memory.remember("I live in Lyon.")
    assert memory.wait(0)
    assert memory.stats().pending == 1


def test_close_finishes_the_current_turn_and_loses_nothing(open_memory: OpenMemory, tmp_path: Path) -> None:
    entered, leave = threading.Event(), threading.Event()

    def slowly(turn: Turn) -> None:
        entered.set()
        leave.wait(20)

    reader = HookedReader(slowly)
    memory = open_memory(think=reader, background=True)
    for text in ("I live in Lyon.", "I like tea.", "I own a boat."):
        memory.remember(text)
    assert entered.wait(20)
    assert not memory.wait(0.01)
    closing = threading.Thread(target=memory.close)
    closing.start()
    time.sleep(0.05)  # let it ask the worker to stop
    leave.set()
    closing.join(20)
    assert reader.seen == [1]
    again = open_memory(think=HookedReader())
    assert (again.stats().turns, again.stats().pending, len(again.thoughts())) == (3, 2, 1)
    assert again.post_think().turns == 2


def test_background_error_is_raised_by_wait(open_memory: OpenMemory) -> None:
    reader = HookedReader(fail(DiskFull("no space left")))
    memory = open_memory(think=reader, background=True)
    memory.remember("I live in Lyon.")
    with pytest.raises(DiskFull, match="no space"):
        memory.wait(20)
    reader.before = lambda turn: None
    memory.remember("I like tea.")
    assert memory.wait(20)
    assert memory.stats().pending == 0


# --- the worker alone -----------------------------------------------------------------------------


class RecordingThink:
    """A fake `think` callable that records its calls."""

    def __init__(self, *left: bool | Exception) -> None:
        self.done: list[str] = []
        self.left = list(left)

    def __call__(self, space: str, *, stopping: Callable[[], bool]) -> bool:
        self.done.append(space)
        outcome = self.left.pop(0) if self.left else False
        if isinstance(outcome, Exception):
            raise outcome
        return outcome


def eventually(condition: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + 10
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.005)
    return condition()


def test_quick_wakes_cause_one_run() -> None:
    think = RecordingThink()
    worker = Worker(think, idle_seconds=0.1)
    for _ in range(50):
        worker.wake("a")
    worker.wake("b")
    assert worker.wait(10)
    assert think.done == ["a", "b"]
    worker.stop()


def test_continuous_writing_does_not_delay_thinking_forever() -> None:
    think = RecordingThink()
    worker = Worker(think, idle_seconds=0.2, max_wait_seconds=0.3)
    ends = time.monotonic() + 10
    while not think.done and time.monotonic() < ends:
        worker.wake("a")
        time.sleep(0.01)
    assert think.done[0] == "a"
    worker.stop()


def test_unfinished_space_is_retried() -> None:
    think = RecordingThink(True, ModelUnavailable("down"), False)
    worker = Worker(think, idle_seconds=0.01, retry_delay_seconds=0.05)
    worker.wake("a")
    assert eventually(lambda: len(think.done) == 3)
    time.sleep(0.15)
    assert think.done == ["a"] * 3
    assert worker.wait(10)  # the last round was well: the error before it is history
    worker.stop()


def test_stopped_worker_ignores_wakes_and_does_not_block() -> None:
    think = RecordingThink()
    worker = Worker(think, idle_seconds=5)
    worker.wake("a")
    waiting = threading.Thread(target=worker.wait)
    waiting.start()
    worker.stop()
    waiting.join(5)
    assert not waiting.is_alive()
    worker.wake("b")
    assert worker.wait(5)
    assert think.done == []
    worker.stop()


def test_previous_turns_of_the_session_give_context(open_memory: OpenMemory) -> None:
    at = datetime(2024, 5, 15, 12, tzinfo=UTC)
    reader = ScriptedReader({}, max_turns=1)
    memory = open_memory(think=reader)
    memory.remember("Had a call with my uncle Desmond.", at=at, session="a")
    memory.remember("He's retired now.", at=at + timedelta(minutes=5), session="a")
    memory.remember("He's married.", at=at + timedelta(minutes=6), session="b")
    memory.remember("He's a Buddhist.", at=at + timedelta(days=3), session="a")
    memory.post_think()
    recent = [[turn.id for turn in request.recent] for request in reader.requests]
    assert recent == [[], [1], [], []]


def test_paused_model_does_not_count_as_attempt(open_memory: OpenMemory, clock: FakeClock) -> None:
    reader = HookedReader(fail(ModelPaused("it is down")))
    memory = open_memory(think=reader)
    memory.remember("I live in Lyon.")
    for _ in range(10 * MAX_ATTEMPTS):
        assert memory.post_think().failed == 1
        clock.advance(FIRST_RETRY_SECONDS)
    assert (memory.stats().pending, memory.failures()) == (1, [])
    reader.before = lambda turn: None
    assert memory.post_think().turns == 1


def test_paused_model_is_retried_after_its_pause(open_memory: OpenMemory, clock: FakeClock) -> None:
    reader = HookedReader(fail(ModelPaused("slow down", retry_after=60)))
    memory = open_memory(think=reader)
    memory.remember("I live in Lyon.")
    memory.post_think()
    clock.advance(59)
    memory.post_think()
    assert reader.seen == [1]


def test_released_turn_is_processed_once_by_another(open_memory: OpenMemory) -> None:
    def give_up(turn: Turn) -> None:
        if reader.seen == [1]:
            memory.release_claims()
            assert other.post_think().turns == 1

    reader = HookedReader(give_up)
    memory, other = open_memory(think=reader), open_memory(think=HookedReader(name="other"))
    memory.remember("I live in Lyon.")
    assert memory.post_think().turns == 0
    assert [action.actor for action in memory.journal()] == ["other"]
    memory.release_claims()  # nothing is claimed any more
    assert memory.stats().pending == 0


def test_stopping_ends_after_the_current_turn(open_memory: OpenMemory) -> None:
    memory = open_memory(think=HookedReader())
    for number in range(3):
        memory.remember(f"I own boat {number}.")
    assert memory.post_think(stopping=lambda: memory.stats().pending < 3).turns == 1


def test_thinking_that_takes_too_long_fails_with_a_name(
    open_memory: OpenMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    free = threading.Event()
    memory = open_memory(think=HookedReader(lambda turn: "Lyon" in turn.query and free.wait(10)))
    monkeypatch.setattr(memory._thinker, "_time_limit_seconds", 0.05)
    memory.remember("I live in Lyon.")
    memory.remember("I like tea.")
    result = memory.post_think()
    free.set()
    assert (result.turns, result.failed) == (1, 1)
    (failure,) = memory.failures()
    assert failure.reason == "ThinkingTimeout: thinking took longer than 0.05 seconds"
    assert [thought.object for thought in memory.thoughts()] == ["tea"]
    assert "Lyon" in memory.recall("Where do I live?")[0].text


def test_only_the_beginning_of_a_long_turn_is_thought_about(open_memory: OpenMemory) -> None:
    reader = HookedReader()
    lengths: list[int] = []
    reader.before = lambda turn: lengths.append(len(turn.query))
    memory = open_memory(think=reader)
    memory.remember("I walked. " * 10_000)
    assert memory.post_think().turns == 1
    assert lengths == [MAX_READ_CHARS]


def test_worker_gives_way_to_other_tenants() -> None:
    done: list[tuple[str, str]] = []
    left = {("big", "a"): 3, ("big", "b"): 1, ("small", "c"): 1}

    def think(space: tuple[str, str], *, stopping: Callable[[], bool]) -> bool:
        while left[space] and not stopping():
            time.sleep(0.03)
            left[space] -= 1
            done.append(space)
        return left[space] > 0

    worker = Worker(think, idle_seconds=0.01, slice_seconds=0.01, tenant_of=lambda space: space[0])
    for space in left:
        worker.wake(space)
    assert worker.wait(10)
    worker.stop()
    assert not any(left.values())
    assert done.index(("small", "c")) == 1
