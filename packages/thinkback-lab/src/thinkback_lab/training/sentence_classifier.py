"""Training of the sentence classifier that thinkback ships: which sentences of the user state lasting facts?

It learns from the gold quotes of lives: a piece of a message is positive if it contains a good part of a
quote. Natural talk has few short plain statements ("I live in Porto."), so it also learns from a list of
those (`statements.toml`, and the statements of pair files). The thresholds are chosen on other lives: the
lowest one at which turns without facts stay silent often enough. Deterministic; see `training.logistic`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import TypeAdapter

from thinkback import Embedder, SentenceModel
from thinkback_lab.datasets.lives import Life, load_lives
from thinkback_lab.datasets.loading import read_json
from thinkback_lab.progress import ProgressCallback, no_progress
from thinkback_lab.training.logistic import Fitted, SparseRows, fit_logistic

if TYPE_CHECKING:
    import numpy.typing as npt

    from thinkback_lab.cases import Kind

    LinearWeights = Any
    Piece = Any
    Floats = npt.NDArray[np.float64]

MIN_OVERLAP_EN = 8
MIN_OVERLAP_ZH = 3
MIN_QUOTE_SHARE = 0.5
INVERSE_REGULARISATION = 0.7
INVERSE_REGULARISATION_ALONE = 2.0  # without vectors
INVERSE_REGULARISATION_KINDS = 3.0
MIN_SILENCE = 0.9
STATEMENT_WEIGHT = 0.25
"""Of a handwritten statement, a piece of a life having 1: more of them make the classifier talkative."""
PAIR_STATEMENT_WEIGHT = 0.05
"""Of a statement from a pair file; these follow a few templates."""
THRESHOLDS = tuple(round(0.3 + 0.01 * step, 2) for step in range(61))


@dataclass(frozen=True, slots=True)
class Quote:
    """Where a gold fact is stated in the user's message."""

    start: int
    end: int
    kind: Kind


@dataclass(frozen=True, slots=True)
class LabelledMessage:
    """A user's message with its pieces and the quotes of its gold facts; `facts` counts also facts that are
    quoted from the reply."""

    life: str
    lang: str
    text: str
    pieces: tuple[Piece, ...]
    quotes: tuple[Quote, ...]
    facts: int
    weight: float = 1.0  # in training

    def label(self, piece: Piece) -> Kind | None:
        """The kind of the fact that a piece mostly states, or None if it states none."""
        overlaps = [
            (min(piece.sentence.end, quote.end) - max(piece.sentence.start, quote.start), quote)
            for quote in self.quotes
        ]
        needed = MIN_OVERLAP_EN if self.text.isascii() else MIN_OVERLAP_ZH
        best = max(
            (
                (size, quote.kind)
                for size, quote in overlaps
                if size >= min(needed, MIN_QUOTE_SHARE * (quote.end - quote.start))
            ),
            default=None,
            key=lambda pair: pair[0],
        )
        return None if best is None else best[1]


def read_lives(names: Sequence[str], folder: Path | None) -> list[Life]:
    """Load lives of splits, of JSON lines files, and of .json files with one life each, sorted by id."""
    lives: dict[str, Life] = {}
    for name in names:
        path = Path(name)
        files = sorted(path.glob("*.json")) if path.is_dir() else [path]
        if path.is_dir() or path.suffix == ".json":
            loaded = [read_json(file, TypeAdapter(Life), "a life") for file in files]
        else:
            loaded = load_lives(folder, name)
        lives |= {life.id: life for life in loaded}
    return [lives[id_] for id_ in sorted(lives)]


@dataclass(frozen=True, slots=True)
class PlainStatement:
    """A short sentence that is a whole message, and whether it states a lasting fact."""

    text: str
    lang: str
    lasting: bool
    weight: float = STATEMENT_WEIGHT


def read_statements() -> list[PlainStatement]:
    """The handwritten statements of this package."""
    file = files("thinkback_lab.training").joinpath("statements.toml")
    by_language: dict[str, dict[str, list[str]]] = tomllib.loads(file.read_text("utf-8"))
    return [
        PlainStatement(text, lang, name == "lasting")
        for lang, lists in by_language.items()
        for name, texts in lists.items()
        for text in texts
    ]


def label_statements(statements: Sequence[PlainStatement]) -> list[LabelledMessage]:
    """Statements as messages; the kind of their facts is not known and must not be learned from."""
    return [
        LabelledMessage(
            life="",
            lang=each.lang,
            text=each.text,
            pieces=tuple(SentenceModel.split(each.text)),
            quotes=(Quote(0, len(each.text), "profile"),) if each.lasting else (),
            facts=int(each.lasting),
            weight=each.weight,
        )
        for each in statements
    ]


def label_messages(lives: Sequence[Life]) -> list[LabelledMessage]:
    """All messages of the lives with their labelled pieces."""
    messages = []
    for life in lives:
        previous = None
        for turn in life.turns:
            same_session = previous is not None and previous.session == turn.session
            reply = previous.assistant if previous is not None and same_session else ""
            quotes = tuple(
                Quote(at, at + len(fact.quote), fact.kind)
                for fact in turn.facts
                for at in [turn.user.find(fact.quote)]
                if at >= 0
            )
            pieces = tuple(SentenceModel.split(turn.user, reply))
            messages.append(LabelledMessage(life.id, life.lang, turn.user, pieces, quotes, len(turn.facts)))
            previous = turn
    return messages


@dataclass(frozen=True, slots=True)
class TrainedSentences:
    model: SentenceModel
    figures: dict[str, Any]


def train_sentence_model(
    training: Sequence[Life],
    development: Sequence[Life],
    embedders: Sequence[Embedder],
    statements: Sequence[PlainStatement] = (),
    on_progress: ProgressCallback = no_progress,
) -> TrainedSentences:
    """Fit on `training`, choose the thresholds on `development`, and score every set of weights on it."""
    learned, tested = label_messages(training), label_messages(development)
    model = SentenceModel({}, TrainingRows.build(learned).fit_kinds())
    learned += label_statements(statements)
    rows = TrainingRows.build(learned)
    figures: dict[str, Any] = {
        "lives": len(training),
        "statements": len(statements),
        "pieces": len(rows.kinds),
        "positive": round(float(rows.targets.mean()), 4),
    }
    for embedder in (None, *embedders):
        name = SentenceModel.TEXT_ALONE if embedder is None else embedder.name
        vectors = np.zeros((len(rows.kinds), 0))
        if embedder is not None:
            vectors = np.vstack(list(_vectors(learned, embedder, on_progress)))
        weights = rows.fit_keep(vectors)
        scores = _probabilities(model.with_weights(name, weights, 0.5), name, tested, embedder)
        threshold = choose_threshold(tested, scores)
        model = model.with_weights(name, weights, threshold)
        figures[name] = evaluate(tested, scores, threshold)
    figures["kind accuracy"] = _kind_accuracy(model, tested)
    return TrainedSentences(model, figures)


@dataclass(frozen=True, slots=True, eq=False)
class TrainingRows:
    """The features and weights of all training pieces, and the kind of the fact that each states, or None."""

    features: list[tuple[npt.NDArray[np.int64], Floats]]
    dense: Floats
    kinds: list[Kind | None]
    weights: Floats

    @classmethod
    def build(cls, messages: Sequence[LabelledMessage]) -> TrainingRows:
        pairs = [(piece, message.label(piece)) for message in messages for piece in message.pieces]
        features = [SentenceModel.features(piece) for piece, _ in pairs]
        return cls(
            [(slots, values) for slots, values, _ in features],
            np.array([dense for _, _, dense in features]),
            [kind for _, kind in pairs],
            np.array([message.weight for message in messages for _ in message.pieces]),
        )

    @property
    def targets(self) -> Floats:
        return np.array([kind is not None for kind in self.kinds], dtype=np.float64)

    def fit_keep(self, vectors: Floats) -> LinearWeights:
        """Weights of the probability that a piece states a fact; `vectors` may have no columns."""
        regularisation = INVERSE_REGULARISATION if vectors.shape[1] else INVERSE_REGULARISATION_ALONE
        dense = np.hstack([self.dense, vectors])
        return self._to_model(_fit(self.features, dense, [self.targets], regularisation, self.weights))

    def fit_kinds(self) -> LinearWeights:
        """One against the rest for each kind, on the pieces that state a fact."""
        chosen = [i for i, kind in enumerate(self.kinds) if kind is not None]
        targets = [
            np.array([self.kinds[i] == name for i in chosen], dtype=np.float64)
            for name in SentenceModel.KINDS
        ]
        features = [self.features[i] for i in chosen]
        return self._to_model(
            _fit(features, self.dense[chosen], targets, INVERSE_REGULARISATION_KINDS, self.weights[chosen])
        )

    def _to_model(self, fitted: Sequence[Fitted]) -> LinearWeights:
        words = np.stack([each.words for each in fitted], axis=1)
        dense = np.stack([each.dense for each in fitted], axis=1)
        split = self.dense.shape[1]
        return SentenceModel.weights(words, dense[:split], dense[split:])


def _fit(
    features: Sequence[tuple[npt.NDArray[np.int64], Floats]],
    dense: Floats,
    targets: Sequence[Floats],
    regularisation: float,
    sample_weights: Floats,
) -> list[Fitted]:
    sparse = SparseRows.build(features)
    return [
        fit_logistic(
            sparse,
            dense,
            target,
            bucket_count=SentenceModel.BUCKETS,
            inverse_regularisation=regularisation,
            sample_weights=sample_weights,
        )
        for target in targets
    ]


def _vectors(
    messages: Sequence[LabelledMessage], embedder: Embedder, on_progress: ProgressCallback
) -> Iterator[Floats]:
    for done, message in enumerate(messages):
        on_progress(done, len(messages))
        if message.pieces:
            yield SentenceModel.vectors(message.pieces, embedder)


def _probabilities(
    model: SentenceModel, name: str, messages: Sequence[LabelledMessage], embedder: Embedder | None
) -> list[list[float]]:
    complete = model.with_weights(SentenceModel.TEXT_ALONE, model.keep[name].weights, 0.5)
    return [[each.probability for each in complete.score(message.pieces, embedder)] for message in messages]


def choose_threshold(messages: Sequence[LabelledMessage], scores: Sequence[Sequence[float]]) -> float:
    """The lowest threshold at which turns without facts stay silent often enough."""
    return next(
        (
            threshold
            for threshold in THRESHOLDS
            if measure(messages, scores, threshold)["silence"] >= MIN_SILENCE
        ),
        THRESHOLDS[-1],
    )


def measure(
    messages: Sequence[LabelledMessage], scores: Sequence[Sequence[float]], threshold: float
) -> dict[str, float]:
    """Coverage of gold facts, silence on turns without facts, and the share of kept pieces with a fact."""
    facts = covered = silent = without = kept = right = 0
    for message, values in zip(messages, scores, strict=True):
        chosen = [piece for piece, value in zip(message.pieces, values, strict=True) if value >= threshold]
        facts += message.facts
        covered += sum(_is_covered(quote, chosen) for quote in message.quotes)
        without += message.facts == 0
        silent += message.facts == 0 and not chosen
        kept += len(chosen)
        right += sum(message.label(piece) is not None for piece in chosen)
    return {
        "coverage": covered / max(facts, 1),
        "silence": silent / max(without, 1),
        "gold_precision": right / max(kept, 1),
        "kept": kept,
    }


def _is_covered(quote: Quote, chosen: Sequence[Piece]) -> bool:
    shared = sum(
        max(0, min(piece.sentence.end, quote.end) - max(piece.sentence.start, quote.start))
        for piece in chosen
    )
    return bool(shared >= MIN_QUOTE_SHARE * (quote.end - quote.start))


def evaluate(
    messages: Sequence[LabelledMessage], scores: Sequence[Sequence[float]], threshold: float
) -> dict[str, Any]:
    """The figures of all messages and of each language at a threshold, and the area under the curve."""
    labels = [message.label(piece) is not None for message in messages for piece in message.pieces]
    result: dict[str, Any] = {
        "threshold": threshold,
        "auc": round(area_under_curve(labels, [value for values in scores for value in values]), 4),
    }
    for lang in ("all", *sorted({message.lang for message in messages})):
        part = [
            (message, values)
            for message, values in zip(messages, scores, strict=True)
            if lang in ("all", message.lang)
        ]
        figures = measure([each for each, _ in part], [values for _, values in part], threshold)
        result[lang] = {name: round(value, 4) for name, value in figures.items()}
    return result


def area_under_curve(labels: Sequence[bool], scores: Sequence[float]) -> float:
    """The probability that a positive scores higher than a negative; ties count half."""
    values, inverse = np.unique(np.array(scores), return_inverse=True)
    positive = np.bincount(inverse, np.array(labels, dtype=np.float64), minlength=len(values))
    negative = np.bincount(inverse, minlength=len(values)) - positive
    below = np.cumsum(negative) - negative
    total = float(positive.sum() * negative.sum())
    return float(np.sum(positive * (below + negative / 2))) / total if total else 0.0


def _kind_accuracy(model: SentenceModel, messages: Sequence[LabelledMessage]) -> float:
    pairs = [
        (scored.kind, kind)
        for message in messages
        for scored in model.score(message.pieces)
        for kind in [message.label(scored.piece)]
        if kind is not None
    ]
    return round(sum(guess == kind for guess, kind in pairs) / max(len(pairs), 1), 4)
