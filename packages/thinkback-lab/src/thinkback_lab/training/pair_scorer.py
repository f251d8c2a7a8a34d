"""Training of the pair scorer that thinkback ships: is a newer sentence an update of an older one?

Positive pairs are the sentences of a fact and of the fact that it replaces; negative pairs are all other
sentences with facts of the same life, the older one first. Pairs without a common word whose vectors also
point elsewhere are left out: recall never compares such memories. Negative pairs are sampled for training;
the weights of the sample keep the probability that of all pairs.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from thinkback import Embedder, UpdateModel
from thinkback_lab.datasets.lives import Life
from thinkback_lab.progress import ProgressCallback, no_progress
from thinkback_lab.training.logistic import SparseRows, fit_logistic
from thinkback_lab.training.sentence_classifier import area_under_curve, label_messages

if TYPE_CHECKING:
    import numpy.typing as npt

    Vectors = dict[str, npt.NDArray[np.float32]]

MIN_COSINE = 0.35
NEGATIVE_SHARE = 5  # one of this many negative pairs is used for training
INVERSE_REGULARISATION = 0.5
THRESHOLDS = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
BATCH_SIZE = 64


@dataclass(frozen=True, slots=True)
class LabelledPair:
    old: str
    new: str
    days: float
    is_update: bool


@dataclass(frozen=True, slots=True)
class _StatedSentence:
    """A sentence that states facts: its turn, and the ids of these facts and of those they replace."""

    text: str
    turn: int
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
    on_progress: ProgressCallback = no_progress,
) -> TrainedPairs:
    """Fit on `training` and score on `development`; deterministic."""
    learned = [pair for life in training for pair in label_pairs(life)]
    tested = [pair for life in development for pair in label_pairs(life)]
    texts = [text for pair in (*learned, *tested) for text in (pair.old, pair.new)]
    vectors = _embed(embedder, texts, on_progress)
    model = UpdateModel(UpdateModel.learn_rarity(sorted({pair.new for pair in learned})), {})
    rows = list(_candidates(learned, vectors, sample=True))
    tests = list(_candidates(tested, vectors, sample=False))
    figures: dict[str, Any] = {
        "pairs": len(rows),
        "updates": sum(pair.is_update for pair, _ in rows),
        "dev pairs": len(tests),
        "dev updates": sum(pair.is_update for pair in tested),
    }
    for name in (UpdateModel.TEXT_ALONE, embedder.name):
        used = None if name == UpdateModel.TEXT_ALONE else name
        model = _fit(model, rows, used)
        scores = [_score(model, pair, cosine, used) for pair, cosine in tests]
        figures[name] = _evaluate([pair.is_update for pair, _ in tests], scores)
    return TrainedPairs(model, figures)


def label_pairs(life: Life) -> Iterator[LabelledPair]:
    """All pairs of sentences with facts from different turns of a life."""
    stated = list(_stated_sentences(life))
    times = {turn.n: turn.at for turn in life.turns}
    for position, new in enumerate(stated):
        for old in stated[:position]:
            if old.turn != new.turn:
                days = (times[new.turn] - times[old.turn]).total_seconds() / 86_400
                yield LabelledPair(old.text, new.text, days, bool(new.replaces & old.facts))


def _stated_sentences(life: Life) -> Iterator[_StatedSentence]:
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
                yield _StatedSentence(
                    piece.text,
                    turn.n,
                    frozenset(fact.id for fact in facts),
                    frozenset(id_ for fact in facts for id_ in fact.replaces),
                )


def _candidates(
    pairs: Sequence[LabelledPair], vectors: Vectors, *, sample: bool
) -> Iterator[tuple[LabelledPair, float]]:
    """The pairs that recall may compare, with their cosine; in a sample only some of the negative ones."""
    rarity = UpdateModel(np.ones(UpdateModel.BUCKETS, dtype=np.float32), {})
    for pair in pairs:
        if sample and not pair.is_update:
            code = zlib.crc32(f"{pair.old}\n{pair.new}".encode("utf-8", "surrogatepass"))
            if code % NEGATIVE_SHARE:
                continue
        cosine = float(np.sum(vectors[pair.old].astype(np.float64) * vectors[pair.new]))
        shares_words = rarity.features(UpdateModel.Pair(pair.old, pair.new))[2][1] > 0
        if shares_words or cosine >= MIN_COSINE:
            yield pair, cosine


def _fit(model: UpdateModel, rows: Sequence[tuple[LabelledPair, float]], embedder: str | None) -> UpdateModel:
    features = [model.features(_to_pair(pair, cosine, embedder)) for pair, cosine in rows]
    targets = np.array([pair.is_update for pair, _ in rows], dtype=np.float64)
    fitted = fit_logistic(
        SparseRows.build([(slots, values) for slots, values, _ in features]),
        np.array([dense for _, _, dense in features]),
        targets,
        bucket_count=UpdateModel.BUCKETS,
        inverse_regularisation=INVERSE_REGULARISATION,
        sample_weights=np.where(targets > 0, 1.0, float(NEGATIVE_SHARE)),
    )
    return model.with_weights(embedder or UpdateModel.TEXT_ALONE, fitted.words, fitted.dense)


def _score(model: UpdateModel, pair: LabelledPair, cosine: float, embedder: str | None) -> float:
    return model.score(_to_pair(pair, cosine, embedder))


def _to_pair(pair: LabelledPair, cosine: float, embedder: str | None) -> Any:
    return UpdateModel.Pair(pair.old, pair.new, pair.days, None if embedder is None else cosine, embedder)


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
