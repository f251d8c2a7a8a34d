"""The models that think, behind a circuit breaker: while one is down its queue is left alone.

A model that cannot be reached, or asks us to wait, is no fault of the turn it was asked about: the turn keeps
its attempts (ModelPaused). A timeout may be the turn's own, so it costs one; whether the model is well is
then found out by a question of one word, not by the next turn.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from thinkback.apps.server.breaker import Breaker
from thinkback.errors import (
    BadReply,
    ModelError,
    ModelPaused,
    ModelRefused,
    ModelTimeout,
    ModelUnavailable,
    RateLimited,
)
from thinkback.ports import LLM, Embedder
from thinkback.types import Message, Reply

_Result = TypeVar("_Result")


class Guard:
    """Watches over one model: opens at its first failure, and closes when a word to it is answered."""

    def __init__(self, breaker: Breaker | None = None) -> None:
        self._breaker = breaker or Breaker(failures=1)
        self._probe: Callable[[], object] = lambda: None

    @property
    def open(self) -> bool:
        return self._breaker.open

    def watch(self, probe: Callable[[], object]) -> None:
        self._probe = probe

    def well(self) -> bool:
        """Whether to think now; while it is open the model is asked, once a pause."""
        if not self._breaker.open:
            return True
        if not self._breaker.allows():
            return False
        try:
            self._probe()
        except (BadReply, ModelRefused):  # it answers: that is all we want to know
            pass
        except ModelError:
            self._breaker.failed()
            return False
        self._breaker.succeeded()
        return True

    def call(self, work: Callable[[], _Result]) -> _Result:
        try:
            result = work()
        except ModelTimeout:
            self._breaker.failed()
            raise
        except (ModelUnavailable, RateLimited) as error:
            self._breaker.failed()
            raise ModelPaused(str(error), getattr(error, "retry_after", None)) from error
        self._breaker.succeeded()
        return result


class GuardedLLM:
    """The model itself in every respect."""

    def __init__(self, llm: LLM, guard: Guard) -> None:
        self._llm = llm
        self._guard = guard
        guard.watch(lambda: llm.complete([Message("user", "Say: well.")], max_tokens=8))

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


class GuardedEmbedder:
    """The embedder itself in every respect."""

    def __init__(self, embedder: Embedder, guard: Guard) -> None:
        self._embedder = embedder
        self._guard = guard
        guard.watch(lambda: embedder.embed(["well"]))

    @property
    def name(self) -> str:
        return self._embedder.name

    @property
    def dim(self) -> int:
        return self._embedder.dim

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        return self._guard.call(lambda: self._embedder.embed(texts))
