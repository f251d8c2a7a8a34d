"""Circuit breaker, and wrappers that put an LLM or embedder behind one while the server thinks.

A model that is unreachable or rate-limited is not the fault of the turn, so the turn keeps its attempts
(`ModelPaused`). A timeout may be caused by the turn, so it costs an attempt; a one-word probe, not the next
turn, then decides whether the model works.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from thinkback.errors import (
    BadReply,
    ModelError,
    ModelPaused,
    ModelRefused,
    ModelTimeout,
    ModelUnavailable,
    RateLimited,
)
from thinkback.protocols import LLM, Embedder
from thinkback.types import Message, Reply

FAILURE_THRESHOLD = 5
FIRST_PAUSE_SECONDS = 2.0
MAX_PAUSE_SECONDS = 60.0


class CircuitBreaker:
    """Opens after `failures` in a row. Each failed trial call doubles the pause, up to a maximum.

    The usual pattern: `if breaker.allows_call(): ...`, then `record_success()` or `record_failure()`.
    """

    def __init__(
        self,
        *,
        failures: int = FAILURE_THRESHOLD,
        pause_seconds: float = FIRST_PAUSE_SECONDS,
        max_pause_seconds: float = MAX_PAUSE_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._threshold = failures
        self._first_pause = self._pause = pause_seconds
        self._max_pause = max_pause_seconds
        self._clock = clock
        self._failures = 0
        self._retry_at = 0.0
        self._trial_running = False
        self._lock = threading.Lock()

    @property
    def is_open(self) -> bool:
        with self._lock:
            return self._failures >= self._threshold

    def allows_call(self) -> bool:
        """Whether to call now. While the breaker is open: one trial at a time, after each pause."""
        with self._lock:
            if self._failures < self._threshold:
                return True
            if self._trial_running or self._clock() < self._retry_at:
                return False
            self._trial_running = True
            return True

    def record_success(self) -> None:
        with self._lock:
            self._failures, self._pause, self._trial_running = 0, self._first_pause, False

    def record_abandoned(self) -> None:
        """The caller stopped waiting for the call: it neither succeeded nor failed.

        An abandoned trial is followed by another one after the first pause, which is not doubled: under load
        the first calls after a recovery are slow.
        """
        with self._lock:
            if self._trial_running:
                self._trial_running = False
                self._retry_at = self._clock() + self._first_pause

    def record_failure(self) -> None:
        with self._lock:
            self._failures += 1
            if self._failures < self._threshold:
                return
            if self._trial_running:
                self._pause = min(self._pause * 2, self._max_pause)
            self._retry_at = self._clock() + self._pause
            self._trial_running = False


_Result = TypeVar("_Result")


class ModelBreaker:
    """Breaker of one model: opens at the first failure, closes when a probe call succeeds."""

    def __init__(self, breaker: CircuitBreaker | None = None) -> None:
        self._breaker = breaker or CircuitBreaker(failures=1)
        self._probe: Callable[[], object] = lambda: None

    @property
    def is_open(self) -> bool:
        return self._breaker.is_open

    def set_probe(self, probe: Callable[[], object]) -> None:
        self._probe = probe

    def is_available(self) -> bool:
        """Whether the model can be used. While the breaker is open, probes the model once per pause."""
        if not self._breaker.is_open:
            return True
        if not self._breaker.allows_call():
            return False
        try:
            self._probe()
        except (BadReply, ModelRefused):  # a bad answer still shows that the model is running
            pass
        except ModelError:
            self._breaker.record_failure()
            return False
        self._breaker.record_success()
        return True

    def call(self, work: Callable[[], _Result]) -> _Result:
        """Call the model and record the result; an unreachable or busy model raises `ModelPaused`."""
        try:
            result = work()
        except ModelTimeout:
            self._breaker.record_failure()
            raise
        except (ModelUnavailable, RateLimited) as error:
            self._breaker.record_failure()
            raise ModelPaused(str(error), getattr(error, "retry_after", None)) from error
        self._breaker.record_success()
        return result


class ProtectedLLM:
    """An LLM whose completions go through a `ModelBreaker`."""

    def __init__(self, llm: LLM, breaker: ModelBreaker) -> None:
        self._llm = llm
        self._breaker = breaker
        breaker.set_probe(lambda: llm.complete([Message("user", "Say: well.")], max_tokens=8))

    @property
    def name(self) -> str:
        return self._llm.name

    @property
    def extracts(self) -> bool:
        return self._llm.extracts

    @property
    def follows(self) -> bool:
        return self._llm.follows

    @property
    def speaks(self) -> tuple[str, ...] | None:
        return self._llm.speaks

    @property
    def masks(self) -> bool:
        return self._llm.masks

    def complete(
        self,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None = None,
        max_tokens: int = 512,
        temperature: float = 0.0,
    ) -> Reply:
        return self._breaker.call(
            lambda: self._llm.complete(
                messages, schema=schema, max_tokens=max_tokens, temperature=temperature
            )
        )

    def stream(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int = 512,
        temperature: float = 0.0,
        forbid: Sequence[str] = (),
    ) -> Generator[str, None, Reply]:
        return self._llm.stream(messages, max_tokens=max_tokens, temperature=temperature, forbid=forbid)


class ProtectedEmbedder:
    """An embedder whose calls go through a `ModelBreaker`."""

    def __init__(self, embedder: Embedder, breaker: ModelBreaker) -> None:
        self._embedder = embedder
        self._breaker = breaker
        breaker.set_probe(lambda: embedder.embed(["well"]))

    @property
    def name(self) -> str:
        return self._embedder.name

    @property
    def dim(self) -> int:
        return self._embedder.dim

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        return self._breaker.call(lambda: self._embedder.embed(texts))
