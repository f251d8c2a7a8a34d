"""Thinks over pending turns of all tenants, a moment for each space at a time so that none starves.

It runs at low priority, and at most half of the time while new turns arrive as fast as it works. While a
model is down it leaves the queue alone. When stopped it finishes its current turn, or releases it if there is
no time.
"""

from __future__ import annotations

import itertools
import os
import threading
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress

from thinkback.errors import ModelError, StoreError, ThinkbackError
from thinkback.memory import Memory
from thinkback.protocols import Clock
from thinkback.server.circuit_breaker import ModelBreaker
from thinkback.server.services import MemoryRegistry
from thinkback.server.telemetry import Telemetry
from thinkback.times import utc_now
from thinkback.types import SpaceKey, ThinkResult

VISIT_SECONDS = 0.25  # of thinking for one space before the next; what was begun is finished
TURNS_PER_VISIT = 64
MAX_EMPTY_VISITS = 3  # after which the queue is read again: other workers were faster
SPACES_PER_ROUND = 32  # before the queue is read again: other workers have done some of them meanwhile
GOLDEN_RATIO = 0.618034  # spreads the starting points of any number of workers evenly over the queue
FIRST_IDLE_SECONDS, MAX_IDLE_SECONDS = 0.02, 0.5  # between two looks at an empty queue
STORE_RETRY_SECONDS = 2.0  # after the database failed
COUNT_INTERVAL_SECONDS = 1.0  # of work between two counts of the queue, which take longer the longer it is


def in_turn(spaces: Iterable[SpaceKey]) -> list[SpaceKey]:
    """The spaces in an order in which tenants take turns: one with many spaces delays no other."""
    by_tenant: dict[str, list[SpaceKey]] = {}
    for key in spaces:
        by_tenant.setdefault(key[0], []).append(key)
    rounds = itertools.zip_longest(*by_tenant.values())
    return [key for each in rounds for key in each if key is not None]


class ThinkWorker:
    """Thinking of one process or thread. `number` tells workers on the same database apart."""

    def __init__(
        self,
        memories: MemoryRegistry,
        telemetry: Telemetry,
        breakers: Mapping[str, ModelBreaker],
        *,
        number: int = 0,
        clock: Clock = utc_now,
        turns_per_visit: int = TURNS_PER_VISIT,
    ) -> None:
        self._memories = memories
        self._telemetry = telemetry
        self._breakers = breakers
        self._number = number
        self._clock = clock
        self._turns_per_visit = turns_per_visit
        self._stop = threading.Event()
        self._current_memory: Memory | None = None
        self._busy_seconds = 0.0  # since the queue was counted
        self._last_count: int | None = None  # None after a pause

    def run(self) -> None:
        """Think until `stop` is called."""
        pause = FIRST_IDLE_SECONDS
        while not self._stop.is_set():
            try:
                self._memories.root.store.finish_erasures()
                worked = self.run_round()
            except StoreError as error:
                self._telemetry.logs.log_error("thinking_failed", error)
                self._stop.wait(STORE_RETRY_SECONDS)
                continue
            pause = FIRST_IDLE_SECONDS if worked else min(pause * 2, MAX_IDLE_SECONDS)
            if not worked:
                self._memories.root.store.wait_for_turns(pause, self._stop)

    def stop(self) -> None:
        """Stop after the current turn."""
        self._stop.set()

    def release_claims(self) -> None:
        """Give the current turn to the next worker.

        If this one still finishes it, the result is discarded.
        """
        if (memory := self._current_memory) is not None:
            with suppress(ThinkbackError):
                memory.release_claims()

    def run_round(self) -> bool:
        """Think for a moment for every waiting space; returns whether there was anything to do."""
        if not self._models_available():
            return False
        waiting = in_turn(self._memories.root.store.pending_spaces(self._clock()))
        first = int(len(waiting) * (self._number * GOLDEN_RATIO % 1))  # far from where others start
        worked, empty_visits = False, 0
        for tenant, space in (*waiting[first:], *waiting[:first])[:SPACES_PER_ROUND]:
            if self._should_stop() or empty_visits >= MAX_EMPTY_VISITS:
                break
            started = time.monotonic()
            try:
                found = self._think(tenant, space)
            except ModelError as error:  # no turn was claimed, so nothing is lost; the breaker has noticed
                self._telemetry.logs.log_error("thinking_failed", error)
                continue
            worked |= found
            empty_visits += not found
            self._busy_seconds += time.monotonic() - started
            if self._busy_seconds >= COUNT_INTERVAL_SECONDS:
                self._pause_if_falling_behind()
        if not worked:
            self._busy_seconds, self._last_count = 0.0, None
        return worked

    def _pause_if_falling_behind(self) -> None:
        """Leave the processor to the answering processes while turns arrive as fast as this one thinks."""
        before, self._last_count = self._last_count, self._memories.root.store.backlog()
        if before is not None and self._last_count >= max(before, 1):
            self._stop.wait(COUNT_INTERVAL_SECONDS)
        self._busy_seconds = 0.0

    def _think(self, tenant: str, space: str) -> bool:
        memory = self._memories.for_tenant(tenant).for_space(space)
        self._current_memory = memory
        started = time.perf_counter()
        try:
            result = memory.post_think(
                limit=self._turns_per_visit, max_seconds=VISIT_SECONDS, stopping=self._should_stop
            )
        finally:
            self._current_memory = None
        self._report(result, time.perf_counter() - started)
        return result.turns + result.failed > 0

    def _models_available(self) -> bool:
        all_available = True
        for part, breaker in self._breakers.items():
            was_open = breaker.is_open
            available = breaker.is_available()
            self._telemetry.set_gauge("thinkback_breaker_open", not available, part=part)
            if was_open and available:
                self._telemetry.logs(20, "model_well_again", part=part)
            all_available = all_available and available
        return all_available

    def _should_stop(self) -> bool:
        return self._stop.is_set() or any(breaker.is_open for breaker in self._breakers.values())

    def _report(self, result: ThinkResult, seconds: float) -> None:
        telemetry = self._telemetry
        if not result.turns + result.failed:
            return
        telemetry.observe("thinkback_thinking_seconds", seconds)
        for count, name in (
            (result.turns, "thinkback_turns_thought_over_total"),
            (result.failed, "thinkback_thinking_failures_total"),
        ):
            telemetry.count(name, count)
        for action in result.actions:
            telemetry.count("thinkback_thoughts_total", action=action.action)
        usage = result.usage
        telemetry.count("thinkback_tokens_total", usage.prompt_tokens, of="thinking", kind="prompt")
        telemetry.count("thinkback_tokens_total", usage.completion_tokens, of="thinking", kind="completion")
        telemetry.logs(
            20, "thought_over", turns=result.turns, failed=result.failed, ms=round(seconds * 1000, 1)
        )


def lower_priority(nice: int) -> None:
    """Lower the priority of this process, where the system supports it."""
    if hasattr(os, "nice"):
        os.nice(nice)
