"""Models loaded once for a run live as long as the run: memories come and go without closing them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.upstream import Upstream

from thinkback import Message
from thinkback_lab.schemes.embedder import kit
from thinkback_lab.stage import Clock, Setup, Stage

SETUP = Setup(llm="openai:fake", embedder="openai:fake")


@pytest.fixture
def upstream(monkeypatch: pytest.MonkeyPatch) -> Iterator[Upstream]:
    with Upstream() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "a-key-for-a-fake")
        yield server


def test_every_memory_of_a_stage_can_ask_its_model(upstream: Upstream) -> None:
    stage = Stage(SETUP)
    for _ in range(2):
        with stage.open(Clock()) as memory:
            assert memory.llm is not None
            assert memory.llm.complete([Message("user", "hello")]).text == "The sky is blue today."
            memory.recall("hello")


def test_the_models_of_a_kit_answer(upstream: Upstream) -> None:
    tools = kit(SETUP)
    assert tools.llm is not None
    assert tools.llm.complete([Message("user", "hello")]).text == "The sky is blue today."
    assert len(tools.embedder.embed(["one", "two"])) == 2
