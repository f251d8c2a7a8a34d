"""Thinking for every tenant, beside the processes that answer: a few turns of each space in turn.

A round asks the store who is waiting and gives every space a bite of its queue, so that no space starves the
others. It runs at a low priority, and at most half of the time while as much comes in as it takes out; when a
model is down it leaves the queue alone; asked to stop, it ends after the turn in hand, or hands that
back if its time is over.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Mapping
from contextlib import suppress

from thinkback.errors import ModelError, StoreError, ThinkbackError
from thinkback.memory import Memory
from thinkback.protocols import Clock
from thinkback.server.circuit_breaker import ModelBreaker
from thinkback.server.services import MemoryRegistry
from thinkback.server.telemetry import Telemetry
from thinkback.times import utc_now
from thinkback.types import ThinkResult

TURNS_PER_SPACE = 8  # turns of one space before the next space has its turn
FIRST_IDLE_SECONDS, MAX_IDLE_SECONDS = 0.02, 0.5  # between two looks at an empty queue
STORE_RETRY_SECONDS = 2.0  # after the database failed


class ThinkWorker:
    """One process's (or thread's) thinking. `number` sets it off from others on the same database."""

    def __init__(
        self,
        memories: MemoryRegistry,
        telemetry: Telemetry,
        breakers: Mapping[str, ModelBreaker],
        *,
        number: int = 0,
        clock: Clock = utc_now,
        turns_per_space: int = TURNS_PER_SPACE,
    ) -> None:
        self._memories = memories
        self._telemetry = telemetry
        self._guards = breakers
        self._number = number
        self._clock = clock
        self._bite = turns_per_space
        self._stop = threading.Event()
        self._current_memory: Memory | None = None

    def run(self) -> None:
        """Until `stop`."""
        pause = FIRST_IDLE_SECONDS
        while not self._stop.is_set():
            try:
                worked = self.run_round()
            except StoreError as error:
                self._telemetry.logs.log_error("thinking_failed", error)
                self._stop.wait(STORE_RETRY_SECONDS)
                continue
            pause = FIRST_IDLE_SECONDS if worked else min(pause * 2, MAX_IDLE_SECONDS)
            if not worked:
                self._stop.wait(pause)

    def stop(self) -> None:
        """End after the turn in hand."""
        self._stop.set()

    def release_claims(self) -> None:
        """Leave the turn in hand to whoever comes next; its thoughts, if they still come, are refused."""
        if (memory := self._current_memory) is not None:
            with suppress(ThinkbackError):
                memory.release_claims()

    def run_round(self) -> bool:
        """A bite of every space that waits; whether there was anything to do."""
        if not self._models_available():
            return False
        store = self._memories.root.store
        waiting = store.pending_spaces(self._clock())
        first = self._number % len(waiting) if waiting else 0  # others begin elsewhere
        worked = False
        for tenant, space in (*waiting[first:], *waiting[:first]):
            if self._should_stop():
                break
            began, before = time.monotonic(), store.backlog()
            worked |= self._think(tenant, space)
            if store.backlog() >= before:  # as much came in meanwhile: those who answer are busy
                self._stop.wait(min(time.monotonic() - began, MAX_IDLE_SECONDS))
        return worked

    def _think(self, tenant: str, space: str) -> bool:
        memory = self._memories.for_tenant(tenant).for_user(space)
        self._current_memory = memory
        started = time.perf_counter()
        try:
            done = memory.post_think(limit=self._bite, stopping=self._should_stop)
        except ModelError as error:  # before a turn was claimed: nothing is lost, and the guard knows
            self._telemetry.logs.log_error("thinking_failed", error)
            return False
        finally:
            self._current_memory = None
        self._report(done, time.perf_counter() - started)
        return done.turns + done.failed > 0

    def _models_available(self) -> bool:
        well = True
        for part, guard in self._guards.items():
            was_open = guard.is_open
            answers = guard.is_available()
            self._telemetry.set_gauge("thinkback_breaker_open", not answers, part=part)
            if was_open and answers:
                self._telemetry.logs(20, "model_well_again", part=part)
            well = well and answers
        return well

    def _should_stop(self) -> bool:
        return self._stop.is_set() or any(guard.is_open for guard in self._guards.values())

    def _report(self, done: ThinkResult, seconds: float) -> None:
        told = self._telemetry
        if not done.turns + done.failed:
            return
        told.observe("thinkback_thinking_seconds", seconds)
        for count, name in (
            (done.turns, "thinkback_turns_thought_over_total"),
            (done.failed, "thinkback_thinking_failures_total"),
        ):
            told.count(name, count)
        for action in done.actions:
            told.count("thinkback_thoughts_total", action=action.action)
        cost = done.usage
        told.count("thinkback_tokens_total", cost.prompt_tokens, of="thinking", kind="prompt")
        told.count("thinkback_tokens_total", cost.completion_tokens, of="thinking", kind="completion")
        told.logs(20, "thought_over", turns=done.turns, failed=done.failed, ms=round(seconds * 1000, 1))


def lower_priority(nice: int) -> None:
    """Let others go first, where the system can do that."""
    if hasattr(os, "nice"):
        os.nice(nice)
