"""Behaviour specific to local models: no terminal output, prompt cache, errors of files and contexts."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from thinkback.errors import BadReply, ModelRefused, ModelUnavailable
from thinkback.llms.catalogue import find_model_file
from thinkback.llms.local import LocalLLM
from thinkback.types import Message

ASK = [Message("user", "Say hello.")]


@pytest.fixture(scope="module")
def llm() -> Iterator[LocalLLM]:
    try:
        find_model_file("smollm2")
    except ModelUnavailable as error:
        pytest.skip(f"{error}")
    model = LocalLLM("smollm2", context=512)
    yield model
    model.close()


@pytest.mark.model
def test_local_model_prints_nothing(llm: LocalLLM, capfd: pytest.CaptureFixture[str]) -> None:
    llm.close()
    llm.complete(ASK, max_tokens=4)
    list(llm.stream(ASK, max_tokens=4))
    assert capfd.readouterr() == ("", "")
    assert repr(llm) == "<LocalLLM local:smollm2>"
    assert not llm.extracts


@pytest.mark.model
def test_text_longer_than_the_context_is_rejected(llm: LocalLLM) -> None:
    long = [Message("user", "word " * 2000)]
    with pytest.raises(ModelRefused, match="larger context"):
        llm.complete(long, max_tokens=4)
    with pytest.raises(ModelRefused, match="larger context"):
        list(llm.stream(long, max_tokens=4))
    assert llm.complete(ASK, max_tokens=4).text


@pytest.mark.model
def test_alternating_prompts_stay_cached(llm: LocalLLM) -> None:
    """Alternating prompts of two kinds keep their cached prefixes, although they share one slot."""

    def uncached_tokens(text: str) -> int:
        return int(
            llm._handle_request(llm._build_request([Message("user", text)], 2, 0.0))["timings"]["prompt_n"]
        )

    think, chat = "Write down the facts of this exchange. " * 15, "You are an assistant with a memory. " * 15
    assert uncached_tokens(think + "one") > 50
    assert uncached_tokens(chat + "one") > 50
    assert uncached_tokens(think + "two") < 25
    assert uncached_tokens(chat + "two") < 25


@pytest.mark.model
def test_invalid_schema_is_rejected(llm: LocalLLM) -> None:
    with pytest.raises(ModelRefused, match="Simplify its schema"):
        llm.complete(ASK, schema={"type": "nonsense"})


@pytest.mark.model
def test_model_server_requires_its_key(llm: LocalLLM) -> None:
    import urllib.error
    import urllib.request

    llm.complete(ASK, max_tokens=2)
    request = urllib.request.Request(f"{llm._server.listening_address}/v1/chat/completions", data=b"{}")
    with pytest.raises(urllib.error.HTTPError) as caught:
        urllib.request.urlopen(request, timeout=5)
    with caught.value as answer:
        assert answer.code == 401


@pytest.mark.model
def test_concurrent_calls_are_serialized(llm: LocalLLM) -> None:
    answers: list[str] = []
    threads = [
        threading.Thread(target=lambda: answers.append(llm.complete(ASK, max_tokens=6).text))
        for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 3
    assert len(set(answers)) == 1


def test_damaged_file_is_unavailable(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "broken.gguf"
    path.write_bytes(b"GGUF" + b"\0" * 100)
    llm = LocalLLM(path)
    with pytest.raises(ModelUnavailable, match=r"broken\.gguf cannot be loaded"):
        llm.complete(ASK)
    with pytest.raises(ModelUnavailable):
        list(llm.stream(ASK))
    assert capfd.readouterr() == ("", "")


class SilentServer:
    """A loaded model whose answers are blank."""

    def handle_chat_completions(self, request: dict[str, Any], on_event: Any = None) -> dict[str, Any]:
        return {"choices": [{"message": {"content": " "}, "finish_reason": "stop"}]}


def test_blank_answer_is_a_bad_reply(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "m.gguf"
    path.write_bytes(b"GGUF")
    llm = LocalLLM(path, extracts=True)
    monkeypatch.setattr(llm, "_load_server", SilentServer)
    with pytest.raises(BadReply):
        llm.complete(ASK)
    with pytest.raises(BadReply):
        list(llm.stream(ASK))
    assert llm.extracts
