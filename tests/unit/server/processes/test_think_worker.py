"""The think worker: fair to all spaces, patient with a model that is down, quick to stop."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from tests.conftest import FakeClock, OpenMemory

from thinkback.errors import ModelUnavailable
from thinkback.llms.scripted import ScriptedLLM
from thinkback.memory import Memory
from thinkback.server.circuit_breaker import CircuitBreaker, ModelBreaker, ProtectedLLM
from thinkback.server.processes import think_worker
from thinkback.server.processes.think_worker import ThinkWorker, in_turn
from thinkback.server.services import MemoryRegistry
from thinkback.server.telemetry import Telemetry
from thinkback.think.contract import ProposedChange, ReadRequest
from thinkback.think.reader_rules import RuleReader
from thinkback.think.thinker import MAX_ATTEMPTS
from thinkback.types import Message, Turn

REPLY = '{"changes": []}'


@dataclass
class Noting:
    """Records what it reads, one turn at a time, then uses the rules."""

    before: Callable[[Turn], object] = lambda turn: None
    seen: list[str] = field(default_factory=list)
    name: str = "noting"
    max_turns: int = 1
    needs_related: bool = False

    def prepare(self) -> None:
        pass

    def read(self, request: ReadRequest) -> list[ProposedChange]:
        for turn in request.turns:
            self.seen.append(turn.query)
            self.before(turn)
        return RuleReader().read(request)


def make_worker(memory: Memory, clock: FakeClock, **options: Any) -> ThinkWorker:
    return ThinkWorker(
        MemoryRegistry(memory), Telemetry(), options.pop("breakers", {}), clock=clock, **options
    )


def tell(memory: Memory, user: str, *texts: str) -> None:
    for text in texts:
        memory.for_user(user).remember(text)


def seconds(clock: FakeClock) -> Callable[[], float]:
    def now() -> float:
        return clock.now.timestamp()

    return now


def metric(telemetry: Telemetry, line: str) -> bool:
    return line in telemetry.metrics.render().decode().splitlines()


def test_round_thinks_a_few_turns_per_visit(
    open_memory: OpenMemory, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(think_worker, "VISIT_SECONDS", 60.0)
    noting = Noting()
    memory = open_memory(think=noting)
    tell(memory, "ann", *(f"a{n}" for n in range(20)))
    clock.advance(1)
    tell(memory, "ben", "b0")
    assert make_worker(memory, clock, turns_per_visit=3).run_round()
    assert noting.seen == ["a0", "a1", "a2", "b0"]


def test_visit_ends_when_its_time_is_over(
    open_memory: OpenMemory, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(think_worker, "VISIT_SECONDS", 0.0)
    noting = Noting()
    memory = open_memory(think=noting)
    tell(memory, "ann", "a0", "a1")
    clock.advance(1)
    tell(memory, "ben", "b0")
    one = make_worker(memory, clock)
    assert one.run_round()
    assert noting.seen == ["a0", "b0"], "one batch of turns at least"
    assert one.run_round()
    assert noting.seen == ["a0", "b0", "a1"]


def test_queue_is_read_again_when_others_were_faster(open_memory: OpenMemory, clock: FakeClock) -> None:
    noting = Noting()
    memory = open_memory(think=noting)
    users = [f"user{number}" for number in range(6)]
    for user in users:
        tell(memory, user, "I own a boat.")
        clock.advance(1)
    one = make_worker(memory, clock)
    visited: list[str] = []

    def think(tenant: str, space: str) -> bool:
        visited.append(space)
        return False

    one._think = think  # type: ignore[method-assign]
    assert not one.run_round()
    assert visited == users[: think_worker.MAX_EMPTY_VISITS]


def test_round_thinks_for_all_tenants(open_memory: OpenMemory, clock: FakeClock) -> None:
    memory = open_memory()
    for tenant in ("acme", "globex"):
        memory.for_tenant(tenant).for_user("ann").remember("I live in Lyon.")
    one = make_worker(memory, clock)
    assert one.run_round()
    assert not one.run_round()
    assert memory.store.backlog() == 0
    for tenant in ("acme", "globex"):
        assert len(memory.for_tenant(tenant).for_user("ann").thoughts()) == 1


def test_model_outage_loses_nothing(open_memory: OpenMemory, clock: FakeClock) -> None:
    """With a fake clock: turns stay pending, keep their attempts, and are thought over afterwards."""
    down = [ModelUnavailable("down")] * 100_000
    llm = ScriptedLLM(down)
    breaker = ModelBreaker(CircuitBreaker(failures=1, clock=seconds(clock)))
    memory = open_memory(llm=ProtectedLLM(llm, breaker), think="llm")
    one = make_worker(memory, clock, breakers={"llm": breaker})
    tell(memory, "ann", "I live in Lyon.", "I like tea.")
    tell(memory, "ben", "I own a boat.")
    for _ in range(3600):
        one.run_round()
        clock.advance(1)
    assert 50 < len(llm.calls) < 200  # the breaker limits the calls
    assert memory.store.backlog() == 3
    for user in ("ann", "ben"):
        assert memory.for_user(user).failures() == []
    llm._replies_in_order = [REPLY] * 100
    for _ in range(120):
        one.run_round()
        clock.advance(1)
    assert memory.store.backlog() == 0
    assert all(memory.for_user(user).failures() == [] for user in ("ann", "ben"))


def test_failing_turn_is_given_up_and_others_continue(open_memory: OpenMemory, clock: FakeClock) -> None:
    def poison(turn: Turn) -> None:
        if turn.query == "poison":
            raise ValueError("poison")

    memory = open_memory(think=Noting(poison))
    tell(memory, "ann", "poison", "I like tea.")
    one = make_worker(memory, clock)
    for _ in range(MAX_ATTEMPTS):
        one.run_round()
    assert [failure.turn for failure in memory.for_user("ann").failures()] == [1]
    assert memory.store.backlog() == 0


def test_worker_reports_metrics_and_open_breaker(open_memory: OpenMemory, clock: FakeClock) -> None:
    breaker = ModelBreaker(CircuitBreaker(failures=1, clock=seconds(clock)))
    llm = ScriptedLLM([ModelUnavailable("down")])
    memory = open_memory()
    telemetry = Telemetry()
    one = ThinkWorker(MemoryRegistry(memory), telemetry, {"llm": breaker}, clock=clock)
    tell(memory, "ann", "I live in Lyon.", "I have a dog named Rex.")
    one.run_round()
    assert metric(telemetry, "thinkback_turns_thought_over_total 2.0")
    inserted = sum(action.action == "insert" for action in memory.for_user("ann").journal())
    assert metric(telemetry, f'thinkback_thoughts_total{{action="insert"}} {inserted}.0')
    assert metric(telemetry, 'thinkback_breaker_open{part="llm"} 0.0')
    with pytest.raises(Exception, match="down"):
        ProtectedLLM(llm, breaker).complete([Message("user", "?")])
    assert not one.run_round()
    assert metric(telemetry, 'thinkback_breaker_open{part="llm"} 1.0')


def test_worker_pauses_only_while_turns_arrive_as_fast(
    open_memory: OpenMemory, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(think_worker, "COUNT_INTERVAL_SECONDS", 0.0)  # the queue is counted after each space
    arriving = ["more"] * 4

    def arrive(_: Turn) -> None:
        if arriving:
            tell(memory, "zoe", arriving.pop())

    memory = open_memory(think=Noting(arrive))
    pauses: list[float] = []
    one = make_worker(memory, clock, turns_per_visit=1)
    monkeypatch.setattr(one._stop, "wait", pauses.append)
    tell(memory, "ann", "a0", "a1", "a2", "a3")
    while one.run_round():
        pass
    assert memory.store.backlog() == 0
    assert 2 <= len(pauses) <= 4  # not after the first count, and not when no more turns arrived


def test_queue_is_not_counted_after_short_work(
    open_memory: OpenMemory, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = open_memory(think=Noting())
    counted: list[int] = []

    def count(_: object) -> int:
        counted.append(1)
        return 0

    monkeypatch.setattr(type(memory.store), "backlog", count)
    tell(memory, "ann", "a0")
    tell(memory, "ben", "b0")
    assert make_worker(memory, clock).run_round()
    assert not counted


def test_worker_stops_after_current_turn(open_memory: OpenMemory, clock: FakeClock) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def wait(turn: Turn) -> None:
        begun.set()
        assert go_on.wait(30)

    noting = Noting(wait)
    memory = open_memory(think=noting)
    tell(memory, "ann", "I live in Lyon.", "I like tea.")
    one = make_worker(memory, clock)
    thread = threading.Thread(target=one.run)
    thread.start()
    assert begun.wait(30)
    one.stop()
    go_on.set()
    thread.join(30)
    assert not thread.is_alive()
    assert len(noting.seen) == 1
    assert memory.store.backlog() == 1


def test_release_claims_returns_current_turn(open_memory: OpenMemory, clock: FakeClock) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def hang(turn: Turn) -> None:
        begun.set()
        assert go_on.wait(30)

    memory, other = open_memory(think=Noting(hang)), open_memory()
    tell(memory, "ann", "I live in Lyon.")
    one = make_worker(memory, clock)
    thread = threading.Thread(target=one.run)
    thread.start()
    assert begun.wait(30)
    assert other.for_user("ann").post_think().turns == 0  # still leased
    one.stop()
    one.release_claims()
    assert other.for_user("ann").post_think().turns == 1
    go_on.set()
    thread.join(30)
    assert len(memory.for_user("ann").thoughts()) == 1


def test_tenants_take_turns_however_many_spaces_they_have() -> None:
    waiting = [("big", "a"), ("big", "b"), ("big", "c"), ("small", "d")]
    assert in_turn(waiting) == [("big", "a"), ("small", "d"), ("big", "b"), ("big", "c")]
