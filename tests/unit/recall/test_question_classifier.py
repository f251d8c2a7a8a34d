"""The question classifier, on chats by people who did not know it, and its model file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from thinkback.network.cross_encoder import find_cross_encoder
from thinkback.recall import message_classifier
from thinkback.recall.message_classifier import CERTAIN
from thinkback.recall.question_classifier import (
    THRESHOLD_IF_NOTHING_KEPT,
    QuestionModel,
    asks_for_memory,
    mark_question,
)

SCENARIOS = Path(__file__).parents[3] / "scenarios"
CHATS = SCENARIOS / "chats" / "heldout"
YES_NO = SCENARIOS / "questions" / "heldout" / "yes_no.jsonl"
SHORT = SCENARIOS / "questions" / "heldout" / "short.jsonl"


def _messages(kind: str) -> list[str]:
    lines = (line for file in sorted(CHATS.glob("*.jsonl")) for line in file.read_text("utf-8").splitlines())
    return [message[kind] for message in map(json.loads, lines) if kind in message]


def test_finds_questions_of_chats_that_were_not_trained_on() -> None:
    asked, told = _messages("ask"), _messages("say")
    assert len(asked) > 100
    assert len(told) > 100
    assert sum(map(asks_for_memory, asked)) >= 0.93 * len(asked)
    assert sum(map(asks_for_memory, told)) <= 0.03 * len(told)


@pytest.mark.skipif(find_cross_encoder() is None, reason="thinkback-reranker is not installed")
def test_finds_yes_or_no_questions_without_a_mark_that_were_not_trained_on() -> None:
    messages = list(map(json.loads, YES_NO.read_text("utf-8").splitlines()))
    asked = [message["text"] for message in messages if message["is_question"]]
    told = [message["text"] for message in messages if not message["is_question"]]
    assert len(asked) == len(told) == 100
    assert sum(map(asks_for_memory, asked)) >= 78  # 75 by words alone
    assert sum(map(asks_for_memory, told)) <= 11
    with_less = [asks_for_memory(text, threshold=THRESHOLD_IF_NOTHING_KEPT) for text in asked]
    assert sum(with_less) >= 88


def test_without_the_network_words_decide(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "could olamide have the almond one then"  # in no other test: probabilities are cached
    monkeypatch.setattr(message_classifier, "load_cross_encoder", lambda: None)
    probability = QuestionModel.shipped().probability(text)
    assert CERTAIN < probability < 1 - CERTAIN
    assert asks_for_memory(text, threshold=probability)
    assert not asks_for_memory(text, threshold=probability + 1e-9)


def test_needs_less_evidence_if_nothing_was_kept() -> None:
    asked = _messages("ask")
    with_less = sum(asks_for_memory(text, threshold=THRESHOLD_IF_NOTHING_KEPT) for text in asked)
    assert with_less >= sum(map(asks_for_memory, asked))


@pytest.mark.parametrize(
    ("message", "marked"),
    [
        ("when is my dentist appointment", "when is my dentist appointment?"),
        ("when is my dentist appointment?", "when is my dentist appointment?"),
        ("我妹妹住在哪里", "我妹妹住在哪里？"),
        ("I live in Lyon.", "I live in Lyon."),
    ],
)
def test_question_marks_are_added_to_questions_only(message: str, marked: str) -> None:
    assert mark_question(message) == marked


def test_empty_and_endless_messages_have_a_probability() -> None:
    assert not asks_for_memory("")
    assert 0 <= QuestionModel.shipped().probability("where " * 100_000) <= 1


@pytest.mark.skipif(find_cross_encoder() is None, reason="thinkback-reranker is not installed")
def test_short_messages_of_another_writer() -> None:
    rows = [json.loads(line) for line in SHORT.read_text("utf-8").splitlines()]
    found = [row["is_question"] for row in rows if asks_for_memory(row["text"])]
    assert sum(row["is_question"] for row in rows) == len(rows) / 2 == 120
    assert found.count(True) >= 92
    assert found.count(False) <= 6
