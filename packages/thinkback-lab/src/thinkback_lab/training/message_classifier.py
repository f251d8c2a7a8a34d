"""Training of the classifiers of short messages: which messages ask, which are requests?

How the words count is learned from all examples, and how the vector of the network counts from the same ones,
beside the score by words of a model that was trained without the example.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import compress
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from thinkback.language.sentences import split_sentences
from thinkback.network.cross_encoder import CrossEncoder
from thinkback.recall.message_classifier import CERTAIN, MessageModel
from thinkback_lab.datasets.lives import Life
from thinkback_lab.datasets.memories import ToldMemory
from thinkback_lab.training.logistic import SparseRows, fit_logistic

if TYPE_CHECKING:
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]
    Booleans = npt.NDArray[np.bool_]

INVERSE_REGULARISATION = 20.0
NETWORK_INVERSE_REGULARISATION = 0.01  # of numbers with a deviation of 1
LIFE_WEIGHT = 0.3  # of texts of lives and memories
FOLDS = 5
ITERATIONS = 150
THRESHOLDS = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7)  # of the figures
_QUESTION_MARKS = ("?", "？")

Model = TypeVar("Model", bound=MessageModel)


@dataclass(frozen=True, slots=True)
class Example:
    """A message, and whether it is one of those that the model finds."""

    text: str
    is_positive: bool
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class TrainedMessageModel(Generic[Model]):
    model: Model
    figures: dict[str, Any]


@dataclass(frozen=True, slots=True)
class MessageTrainer(Generic[Model]):
    """Trains models of one class.

    `caution` is subtracted from the log odds with the network.
    """

    model_class: type[Model]
    encoder: CrossEncoder
    caution: float

    def train(self, labelled: Sequence[Example], others: Iterable[Example]) -> TrainedMessageModel[Model]:
        """Train on everything; the figures are those of labelled messages left out, a fifth at a time."""
        examples = [*labelled, *others]
        by_words, with_network = np.zeros(len(examples)), np.zeros(len(examples))
        folds = np.arange(len(examples)) % FOLDS
        for fold in range(FOLDS):
            model = self._fit(list(compress(examples, folds != fold)))
            by_words[folds == fold] = [model.logit(each.text) for each in compress(examples, folds == fold)]
        with ThreadPoolExecutor() as pool:
            vectors = list(pool.map(self.encoder.vector, (each.text.strip() for each in examples)))
        rows = np.column_stack([vectors, by_words])
        is_positive = np.array([each.is_positive for each in examples])
        weights = np.array([each.weight for each in examples])
        for fold in range(FOLDS):
            known = folds != fold
            network = self._fit_network(rows[known], is_positive[known], weights[known])
            with_network[~known] = np.einsum("ij,j->i", rows[~known], network[:-1]) + network[-1]
        is_certain = np.abs(by_words) > np.log((1 - CERTAIN) / CERTAIN)
        with_network = np.where(is_certain, by_words, with_network)
        count = len(labelled)
        figures = {
            "examples": len(examples),
            "positives": int(is_positive[:count].sum()),
            "negatives": int((~is_positive[:count]).sum()),
            "thresholds": _shares(by_words[:count], is_positive[:count]),
            "with_network": _shares(with_network[:count], is_positive[:count]),
        }
        network = self._fit_network(rows, is_positive, weights)
        return TrainedMessageModel(self._fit(examples, network), figures)

    def _fit(self, examples: Sequence[Example], network: Floats | None = None) -> Model:
        fitted = fit_logistic(
            SparseRows.build([self.model_class.hashed_features(each.text) for each in examples]),
            np.array([self.model_class.dense_features(each.text) for each in examples]),
            np.array([float(each.is_positive) for each in examples]),
            bucket_count=self.model_class.BUCKETS,
            inverse_regularisation=INVERSE_REGULARISATION,
            iterations=ITERATIONS,
            sample_weights=np.array([each.weight for each in examples]),
        )
        return self.model_class.quantise(fitted.words, fitted.dense, network)

    def _fit_network(self, rows: Floats, is_positive: Booleans, weights: Floats) -> Floats:
        """Weights of the columns, and the bias."""
        mean, deviation = rows.mean(axis=0), np.maximum(rows.std(axis=0), 1e-6)
        scaled = np.column_stack([(rows - mean) / deviation, np.ones(len(rows))])
        nothing = SparseRows.build([(np.array([], dtype=np.int64), np.array([]))] * len(rows))
        fitted = fit_logistic(
            nothing,
            scaled,
            is_positive.astype(np.float64),
            bucket_count=0,
            inverse_regularisation=NETWORK_INVERSE_REGULARISATION,
            iterations=ITERATIONS,
            sample_weights=weights,
        ).dense
        slopes = fitted[:-1] / deviation
        return np.append(slopes, fitted[-1] - float(np.sum(slopes * mean)) - self.caution)


def _shares(logits: Floats, is_positive: Booleans) -> dict[str, dict[str, float]]:
    """Above several thresholds of the probability: the shares found of positive and of other messages."""
    reached = {f"{limit:.1f}": logits >= np.log(limit / (1 - limit)) for limit in THRESHOLDS}
    return {
        limit: {"found": float(np.mean(found[is_positive])), "false": float(np.mean(found[~is_positive]))}
        for limit, found in reached.items()
    }


def asked_in(life: Life) -> Iterator[str]:
    """The questions of a life, each also in lower case without a question mark."""
    for question in life.questions:
        yield question.q
        yield question.q.rstrip(" ?？").lower()


def told_in(life: Life) -> Iterator[str]:
    """The messages and sentences of a life that state a fact and ask nothing."""
    for turn in life.turns:
        quotes = [fact.quote for fact in turn.facts]
        if quotes and not _has_question_mark(turn.user):
            yield turn.user
        for sentence in split_sentences(turn.user):
            text = sentence.text
            states = any(quote in text or text in quote for quote in quotes)
            if states and not _has_question_mark(text):
                yield text


def told_in_memory(memory: ToldMemory) -> Iterator[str]:
    """The messages of a memory that answer a question and ask nothing."""
    answering = {number for question in memory.questions for number in question.answered_by}
    for number in sorted(answering):
        if not _has_question_mark(memory.texts[number]):
            yield memory.texts[number]


def _has_question_mark(text: str) -> bool:
    return any(mark in text for mark in _QUESTION_MARKS)
