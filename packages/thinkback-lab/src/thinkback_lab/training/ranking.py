"""Learning of the weights with which recall ranks thoughts and raw turns, and what each feature contributes.

Every life is replayed with its gold facts as thoughts, and every question is asked with an explanation, which
contains the components of the score of all candidates. A thought is right if its fact answers the question, a
turn if it is evidence. The weights maximise the probability of the right candidates under a softmax over all
candidates of one kind, with a ridge that pulls towards the weights in use: a convex problem with one
solution. They are scaled so that scores spread as before, because thresholds are set for that. Folds are by
life, so no conversation is used both for learning and for validation.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from thinkback import Memory, Recollection
from thinkback.presets import HYBRID, ScoreWeights
from thinkback.recall.features import feature_extractor
from thinkback.recall.query import PreparedQuery
from thinkback.recall.rows import ThoughtRow, TurnRow
from thinkback.types import Ref, Thought, Turn
from thinkback_lab.datasets.lives import Life, LifeQuestion
from thinkback_lab.evaluations.lives_gold import create_gold_thinker
from thinkback_lab.harness import Harness, ManualClock
from thinkback_lab.progress import ProgressCallback, no_progress
from thinkback_lab.training.logistic import minimise

if TYPE_CHECKING:
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

RankedKind = Literal["thoughts", "turns"]
RANKED_KINDS: tuple[RankedKind, ...] = ("thoughts", "turns")
FEATURES = tuple(field.name for field in fields(ScoreWeights))
NOT_LEARNED = ("thought", "thinking", "told", "told_before")
"""`thought` and `thinking` are the same for all candidates of one kind, and questions of lives state too
little to learn `told` and `told_before`."""
FOLDS = 4
RANK = 5
DEFAULT_RIDGE = 30.0
_EVERYTHING = 1_000
MAX_ITERATIONS = 200


@dataclass(frozen=True, slots=True, eq=False)
class RankingExample:
    """The candidates of one kind for a question: a row of features for each, and which are right."""

    life: str
    kind: RankedKind
    rows: Floats
    right: npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class TrainedRanking:
    weights: dict[RankedKind, dict[str, float]]
    figures: dict[str, Any]


def shipped_weights(kind: RankedKind) -> Floats:
    """The weights that recall uses for questions."""
    by_query_type = HYBRID.weights
    if by_query_type is None:
        raise ValueError("the default preset has no weights")
    weights = by_query_type.thoughts if kind == "thoughts" else by_query_type.asks
    return np.array([getattr(weights, name) for name in FEATURES])


def weights_array(weights: Mapping[str, float]) -> Floats:
    """The weights in the order of `FEATURES`."""
    return np.array([weights[name] for name in FEATURES])


def collect_examples(
    lives: Sequence[Life], harness: Harness, on_progress: ProgressCallback = no_progress
) -> list[RankingExample]:
    """The examples of all answerable questions, asked at the end of each life."""
    examples: list[RankingExample] = []
    for number, life in enumerate(lives):
        on_progress(number, len(lives))
        clock = ManualClock()
        with harness.open(clock) as memory:
            own = memory.for_user(life.id)
            thinker = create_gold_thinker(own)
            turn_numbers: dict[int, int] = {}
            for turn in life.turns:
                clock.now = turn.at
                turn_numbers[own.remember(turn.user, turn.assistant, at=turn.at, session=turn.session).id] = (
                    turn.n
                )
                thinker.think(turn)
            for question in life.questions:
                clock.now = max(question.at, life.turns[-1].at)
                if question.answerable:
                    examples += _examples(life, question, own, turn_numbers)
    return examples


def _examples(
    life: Life, question: LifeQuestion, memory: Memory, turn_numbers: Mapping[int, int]
) -> Iterator[RankingExample]:
    recollection = memory.recall(question.q, k=_EVERYTHING, explain=True)
    answers = {fact.text for turn in life.turns for fact in turn.facts if fact.id in question.facts}
    candidates = list(_candidates(question.q, memory, recollection))
    for kind in RANKED_KINDS:
        rows, right = [], []
        for item, values in candidates:
            if isinstance(item, Thought) == (kind == "thoughts"):
                rows.append([values.get(name, 0.0) for name in FEATURES])
                right.append(
                    item.sentence in answers
                    if isinstance(item, Thought)
                    else turn_numbers[item.id] in question.evidence
                )
        if any(right) and not all(right):
            yield RankingExample(life.id, kind, np.array(rows), np.array(right))


def _candidates(
    question: str, memory: Memory, recollection: Recollection
) -> Iterator[tuple[Thought | Turn, dict[str, float]]]:
    """Each candidate with the components of its score and its text features."""
    (vector,) = memory.embedder.embed([question])
    query = PreparedQuery(text=question, vector=vector, k=1, kind_probabilities=memory.kinds(question))
    extract = feature_extractor(query)
    seen: set[Ref] = set()
    for candidate in (*recollection.items, *recollection.dropped):
        for item in (*candidate.thoughts[:1], *((candidate.turn,) if candidate.turn else ())):
            if item.ref not in seen and candidate.score.breakdown is not None:
                seen.add(item.ref)
                values = {part.name: part.value for part in candidate.score.breakdown.components}
                row = ThoughtRow(item) if isinstance(item, Thought) else TurnRow(item)
                yield item, {**values, **extract(row).values}


def train_ranking(examples: Sequence[RankingExample], ridge: float = DEFAULT_RIDGE) -> TrainedRanking:
    """Weights by kind, with cross-validated figures and what each feature contributes."""
    weights: dict[RankedKind, dict[str, float]] = {}
    figures: dict[str, Any] = {}
    for kind in RANKED_KINDS:
        chosen = [example for example in examples if example.kind == kind]
        if not chosen:
            continue
        found = fit_weights(chosen, kind, ridge)
        weights[kind] = {name: round(float(value), 3) for name, value in zip(FEATURES, found, strict=True)}
        found = weights_array(weights[kind])
        figures[kind] = {
            "questions": len(chosen),
            "shipped": ranking_figures(chosen, shipped_weights(kind)),
            "learned": ranking_figures(chosen, found),
            "cross-validated": cross_validated(chosen, kind, ridge),
            "without": {
                name: cross_validated(chosen, kind, ridge, (name,))
                for name in FEATURES
                if name not in NOT_LEARNED and _occurs(name, chosen)
            },
        }
    return TrainedRanking(weights, figures)


def _occurs(feature: str, examples: Sequence[RankingExample]) -> bool:
    column = FEATURES.index(feature)
    return any(bool(example.rows[:, column].any()) for example in examples)


def fit_weights(
    examples: Sequence[RankingExample], kind: RankedKind, ridge: float, without: Iterable[str] = ()
) -> Floats:
    """The weights with the least loss; features in `without` get the weight 0."""
    prior = shipped_weights(kind)
    spread = np.std(np.concatenate([example.rows for example in examples]), axis=0)
    spread[spread == 0] = 1.0
    left_out = np.array([name in set(without) for name in FEATURES])
    fixed = left_out | np.array([name in NOT_LEARNED for name in FEATURES])
    prior[left_out] = 0.0
    scale = HYBRID.logistic_scale

    def loss_and_gradient(change: Floats) -> tuple[float, Floats]:
        current = prior + change / spread
        loss, gradient = ridge * float(np.sum(change * change)) / 2, ridge * change
        for example in examples:
            score = np.einsum("ij,j->i", example.rows, current) / scale
            score -= score.max()
            share = np.exp(score)
            share /= share.sum()
            target = example.right / example.right.sum()
            loss -= float(np.sum(target * np.log(share + 1e-12)))
            gradient = gradient + np.einsum("ij,i->j", example.rows, share - target) / (scale * spread)
        gradient[fixed] = 0.0
        return loss, gradient

    change = minimise(loss_and_gradient, np.zeros(len(FEATURES)), MAX_ITERATIONS)
    weights: Floats = prior + change / spread
    return _scale(weights, prior, examples)


def _scale(weights: Floats, prior: Floats, examples: Sequence[RankingExample]) -> Floats:
    """The weights scaled so that scores have the deviation that those in use give them."""
    rows = np.concatenate([example.rows - example.rows.mean(axis=0) for example in examples])
    before, after = (float(np.std(np.einsum("ij,j->i", rows, each))) for each in (prior, weights))
    learned = np.array([name not in NOT_LEARNED for name in FEATURES])
    scaled: Floats = np.where(learned, weights * (before / after if after else 1.0), weights)
    return scaled


def cross_validated(
    examples: Sequence[RankingExample], kind: RankedKind, ridge: float, without: Sequence[str] = ()
) -> dict[str, float]:
    """Figures of lives that the weights were learned without."""
    lives = sorted({example.life for example in examples})
    judged: list[tuple[float, float]] = []
    for fold in range(FOLDS):
        held = set(lives[fold::FOLDS])
        learned = [example for example in examples if example.life not in held]
        tested = [example for example in examples if example.life in held]
        if learned and tested:
            weights = fit_weights(learned, kind, ridge, without)
            judged += [_scores(example, weights) for example in tested]
    return _means(judged)


def ranking_figures(examples: Sequence[RankingExample], weights: Floats) -> dict[str, float]:
    """Mean recall@5 (of at most five right candidates) and reciprocal rank of the first right one."""
    return _means([_scores(example, weights) for example in examples])


def _scores(example: RankingExample, weights: Floats) -> tuple[float, float]:
    order = np.argsort(-np.einsum("ij,j->i", example.rows, weights), kind="stable")
    right = example.right[order]
    return float(right[:RANK].sum() / min(RANK, right.sum())), float(1 / (1 + np.argmax(right)))


def _means(scores: Sequence[tuple[float, float]]) -> dict[str, float]:
    recall, reciprocal = np.mean(scores, axis=0).tolist() if scores else (0.0, 0.0)
    return {f"recall@{RANK}": round(recall, 4), "mrr": round(reciprocal, 4)}
