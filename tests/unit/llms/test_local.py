"""What only the local model does: quiet, closable, and clear about files and contexts that do not fit."""

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
    except ModelUnavailable as absent:
        pytest.skip(f"{absent}")
    model = LocalLLM("smollm2", context=512)
    yield model
    model.close()


@pytest.mark.model
def test_it_says_nothing_to_the_terminal(llm: LocalLLM, capfd: pytest.CaptureFixture[str]) -> None:
    llm.close()
    llm.complete(ASK, max_tokens=4)
    list(llm.stream(ASK, max_tokens=4))
    assert capfd.readouterr() == ("", "")
    assert repr(llm) == "<LocalLLM local:smollm2>"
    assert not llm.extracts


@pytest.mark.model
def test_a_text_longer_than_its_context_is_refused(llm: LocalLLM) -> None:
    long = [Message("user", "word " * 2000)]
    with pytest.raises(ModelRefused, match="larger context"):
        llm.complete(long, max_tokens=4)
    with pytest.raises(ModelRefused, match="larger context"):
        list(llm.stream(long, max_tokens=4))
    assert llm.complete(ASK, max_tokens=4).text


@pytest.mark.model
def test_chat_and_post_thinking_keep_each_others_prompts(llm: LocalLLM) -> None:
    """What two kinds of prompt share among themselves is read once, though they take turns on one slot."""

    def read_anew(text: str) -> int:
        return int(
            llm._handle_request(llm._build_request([Message("user", text)], 2, 0.0))["timings"]["prompt_n"]
        )

    think, chat = "Write down the facts of this exchange. " * 15, "You are an assistant with a memory. " * 15
    assert read_anew(think + "one") > 50
    assert read_anew(chat + "one") > 50
    assert read_anew(think + "two") < 25
    assert read_anew(chat + "two") < 25


@pytest.mark.model
def test_an_impossible_schema_is_refused(llm: LocalLLM) -> None:
    with pytest.raises(ModelRefused, match="Simplify its schema"):
        llm.complete(ASK, schema={"type": "nonsense"})


@pytest.mark.model
def test_nobody_else_may_talk_to_the_model(llm: LocalLLM) -> None:
    import urllib.error
    import urllib.request

    llm.complete(ASK, max_tokens=2)
    request = urllib.request.Request(f"{llm._server.listening_address}/v1/chat/completions", data=b"{}")
    with pytest.raises(urllib.error.HTTPError) as caught:
        urllib.request.urlopen(request, timeout=5)
    with caught.value as answer:
        assert answer.code == 401


@pytest.mark.model
def test_threads_take_turns(llm: LocalLLM) -> None:
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


def test_a_damaged_file_cannot_be_loaded(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "broken.gguf"
    path.write_bytes(b"GGUF" + b"\0" * 100)
    llm = LocalLLM(path)
    with pytest.raises(ModelUnavailable, match=r"broken\.gguf cannot be loaded"):
        llm.complete(ASK)
    with pytest.raises(ModelUnavailable):
        list(llm.stream(ASK))
    assert capfd.readouterr() == ("", "")


class Silent:
    """Stands where a loaded model stands, and says nothing."""

    def handle_chat_completions(self, request: dict[str, Any], heard: Any = None) -> dict[str, Any]:
        return {"choices": [{"message": {"content": " "}, "finish_reason": "stop"}]}


def test_silence_is_a_bad_reply(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "m.gguf"
    path.write_bytes(b"GGUF")
    llm = LocalLLM(path, extracts=True)
    monkeypatch.setattr(llm, "_load", Silent)
    with pytest.raises(BadReply):
        llm.complete(ASK)
    with pytest.raises(BadReply):
        list(llm.stream(ASK))
    assert llm.extracts
