"""`thinkback chat --offer-model`: asks once, downloads after a yes, and never prevents the chat."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from thinkback.cli import chat
from thinkback.config import load_settings
from thinkback.errors import ModelUnavailable


class Offer:
    """Answers the question and records what was asked and pulled."""

    def __init__(self, yes: bool, error: BaseException | None = None) -> None:
        self.yes, self.error = yes, error
        self.asked: list[str] = []
        self.pulled: list[str] = []

    def confirm(self, question: str, **_: Any) -> bool:
        self.asked.append(question)
        return self.yes

    def pull(self, name: str, **_: Any) -> None:
        self.pulled.append(name)
        if self.error is not None:
            raise self.error


@pytest.fixture(autouse=True)
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THINKBACK_HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.delenv("THINKBACK_LLM", raising=False)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: object())


def use(offer: Offer, monkeypatch: pytest.MonkeyPatch) -> Offer:
    monkeypatch.setattr("typer.confirm", offer.confirm)
    monkeypatch.setattr("thinkback.llms.pull.pull_model", offer.pull)
    return offer


def test_a_yes_downloads_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    offer = use(Offer(yes=True), monkeypatch)
    chat.offer_local_model(load_settings())
    assert offer.pulled == ["qwen-coder-1.5b"]
    assert "1.1 GB" in offer.asked[0]


def test_a_no_is_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    offer = use(Offer(yes=False), monkeypatch)
    chat.offer_local_model(load_settings())
    chat.offer_local_model(load_settings())
    assert (len(offer.asked), offer.pulled) == (1, [])


@pytest.mark.parametrize("error", [ModelUnavailable("no network."), KeyboardInterrupt()])
def test_a_failed_download_does_not_end_the_chat(
    error: BaseException, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    use(Offer(yes=True, error=error), monkeypatch)
    chat.offer_local_model(load_settings())
    assert "thinkback pull qwen-coder-1.5b" in " ".join(capsys.readouterr().err.split())


def test_nothing_is_asked_if_a_model_was_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    offer = use(Offer(yes=True), monkeypatch)
    for llm in ("none", "openai:x"):
        chat.offer_local_model(load_settings(llm=llm))
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)  # xllamacpp is not installed
    chat.offer_local_model(load_settings())
    assert offer.asked == []
