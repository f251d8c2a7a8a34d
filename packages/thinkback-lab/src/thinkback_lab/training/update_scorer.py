"""Training of the pair scorer that thinkback ships: is a newer sentence an update of an older one?

Pairs are compared when a question recalls both. So for each question of a life the sentences and messages
that are nearest to it are paired, the older one first; a pair is positive if a fact of the newer one replaces
a fact of the older one. Pairs of plain statements (`eval pairs`) are learned too: the two statements of an
update with its question, those of compatible facts with the first statement in the place of a question.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from thinkback import Embedder, UpdateModel
from thinkback_lab.datasets.lives import GoldFact, Life
from thinkback_lab.progress import ProgressCallback, no_progress
from thinkback_lab.training.logistic import SparseRows, fit_logistic
from thinkback_lab.training.sentence_classifier import area_under_curve, label_messages

if TYPE_CHECKING:
    import numpy.typing as npt

    Vectors = dict[str, npt.NDArray[np.float32]]

NEAREST = 6  # sentences, and as many messages, that are paired for each question
LEXICAL_WEIGHT = 1.0  # of the words shared with the question, beside the cosine
INVERSE_REGULARISATION = 0.5
STATEMENT_DAYS = 90.0  # between the two statements of a pair, as in `eval pairs`
THRESHOLDS = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
BATCH_SIZE = 64


@dataclass(frozen=True, slots=True)
class LabelledPair:
    """Two texts of one user that a question recalls, and whether the newer one updates the older one."""

    old: str
    new: str
    question: str
    days: float
    is_update: bool


@dataclass(frozen=True, slots=True)
class _StatedText:
    """A sentence or message that states facts: when, and the ids of these facts and of those they replace."""

    text: str
    at: datetime
    facts: frozenset[str]
    replaces: frozenset[str]


@dataclass(frozen=True, slots=True)
class TrainedPairs:
    model: UpdateModel
    figures: dict[str, Any]


def train_update_model(
    training: Sequence[Life],
    development: Sequence[Life],
    embedder: Embedder,
    statements: Sequence[LabelledPair] = (),
    on_progress: ProgressCallback = no_progress,
) -> TrainedPairs:
    """Fit on `training` and `statements`, and score on `development`; deterministic."""
    texts = [text for life in (*training, *development) for text in _all_texts(life)]
    texts += [text for pair in statements for text in (pair.old, pair.new)]
    vectors = _embed(embedder, texts, on_progress)
    learned = [*(pair for life in training for pair in label_pairs(life, vectors)), *statements]
    tested = [pair for life in development for pair in label_pairs(life, vectors)]
    model = UpdateModel(UpdateModel.learn_rarity(sorted({pair.new for pair in learned})), {})
    rows = [(pair, _cosine(vectors, pair.old, pair.new)) for pair in learned]
    tests = [(pair, _cosine(vectors, pair.old, pair.new)) for pair in tested]
    figures: dict[str, Any] = {
        "pairs": len(rows),
        "updates": sum(pair.is_update for pair in learned),
        "dev pairs": len(tests),
        "dev updates": sum(pair.is_update for pair in tested),
    }
    for name in (UpdateModel.TEXT_ALONE, embedder.name):
        used = None if name == UpdateModel.TEXT_ALONE else name
        model = _fit(model, rows, used)
        scores = [_score(model, pair, cosine, used) for pair, cosine in tests]
        figures[name] = _evaluate([pair.is_update for pair in tested], scores)
    return TrainedPairs(model, figures)


def label_pairs(life: Life, vectors: Vectors) -> Iterator[LabelledPair]:
    """The pairs of sentences, and of messages, that are nearest to each question of a life."""
    sentences, messages = _stated_texts(life)
    for question in life.questions:
        for stated in (sentences, messages):
            known = [text for text in stated if text.at <= question.at]
            nearest = sorted(known, key=lambda text: -_nearness(text.text, question.q, vectors))[:NEAREST]
            for new in nearest:
                for old in nearest:
                    if old.at < new.at:
                        days = (new.at - old.at).total_seconds() / 86_400
                        yield LabelledPair(
                            old.text, new.text, question.q, days, bool(new.replaces & old.facts)
                        )


def _nearness(text: str, question: str, vectors: Vectors) -> float:
    """About how near recall finds a text to a question: shared words and the cosine."""
    words = UpdateModel.terms(question)
    shared = len(words & UpdateModel.terms(text)) / max(len(words), 1)
    return LEXICAL_WEIGHT * shared + _cosine(vectors, text, question)


def _stated_texts(life: Life) -> tuple[list[_StatedText], list[_StatedText]]:
    """The sentences and the messages of a life that state facts."""
    sentences, messages = [], []
    for turn, message in zip(life.turns, label_messages([life]), strict=True):
        for piece in message.pieces:
            facts = [
                fact
                for fact in turn.facts
                for at in [turn.user.find(fact.quote)]
                if at >= 0
                and min(piece.sentence.end, at + len(fact.quote)) - max(piece.sentence.start, at)
                >= 0.5 * len(fact.quote)
            ]
            if facts:
                sentences.append(_stated_text(piece.text, turn.at, facts))
        if turn.facts:
            messages.append(_stated_text(turn.user, turn.at, turn.facts))
    return sentences, messages


def _stated_text(text: str, at: datetime, facts: Iterable[GoldFact]) -> _StatedText:
    return _StatedText(
        text,
        at,
        frozenset(fact.id for fact in facts),
        frozenset(id_ for fact in facts for id_ in fact.replaces),
    )


def _all_texts(life: Life) -> Iterator[str]:
    for stated in _stated_texts(life):
        yield from (text.text for text in stated)
    yield from (question.q for question in life.questions)


def _cosine(vectors: Vectors, one: str, other: str) -> float:
    return float(np.sum(vectors[one].astype(np.float64) * vectors[other]))


def _fit(model: UpdateModel, rows: Sequence[tuple[LabelledPair, float]], embedder: str | None) -> UpdateModel:
    features = [model.features(_to_pair(pair, cosine, embedder)) for pair, cosine in rows]
    targets = np.array([pair.is_update for pair, _ in rows], dtype=np.float64)
    fitted = fit_logistic(
        SparseRows.build([(slots, values) for slots, values, _ in features]),
        np.array([dense for _, _, dense in features]),
        targets,
        bucket_count=UpdateModel.BUCKETS,
        inverse_regularisation=INVERSE_REGULARISATION,
    )
    return model.with_weights(embedder or UpdateModel.TEXT_ALONE, fitted.words, fitted.dense)


def _score(model: UpdateModel, pair: LabelledPair, cosine: float, embedder: str | None) -> float:
    return model.score(_to_pair(pair, cosine, embedder))


def _to_pair(pair: LabelledPair, cosine: float, embedder: str | None) -> Any:
    known = None if embedder is None else cosine
    return UpdateModel.Pair(pair.old, pair.new, pair.days, known, embedder, pair.question)


def _embed(embedder: Embedder, texts: Sequence[str], on_progress: ProgressCallback) -> Vectors:
    distinct = list(dict.fromkeys(texts))
    vectors: Vectors = {}
    for start in range(0, len(distinct), BATCH_SIZE):
        on_progress(start, len(distinct))
        batch = distinct[start : start + BATCH_SIZE]
        vectors.update(zip(batch, embedder.embed(batch), strict=True))
    return vectors


def _evaluate(labels: Sequence[bool], scores: Sequence[float]) -> dict[str, Any]:
    """Area under the curve; precision, recall and mean probability above several thresholds."""
    truth, values = np.array(labels), np.array(scores)
    result: dict[str, Any] = {"auc": round(area_under_curve(labels, scores), 4)}
    for threshold in THRESHOLDS:
        chosen = values >= threshold
        result[f"{threshold:.1f}"] = {
            "labelled": int(chosen.sum()),
            "precision": round(float(truth[chosen].mean()), 4) if chosen.any() else None,
            "recall": round(float(chosen[truth].mean()), 4) if truth.any() else None,
        }
    return result
