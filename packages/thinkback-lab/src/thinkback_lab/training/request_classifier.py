"""Training of the request classifier: does a message want work of a language model?

It learns from messages labelled by hand (`scenarios/requests`). With lower weights it learns what is no
request: the messages of `scenarios/questions`, unless they are labelled as requests, plain statements,
questions and statements of lives, and the messages of memories that answer a question.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

from thinkback import RequestModel
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
from thinkback_lab.training.question_classifier import LabelledMessage
from thinkback_lab.training.sentence_classifier import PlainStatement

OTHER_WEIGHT = 0.5  # of messages of `scenarios/questions` and plain statements
CAUTION = 0.85  # so that one threshold fits words alone and words with the network
LIFE_STEP = 8  # every eighth text of lives: more of them outweigh the labelled messages


class WantedMessage(BaseModel):
    """A line of a file of `scenarios/requests`: what the message wants."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    text: str
    wants: Literal["task", "memory", "tell"]


def read_wanted_messages(paths: Iterable[Path]) -> list[WantedMessage]:
    """The labelled messages of files and folders, in order."""
    return read_models(paths, WantedMessage, "messages")


def memory_questions(messages: Iterable[WantedMessage]) -> list[LabelledMessage]:
    """The messages as examples of the question classifier; those that want work of a model are left out."""
    return [
        LabelledMessage(text=message.text, is_question=message.wants == "memory")
        for message in messages
        if message.wants != "task"
    ]


def train_request_model(
    messages: Sequence[WantedMessage],
    others: Iterable[LabelledMessage],
    statements: Iterable[PlainStatement],
    lives: Iterable[Life],
    memories: Iterable[ToldMemory],
    encoder: CrossEncoder,
) -> TrainedMessageModel[RequestModel]:
    """Train on everything; the figures are those of labelled messages left out."""
    labelled = [Example(message.text, message.wants == "task") for message in messages]
    texts = {message.text for message in messages}
    short = [other.text for other in others if other.text not in texts]
    short += [statement.text for statement in statements if statement.lasting]
    long = [*_life_texts(lives), *(text for memory in memories for text in told_in_memory(memory))]
    negatives = [
        *(Example(text, is_positive=False, weight=OTHER_WEIGHT) for text in short),
        *(Example(text, is_positive=False, weight=LIFE_WEIGHT) for text in long),
    ]
    return MessageTrainer(RequestModel, encoder, CAUTION).train(labelled, negatives)


def _life_texts(lives: Iterable[Life]) -> Iterator[str]:
    texts = [text for life in lives for text in chain(asked_in(life), told_in(life))]
    return iter(texts[::LIFE_STEP])
