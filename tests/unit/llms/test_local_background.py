"""Background work of a local model makes room for chats, and uses the adapter that chats do not."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.unit.llms.test_adapters import ADAPTER, MODEL, PAIR, WEIGHT, write_gguf

from thinkback.errors import ModelPaused
from thinkback.llms.local import LocalLLM
from thinkback.types import Message

MESSAGES = [Message("user", "hello")]


class Server:
    """Streams words of background requests until it is stopped or told to end."""

    def __init__(self, words: int = 10**6) -> None:
        self.words = words
        self.requests: list[dict[str, Any]] = []
        self.streaming = threading.Event()

    def handle_chat_completions(
        self, request: dict[str, Any], on_event: Callable[[dict[str, Any]], bool] | None = None
    ) -> dict[str, Any]:
        self.requests.append(request)
        if on_event is None:
            return {"choices": [{"message": {"content": "hi"}, "finish_reason": "stop"}]}
        for _ in range(self.words):
            if on_event({"choices": [{"delta": {"content": "x"}}]}):
                break
            self.streaming.set()
        return {}


@pytest.fixture
def llm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LocalLLM:
    base = write_gguf(tmp_path / "base.gguf", MODEL, {WEIGHT: (16, 24)})
    return LocalLLM(base, adapter=str(write_gguf(tmp_path / "thinker.gguf", ADAPTER, PAIR)))


def test_a_chat_stops_background_work_and_is_answered(llm: LocalLLM, monkeypatch: pytest.MonkeyPatch) -> None:
    server = Server()
    monkeypatch.setattr(llm, "_load_server", lambda: server)
    errors: list[ModelPaused] = []

    def think() -> None:
        try:
            llm.complete_with_grammar(MESSAGES, grammar='root ::= "x"', max_tokens=9)
        except ModelPaused as error:
            errors.append(error)

    thinking = threading.Thread(target=think)
    thinking.start()
    assert server.streaming.wait(10)
    assert llm.complete(MESSAGES).text == "hi"
    thinking.join(10)
    assert [error.retry_after for error in errors] == [5.0]


def test_the_adapter_is_applied_to_background_work_only(
    llm: LocalLLM, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = Server(words=3)
    monkeypatch.setattr(llm, "_load_server", lambda: server)
    assert llm.complete_with_grammar(MESSAGES, grammar="root ::= [x]+", max_tokens=9).text == "xxx"
    llm.complete(MESSAGES)
    scales = [request["lora"][0]["scale"] for request in server.requests]
    assert scales == [1.0, 0.0]
    assert server.requests[0]["grammar"] == "root ::= [x]+"
    assert server.requests[0]["temperature"] == 0.0
