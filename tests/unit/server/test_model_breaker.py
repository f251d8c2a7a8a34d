"""Models behind a breaker: an outage costs turns nothing, a turn's own failure costs it an attempt."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pytest

from thinkback.embedders.hashing import HashingEmbedder
from thinkback.errors import (
    BadReply,
    ModelError,
    ModelPaused,
    ModelRefused,
    ModelTimeout,
    ModelUnavailable,
    RateLimited,
)
from thinkback.llms.scripted import ScriptedLLM
from thinkback.server.circuit_breaker import CircuitBreaker, ModelBreaker, ProtectedEmbedder, ProtectedLLM
from thinkback.types import Message

ASK = [Message("user", "What is thought of this?")]


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def guard(clock: Clock) -> ModelBreaker:
    return ModelBreaker(CircuitBreaker(failures=1, pause_seconds=2, max_pause_seconds=8, clock=clock))


@pytest.mark.parametrize("error", [ModelUnavailable("down"), RateLimited("wait", retry_after=7)])
def test_an_outage_is_no_fault_of_what_was_asked(guard: ModelBreaker, error: ModelError) -> None:
    with pytest.raises(ModelPaused) as paused:
        ProtectedLLM(ScriptedLLM([error]), guard).complete(ASK)
    assert paused.value.retry_after == getattr(error, "retry_after", None)
    assert guard.is_open


@pytest.mark.parametrize("error", [BadReply("nonsense"), ModelRefused("no")])
def test_a_bad_answer_is_an_answer(guard: ModelBreaker, error: ModelError) -> None:
    with pytest.raises(type(error)):
        ProtectedLLM(ScriptedLLM([error]), guard).complete(ASK)
    assert not guard.is_open


def test_a_timeout_may_be_the_turns_own_so_the_model_is_asked_a_word(
    guard: ModelBreaker, clock: Clock
) -> None:
    llm = ScriptedLLM([ModelTimeout("slow"), "well"])
    with pytest.raises(ModelTimeout):
        ProtectedLLM(llm, guard).complete(ASK)
    assert not guard.is_available()  # not before the pause is over
    assert len(llm.calls) == 1
    clock.now += 2
    assert guard.is_available()
    assert not guard.is_open
    assert len(llm.calls) == 2


def test_while_it_is_down_it_is_asked_less_and_less_often(guard: ModelBreaker, clock: Clock) -> None:
    llm = ScriptedLLM([ModelUnavailable("down")] * 1000)
    with pytest.raises(ModelPaused):
        ProtectedLLM(llm, guard).complete(ASK)
    while clock.now < 3600:
        assert not guard.is_available()
        clock.now += 0.5
    assert 3600 / 8 - 5 < len(llm.calls) < 3600 / 8 + 5


@pytest.mark.parametrize("says", ["well", BadReply("empty"), ModelRefused("no")])
def test_any_answer_shows_that_it_is_well(guard: ModelBreaker, clock: Clock, says: str | ModelError) -> None:
    llm = ScriptedLLM([ModelUnavailable("down"), says])
    with pytest.raises(ModelPaused):
        ProtectedLLM(llm, guard).complete(ASK)
    clock.now += 2
    assert guard.is_available()


def test_it_is_the_model_in_every_respect(guard: ModelBreaker) -> None:
    llm = ScriptedLLM(["Hello.", "One two."], name="able", speaks=("en",), masks=True)
    guarded = ProtectedLLM(llm, guard)
    for name in ("name", "extracts", "follows", "speaks", "masks"):
        assert getattr(guarded, name) == getattr(llm, name)
    assert guarded.complete(ASK).text == "Hello."
    assert "".join(guarded.stream(ASK)) == "One two."


def test_an_embedder_is_guarded_alike(guard: ModelBreaker, clock: Clock) -> None:
    class Down(HashingEmbedder):
        down = True

        def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
            if self.down:
                raise ModelUnavailable("down")
            return super().embed(texts)

    embedder = Down()
    guarded = ProtectedEmbedder(embedder, guard)
    assert (guarded.name, guarded.dim) == (embedder.name, embedder.dim)
    with pytest.raises(ModelPaused):
        guarded.embed(["a"])
    embedder.down = False
    clock.now += 2
    assert guard.is_available()
    assert np.array_equal(guarded.embed(["a"]), HashingEmbedder().embed(["a"]))
