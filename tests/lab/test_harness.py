"""Models are loaded once per run and stay open while memories are opened and closed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.fake_openai import FakeOpenAI

from thinkback import Message
from thinkback_lab.harness import Harness, ManualClock, Setup
from thinkback_lab.systems.resources import load_resources

SETUP = Setup(llm="openai:fake", embedder="openai:fake")


@pytest.fixture
def upstream(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeOpenAI]:
    with FakeOpenAI() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "a-key-for-a-fake")
        yield server


def test_every_memory_of_harness_can_use_model(upstream: FakeOpenAI) -> None:
    stage = Harness(SETUP)
    for _ in range(2):
        with stage.open(ManualClock()) as memory:
            assert memory.llm is not None
            assert memory.llm.complete([Message("user", "hello")]).text == "The sky is blue today."
            memory.recall("hello")


def test_shared_resources_can_use_model(upstream: FakeOpenAI) -> None:
    tools = load_resources(SETUP)
    assert tools.llm is not None
    assert tools.llm.complete([Message("user", "hello")]).text == "The sky is blue today."
    assert len(tools.embedder.embed(["one", "two"])) == 2
