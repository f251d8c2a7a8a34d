"""Models behind a breaker: an outage costs turns nothing, a turn's own failure costs an attempt."""

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
from thinkback.server.circuit_breaker import (
    CircuitBreaker,
    ModelBreaker,
    ProtectedEmbedder,
    ProtectedLLM,
)
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
def breaker(clock: Clock) -> ModelBreaker:
    return ModelBreaker(CircuitBreaker(failures=1, pause_seconds=2, max_pause_seconds=8, clock=clock))


@pytest.mark.parametrize("error", [ModelUnavailable("down"), RateLimited("wait", retry_after=7)])
def test_outage_raises_model_paused(breaker: ModelBreaker, error: ModelError) -> None:
    with pytest.raises(ModelPaused) as paused:
        ProtectedLLM(ScriptedLLM([error]), breaker).complete(ASK)
    assert paused.value.retry_after == getattr(error, "retry_after", None)
    assert breaker.is_open


@pytest.mark.parametrize("error", [BadReply("nonsense"), ModelRefused("no")])
def test_bad_reply_does_not_open_breaker(breaker: ModelBreaker, error: ModelError) -> None:
    with pytest.raises(type(error)):
        ProtectedLLM(ScriptedLLM([error]), breaker).complete(ASK)
    assert not breaker.is_open


def test_timeout_opens_breaker_and_probe_closes_it(breaker: ModelBreaker, clock: Clock) -> None:
    llm = ScriptedLLM([ModelTimeout("slow"), "well"])
    with pytest.raises(ModelTimeout):
        ProtectedLLM(llm, breaker).complete(ASK)
    assert not breaker.is_available()  # not before the pause is over
    assert len(llm.calls) == 1
    clock.now += 2
    assert breaker.is_available()
    assert not breaker.is_open
    assert len(llm.calls) == 2


def test_probes_become_rarer_during_outage(breaker: ModelBreaker, clock: Clock) -> None:
    llm = ScriptedLLM([ModelUnavailable("down")] * 1000)
    with pytest.raises(ModelPaused):
        ProtectedLLM(llm, breaker).complete(ASK)
    while clock.now < 3600:
        assert not breaker.is_available()
        clock.now += 0.5
    assert 3600 / 8 - 5 < len(llm.calls) < 3600 / 8 + 5


@pytest.mark.parametrize("says", ["well", BadReply("empty"), ModelRefused("no")])
def test_any_answer_to_probe_closes_breaker(
    breaker: ModelBreaker, clock: Clock, says: str | ModelError
) -> None:
    llm = ScriptedLLM([ModelUnavailable("down"), says])
    with pytest.raises(ModelPaused):
        ProtectedLLM(llm, breaker).complete(ASK)
    clock.now += 2
    assert breaker.is_available()


def test_protected_llm_behaves_like_the_model(breaker: ModelBreaker) -> None:
    llm = ScriptedLLM(["Hello.", "One two."], name="able", speaks=("en",), masks=True)
    guarded = ProtectedLLM(llm, breaker)
    for name in ("name", "extracts", "follows", "speaks", "masks"):
        assert getattr(guarded, name) == getattr(llm, name)
    assert guarded.complete(ASK).text == "Hello."
    assert "".join(guarded.stream(ASK)) == "One two."


def test_protected_embedder(breaker: ModelBreaker, clock: Clock) -> None:
    class Down(HashingEmbedder):
        down = True

        def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
            if self.down:
                raise ModelUnavailable("down")
            return super().embed(texts)

    embedder = Down()
    guarded = ProtectedEmbedder(embedder, breaker)
    assert (guarded.name, guarded.dim) == (embedder.name, embedder.dim)
    with pytest.raises(ModelPaused):
        guarded.embed(["a"])
    embedder.down = False
    clock.now += 2
    assert breaker.is_available()
    assert np.array_equal(guarded.embed(["a"]), HashingEmbedder().embed(["a"]))
