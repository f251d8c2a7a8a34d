"""Does a message ask for something that was told before, as people type: "rent?", "mri what day", 到底去没去?

A trained linear model (see `message_classifier`) decides; `thinkback-lab train questions` writes its file.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import ClassVar

from thinkback.language.sentences import is_question, is_without_subject
from thinkback.language.text_cache import cache_by_digest
from thinkback.language.writing_systems import has_han
from thinkback.recall.answerable import asks
from thinkback.recall.message_classifier import MAX_CHARS, MessageModel

THRESHOLD = 0.5  # of the probability of a question
THRESHOLD_IF_FORM = 0.3  # of a message that has the form of a question by the rules
THRESHOLD_IF_NOTHING_KEPT = 0.4  # of a message that was read and of which nothing was worth keeping
THRESHOLD_IF_MENTIONED = 0.4  # of a sentence that was not worth keeping, but may state a fact
THRESHOLD_IF_REQUESTED = 0.8  # a question above it is for memory unless it is surely a request
THRESHOLD_IF_NOT_TOLD = 0.9  # without the form of a question, if nothing is known or a sentence was kept
THRESHOLD_TO_DROP = 0.95  # a short sentence above it is never kept as a fact
THRESHOLD_IF_STORED = 0.8  # a stored message above it is a question, so that it is not quoted as an answer


def asks_for_memory(message: str, *, threshold: float = THRESHOLD, use_network: bool = True) -> bool:
    """Whether a message asks for something that was told before, by the model of this package."""
    if is_without_subject(message):
        return False
    text = message[:MAX_CHARS]
    probability = _probability(text) if use_network else QuestionModel.shipped().probability(text)
    return probability >= threshold


@cache_by_digest(2048, min_characters=1)
def _probability(text: str) -> float:
    return QuestionModel.shipped().estimate(text)


def mark_question(message: str, *, use_network: bool = True) -> str:
    """The message with a question mark if it asks for something and has none: "mri what day?"."""
    text = message.rstrip()
    if any(mark in text for mark in "?？") or not asks_for_memory(text, use_network=use_network):
        return message
    return text + ("？" if has_han(text) else "?")


@dataclass(frozen=True, slots=True, eq=False)
class QuestionModel(MessageModel):
    """P(a message asks for something that was told before)."""

    MODEL_FILE: ClassVar[str] = "questions.npz"
    SUBJECT: ClassVar[str] = "questions"

    @staticmethod
    @cache
    def shipped() -> QuestionModel:
        """The model of this package, loaded at the first call."""
        return QuestionModel.load_shipped()

    @staticmethod
    def dense_features(text: str) -> list[float]:
        """1, what rules say, whether it ends with a question mark, its length, whether it is Chinese."""
        return [
            1.0,
            float(is_question(text)),
            float(asks(text)),
            float(any(mark in text[-6:] for mark in "?？")),
            math.log(len(text) + 1) / 5,
            float(has_han(text)),
        ]
