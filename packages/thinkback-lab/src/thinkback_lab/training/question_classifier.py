"""Training of the question classifier: does a message ask for something that was told before?

It learns from messages labelled by hand (`scenarios/questions`), from plain statements, and with a lower
weight from lives: their questions, also in lower case without a question mark,
and the messages and sentences that state a fact; and from memories: their questions, and the messages that
answer one. How the vector of the network counts is learned from the
same examples, beside the score by words of a model that was trained without the example.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import compress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import BaseModel, ConfigDict

from thinkback import QuestionModel
from thinkback.language.sentences import split_sentences
from thinkback.network.cross_encoder import CrossEncoder
from thinkback.recall.question_classifier import CERTAIN
from thinkback_lab.datasets.lives import Life
from thinkback_lab.datasets.memories import ToldMemory
from thinkback_lab.files import read_models
from thinkback_lab.training.logistic import SparseRows, fit_logistic
from thinkback_lab.training.sentence_classifier import PlainStatement

if TYPE_CHECKING:
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]
    Booleans = npt.NDArray[np.bool_]

INVERSE_REGULARISATION = 20.0
NETWORK_INVERSE_REGULARISATION = 0.01  # of numbers with a deviation of 1
CAUTION = 0.4  # subtracted from the log odds with the network: a statement taken for a question costs more
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
    return read_models(paths, LabelledMessage, "messages")


def train_question_model(
    messages: Sequence[LabelledMessage],
    statements: Iterable[PlainStatement],
    lives: Iterable[Life],
    memories: Iterable[ToldMemory],
    encoder: CrossEncoder,
) -> TrainedQuestions:
    """Train on everything; the figures are those of labelled messages left out, a fifth at a time."""
    labelled = [Example(message.text, message.is_question) for message in messages]
    others = [
        *(Example(statement.text, asks=False) for statement in statements if statement.lasting),
        *_life_examples(lives),
        *_memory_examples(memories),
    ]
    examples = [*labelled, *others]
    by_words, with_network = np.zeros(len(examples)), np.zeros(len(examples))
    folds = np.arange(len(examples)) % FOLDS
    for fold in range(FOLDS):
        model = _fit(list(compress(examples, folds != fold)))
        by_words[folds == fold] = [model.logit(each.text) for each in compress(examples, folds == fold)]
    with ThreadPoolExecutor() as pool:
        vectors = list(pool.map(encoder.vector, (each.text.strip() for each in examples)))
    rows = np.column_stack([vectors, by_words])
    asks = np.array([each.asks for each in examples])
    weights = np.array([each.weight for each in examples])
    for fold in range(FOLDS):
        known = folds != fold
        network = _fit_network(rows[known], asks[known], weights[known])
        with_network[~known] = np.einsum("ij,j->i", rows[~known], network[:-1]) + network[-1]
    is_certain = np.abs(by_words) > np.log((1 - CERTAIN) / CERTAIN)
    with_network = np.where(is_certain, by_words, with_network)
    count = len(labelled)
    figures = {
        "examples": len(examples),
        "questions": int(asks[:count].sum()),
        "others": int((~asks[:count]).sum()),
        "thresholds": _shares(by_words[:count], asks[:count]),
        "with_network": _shares(with_network[:count], asks[:count]),
    }
    return TrainedQuestions(_fit(examples, _fit_network(rows, asks, weights)), figures)


def _shares(logits: Floats, asks: Booleans) -> dict[str, dict[str, float]]:
    """Above several thresholds of the probability: questions found, others taken for one."""
    reached = {f"{limit:.1f}": logits >= np.log(limit / (1 - limit)) for limit in (0.3, 0.4, 0.5, 0.6, 0.7)}
    return {
        limit: {"found": float(np.mean(found[asks])), "false": float(np.mean(found[~asks]))}
        for limit, found in reached.items()
    }


def _fit_network(rows: Floats, asks: Booleans, weights: Floats) -> Floats:
    """Weights of the columns, and the bias."""
    mean, deviation = rows.mean(axis=0), np.maximum(rows.std(axis=0), 1e-6)
    scaled = np.column_stack([(rows - mean) / deviation, np.ones(len(rows))])
    nothing = SparseRows.build([(np.array([], dtype=np.int64), np.array([]))] * len(rows))
    fitted = fit_logistic(
        nothing,
        scaled,
        asks.astype(np.float64),
        bucket_count=0,
        inverse_regularisation=NETWORK_INVERSE_REGULARISATION,
        iterations=ITERATIONS,
        sample_weights=weights,
    ).dense
    slopes = fitted[:-1] / deviation
    return np.append(slopes, fitted[-1] - float(np.sum(slopes * mean)) - CAUTION)


def _fit(examples: Sequence[Example], network: Floats | None = None) -> QuestionModel:
    fitted = fit_logistic(
        SparseRows.build([QuestionModel.hashed_features(each.text) for each in examples]),
        np.array([QuestionModel.dense_features(each.text) for each in examples]),
        np.array([float(each.asks) for each in examples]),
        bucket_count=QuestionModel.BUCKETS,
        inverse_regularisation=INVERSE_REGULARISATION,
        iterations=ITERATIONS,
        sample_weights=np.array([each.weight for each in examples]),
    )
    return QuestionModel.quantise(fitted.words, fitted.dense, network)


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


def _memory_examples(memories: Iterable[ToldMemory]) -> Iterator[Example]:
    for memory in memories:
        answering = {number for question in memory.questions for number in question.answered_by}
        yield from (Example(question.q, asks=True, weight=LIFE_WEIGHT) for question in memory.questions)
        told = (memory.texts[number] for number in sorted(answering))
        yield from (
            Example(text, asks=False, weight=LIFE_WEIGHT)
            for text in told
            if not any(mark in text for mark in _QUESTION_MARKS)
        )
