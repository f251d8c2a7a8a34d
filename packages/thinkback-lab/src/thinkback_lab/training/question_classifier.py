"""Training of the question classifier: does a message ask for something that was told before?

It learns from messages labelled by hand (`scenarios/questions`), from plain statements, and with a lower
weight from lives: their questions, also in lower case without a question mark,
and the messages and sentences that state a fact.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict, ValidationError

from thinkback import QuestionModel
from thinkback.language.sentences import split_sentences
from thinkback_lab.datasets.lives import Life
from thinkback_lab.errors import LabError
from thinkback_lab.files import format_validation_error, iter_json_lines
from thinkback_lab.training.logistic import SparseRows, fit_logistic
from thinkback_lab.training.sentence_classifier import PlainStatement

INVERSE_REGULARISATION = 20.0
LIFE_WEIGHT = 0.3
FOLDS = 5
ITERATIONS = 150
_QUESTION_MARKS = ("?", "？")


class LabelledMessage(BaseModel):
    """A line of a file of `scenarios/questions`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    text: str
    is_question: bool


@dataclass(frozen=True, slots=True)
class Example:
    text: str
    asks: bool
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class TrainedQuestions:
    model: QuestionModel
    figures: dict[str, Any]


def read_messages(paths: Iterable[Path]) -> list[LabelledMessage]:
    """The labelled messages of files and folders, in order."""
    messages = []
    for where, line in iter_json_lines(paths):
        try:
            messages.append(LabelledMessage.model_validate_json(line))
        except ValidationError as error:
            raise LabError(f"{where}: {format_validation_error(error)}") from error
    if not messages:
        raise LabError("the files contain no messages: each line must be a JSON object")
    return messages


def train_question_model(
    messages: Sequence[LabelledMessage], statements: Iterable[PlainStatement], lives: Iterable[Life]
) -> TrainedQuestions:
    """Train on everything; the figures are those of labelled messages left out, a fifth at a time."""
    labelled = [Example(message.text, message.is_question) for message in messages]
    others = [
        *(Example(statement.text, asks=False) for statement in statements if statement.lasting),
        *_life_examples(lives),
    ]
    left_out = [
        (model.probability(each.text), each.asks)
        for fold in range(FOLDS)
        for model in [_fit([*_without_fold(labelled, fold), *others])]
        for each in labelled[fold::FOLDS]
    ]
    asked = [probability for probability, asks in left_out if asks]
    told = [probability for probability, asks in left_out if not asks]
    figures = {
        "examples": len(labelled) + len(others),
        "questions": len(asked),
        "others": len(told),
        "thresholds": {
            f"{threshold:.1f}": {
                "found": float(np.mean(np.array(asked) >= threshold)),
                "false": float(np.mean(np.array(told) >= threshold)),
            }
            for threshold in (0.3, 0.4, 0.5, 0.6, 0.7)
        },
    }
    return TrainedQuestions(_fit([*labelled, *others]), figures)


def _without_fold(examples: Sequence[Example], fold: int) -> Iterator[Example]:
    return (each for number, each in enumerate(examples) if number % FOLDS != fold)


def _fit(examples: Sequence[Example]) -> QuestionModel:
    fitted = fit_logistic(
        SparseRows.build([QuestionModel.hashed_features(each.text) for each in examples]),
        np.array([QuestionModel.dense_features(each.text) for each in examples]),
        np.array([float(each.asks) for each in examples]),
        bucket_count=QuestionModel.BUCKETS,
        inverse_regularisation=INVERSE_REGULARISATION,
        iterations=ITERATIONS,
        sample_weights=np.array([each.weight for each in examples]),
    )
    return QuestionModel.quantise(fitted.words, fitted.dense)


def _life_examples(lives: Iterable[Life]) -> Iterator[Example]:
    for life in lives:
        for question in life.questions:
            yield Example(question.q, asks=True, weight=LIFE_WEIGHT)
            yield Example(question.q.rstrip(" ?？").lower(), asks=True, weight=LIFE_WEIGHT)
        for turn in life.turns:
            quotes = [fact.quote for fact in turn.facts]
            if quotes and not any(mark in turn.user for mark in _QUESTION_MARKS):
                yield Example(turn.user, asks=False, weight=LIFE_WEIGHT)
            for sentence in split_sentences(turn.user):
                text = sentence.text
                states = any(quote in text or text in quote for quote in quotes)
                if states and not any(mark in text for mark in _QUESTION_MARKS):
                    yield Example(text, asks=False, weight=LIFE_WEIGHT)
