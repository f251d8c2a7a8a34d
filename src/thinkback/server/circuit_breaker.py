"""Circuit breaker, and the LLM and embedder wrappers that use it: while a model is down, thinking pauses and turns keep their attempts."""

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
    """Opens after `failures` in a row; each trial that fails doubles the pause."""

    def __init__(
        self,
        *,
        failures: int = FAILURE_THRESHOLD,
        pause_seconds: float = FIRST_PAUSE_SECONDS,
        max_pause_seconds: float = MAX_PAUSE_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._limit = failures
        self._first_pause = self._pause = pause_seconds
        self._longest = max_pause_seconds
        self._clock = clock
        self._failed = 0
        self._until = 0.0
        self._trial = False
        self._lock = threading.Lock()

    @property
    def is_open(self) -> bool:
        with self._lock:
            return self._failed >= self._limit

    def allows_call(self) -> bool:
        """Whether to try now; while it is open, one trial at a time once the pause is over."""
        with self._lock:
            if self._failed < self._limit:
                return True
            if self._trial or self._clock() < self._until:
                return False
            self._trial = True
            return True

    def record_success(self) -> None:
        with self._lock:
            self._failed, self._pause, self._trial = 0, self._first_pause, False

    def record_abandoned(self) -> None:
        """It was tried and nobody waited for the end: an open breaker takes that for a failure."""
        if self.is_open:
            self.record_failure()

    def record_failure(self) -> None:
        with self._lock:
            self._failed += 1
            if self._failed < self._limit:
                return
            if self._trial:
                self._pause = min(self._pause * 2, self._longest)
            self._until = self._clock() + self._pause
            self._trial = False


_Result = TypeVar("_Result")


class ModelBreaker:
    """Watches over one model: opens at its first failure, and closes when a word to it is answered."""

    def __init__(self, breaker: CircuitBreaker | None = None) -> None:
        self._breaker = breaker or CircuitBreaker(failures=1)
        self._probe: Callable[[], object] = lambda: None

    @property
    def is_open(self) -> bool:
        return self._breaker.is_open

    def set_probe(self, probe: Callable[[], object]) -> None:
        self._probe = probe

    def is_available(self) -> bool:
        """Whether to think now; while it is open the model is asked, once a pause."""
        if not self._breaker.is_open:
            return True
        if not self._breaker.allows_call():
            return False
        try:
            self._probe()
        except (BadReply, ModelRefused):  # it answers: that is all we want to know
            pass
        except ModelError:
            self._breaker.record_failure()
            return False
        self._breaker.record_success()
        return True

    def call(self, work: Callable[[], _Result]) -> _Result:
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
    """The model itself in every respect."""

    def __init__(self, llm: LLM, guard: ModelBreaker) -> None:
        self._llm = llm
        self._guard = guard
        guard.set_probe(lambda: llm.complete([Message("user", "Say: well.")], max_tokens=8))

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
        return self._guard.call(
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
    """The embedder itself in every respect."""

    def __init__(self, embedder: Embedder, guard: ModelBreaker) -> None:
        self._embedder = embedder
        self._guard = guard
        guard.set_probe(lambda: embedder.embed(["well"]))

    @property
    def name(self) -> str:
        return self._embedder.name

    @property
    def dim(self) -> int:
        return self._embedder.dim

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        return self._guard.call(lambda: self._embedder.embed(texts))
