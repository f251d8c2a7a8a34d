"""Training of the question classifier: does a message ask for something that was told before?

It learns from messages labelled by hand (`scenarios/questions`), from plain statements, and with a lower
weight from lives: their questions, also in lower case without a question mark, and the messages and sentences
that state a fact; and from memories: their questions, and the messages that answer one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from thinkback import QuestionModel
from thinkback.network.cross_encoder import CrossEncoder
from thinkback_lab.datasets.lives import Life
from thinkback_lab.datasets.memories import ToldMemory
from thinkback_lab.files import read_models
from thinkback_lab.training.message_classifier import (
    LIFE_WEIGHT,
    Example,
    MessageTrainer,
    TrainedMessageModel,
    asked_in,
    told_in,
    told_in_memory,
)
from thinkback_lab.training.sentence_classifier import PlainStatement

CAUTION = 0.4  # a statement taken for a question costs more than a missed question


class LabelledMessage(BaseModel):
    """A line of a file of `scenarios/questions`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    text: str
    is_question: bool


def read_messages(paths: Iterable[Path]) -> list[LabelledMessage]:
    """The labelled messages of files and folders, in order."""
    return read_models(paths, LabelledMessage, "messages")


def train_question_model(
    messages: Sequence[LabelledMessage],
    statements: Iterable[PlainStatement],
    lives: Iterable[Life],
    memories: Iterable[ToldMemory],
    encoder: CrossEncoder,
) -> TrainedMessageModel[QuestionModel]:
    """Train on everything; the figures are those of labelled messages left out."""
    labelled = [Example(message.text, message.is_question) for message in messages]
    others = [
        *(Example(statement.text, is_positive=False) for statement in statements if statement.lasting),
        *_life_examples(lives),
        *_memory_examples(memories),
    ]
    return MessageTrainer(QuestionModel, encoder, CAUTION).train(labelled, others)


def _life_examples(lives: Iterable[Life]) -> Iterator[Example]:
    for life in lives:
        yield from (Example(text, is_positive=True, weight=LIFE_WEIGHT) for text in asked_in(life))
        yield from (Example(text, is_positive=False, weight=LIFE_WEIGHT) for text in told_in(life))


def _memory_examples(memories: Iterable[ToldMemory]) -> Iterator[Example]:
    for memory in memories:
        asked = (question.q for question in memory.questions)
        yield from (Example(text, is_positive=True, weight=LIFE_WEIGHT) for text in asked)
        told = told_in_memory(memory)
        yield from (Example(text, is_positive=False, weight=LIFE_WEIGHT) for text in told)
