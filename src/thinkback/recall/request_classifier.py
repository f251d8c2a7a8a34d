"""Does a message want work of a language model: a text, an explanation, advice, general knowledge?

    write a card for my sister who just moved    a request
    how do i get wine out of a carpet            a request
    tell me what i said about the boiler         asks for a memory
    note that the plumber comes friday           tells something

A trained linear model (see `message_classifier`) decides; `thinkback-lab train requests` writes its file.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import ClassVar

from thinkback.language.sentences import is_without_subject
from thinkback.language.text_cache import cache_by_digest
from thinkback.recall.chat_phrases import load_patterns
from thinkback.recall.message_classifier import MAX_CHARS, MessageModel
from thinkback.recall.question_classifier import QuestionModel

POSSIBLE_THRESHOLD = 0.1  # of a question about nothing that was told, for which a model is at hand
THRESHOLD = 0.3  # of the probability of a request
SURE_THRESHOLD = 0.6  # above it a message is one whatever it tells or memory knows
LIKELY_THRESHOLD = 0.5  # of a question that memory does not answer
CERTAIN_THRESHOLD = (
    0.85  # above it also if it has words of a question for permission: "what can i bake for .."
)


def asks_for_work(message: str, *, threshold: float = THRESHOLD) -> bool:
    """Whether a message wants work of a language model, by the model of this package.

    A statement without its subject is none ("finished the exam"), nor one about something of one's own.
    """
    if is_without_subject(message) or load_patterns("own_statement").search(message[:MAX_CHARS]):
        return False
    return _probability(message[:MAX_CHARS]) >= threshold


@cache_by_digest(256, min_characters=1)
def _probability(text: str) -> float:
    return RequestModel.shipped().estimate(text)


@dataclass(frozen=True, slots=True, eq=False)
class RequestModel(MessageModel):
    """P(a message wants work of a language model)."""

    MODEL_FILE: ClassVar[str] = "requests.npz"
    SUBJECT: ClassVar[str] = "requests"

    @staticmethod
    @cache
    def shipped() -> RequestModel:
        """The model of this package, loaded at the first call."""
        return RequestModel.load_shipped()

    @staticmethod
    def dense_features(text: str) -> list[float]:
        """The numbers of the question classifier."""
        return QuestionModel.dense_features(text)
