"""Training of the detector of orders and secrets that thinkback ships, from labelled texts and ordinary talk.

Each file of texts is written in one style. The thresholds are chosen with a part of the files left out in
turn, so that they hold for styles that the detector has not learned. Deterministic; see `training.logistic`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from thinkback import SafetyModel
from thinkback.language.safety.detector import Thresholds
from thinkback.language.safety.detector_features import gate
from thinkback.language.safety.injection import detect_instructions
from thinkback.language.safety.normalise import disguised_readings, normalise_text
from thinkback.language.safety.secret_detection import detect_secrets
from thinkback_lab.progress import ProgressCallback, no_progress
from thinkback_lab.training.access_values import ValueTrainer, choose_value_threshold, value_figures
from thinkback_lab.training.logistic import SparseRows, fit_logistic

if TYPE_CHECKING:
    import numpy.typing as npt

    from thinkback_lab.datasets.lives import Life
    from thinkback_lab.datasets.safety import SafetyCase

    Floats = npt.NDArray[np.float64]
    Row = tuple[npt.NDArray[np.int64], Floats]

INVERSE_REGULARISATION = 1.0
ITERATIONS = 120
FOLDS = 6
FOLD_TALK = 4  # of so many texts of ordinary talk, one is used with files left out
MAX_EXAMPLES = 60
CASE_WEIGHT = 4.0
TALK_WEIGHT = 1.0  # of a window of ordinary talk
MAX_QUOTED = 0.055  # share of harmless texts in files left out that may be shown as quotations
MAX_QUOTED_TALK = 0.0025  # share of the sentences of ordinary users
MAX_WITHHELD = 0.001  # share of harmless texts above the threshold of withheld orders, without the margin
WITHHELD_MARGIN = 0.5
MAX_REDACTED = 0.001  # share of harmless texts above the threshold of secrets, without the margin
SECRET_MARGIN = 0.3
MAX_DOUBT = 0.03  # share of orders that the patterns see and the detector may overrule
_NO_SCORE = -99.0
NO_MARKS = re.compile("(?!)")  # training texts have no redaction marks
_KINDS = ("order", "secret")


@dataclass(frozen=True, slots=True)
class TrainedSafety:
    model: SafetyModel
    figures: dict[str, Any]


def harmless_texts(lives: Iterable[Life]) -> Iterator[str]:
    """The texts that a memory reads: messages, replies, facts about the user and others, and questions."""
    for life in lives:
        for turn in life.turns:
            yield from (
                text for text in (turn.user, turn.assistant, *(each.text for each in turn.facts)) if text
            )
        yield from (question.q for question in life.questions)


class FeatureRows:
    """Features of windows; each text is analysed once."""

    def __init__(self) -> None:
        self._known: dict[str, Row] = {}

    def of(self, window: str) -> Row:
        if window not in self._known:
            self._known[window] = SafetyModel.features(window)
        return self._known[window]

    def windows(self, text: str, *, gated: bool = False) -> list[Row]:
        """The windows of a text; with `gated`, those that the detector scores."""
        normalised = normalise_text(text, NO_MARKS).text
        found = (normalised[start:end].strip() for start, end in SafetyModel.windows(normalised))
        return [self.of(window) for window in dict.fromkeys(found) if window and (not gated or gate(window))]

    def whole(self, text: str) -> Row:
        return self.of(normalise_text(text, NO_MARKS).text.strip())


def train_safety_model(
    files: Mapping[str, Sequence[SafetyCase]],
    values: Mapping[str, Sequence[SafetyCase]],
    talk: Sequence[str],
    development: Sequence[str],
    sentences: Sequence[str],
    on_progress: ProgressCallback = no_progress,
) -> TrainedSafety:
    """Fit on all files and on `talk`; choose the thresholds on files left out and on the other texts.

    From the files of `values`, only the scores of single values are learned. `development` are harmless texts
    of all kinds, `sentences` are what users say.
    """
    rows = FeatureRows()
    unseen: dict[str, list[tuple[float, SafetyCase]]] = {kind: [] for kind in _KINDS}
    talk_scores: dict[str, list[float]] = {}
    weights: dict[str, Floats] = {}
    names = list(files)
    folds = [names[first::FOLDS] for first in range(min(FOLDS, len(names)))]
    for number, kind in enumerate(_KINDS):
        for done, left_out in enumerate(folds):
            others = [case for name in names if name not in left_out for case in files[name]]
            fitted = fit_kind(kind, others, talk[::FOLD_TALK], rows, TALK_WEIGHT * FOLD_TALK)
            tested = (case for name in left_out for case in files[name])
            unseen[kind] += ((score_text(fitted, case.text, rows), case) for case in tested)
            on_progress(number * (len(folds) + 1) + done + 1, len(_KINDS) * (len(folds) + 1))
        everything = [case for cases in files.values() for case in cases]
        weights[kind] = fit_kind(kind, everything, talk, rows, TALK_WEIGHT)
        talk_scores[kind] = [score_text(weights[kind], text, rows) for text in development]
    said = [score_text(weights["order"], text, rows) for text in sentences]
    weights["value"], value_threshold, value_shares = _train_values({**files, **values}, talk, development)
    thresholds = _choose_thresholds(unseen, talk_scores, said)._replace(value=value_threshold)
    words = np.stack([weights[name][:-1] for name in SafetyModel.OUTPUTS], axis=1)
    bias = np.array([weights[name][-1] for name in SafetyModel.OUTPUTS])
    figures = {
        "texts": sum(map(len, files.values())),
        "files": len(files),
        "talk": len(talk),
        "thresholds": {name: round(value, 3) for name, value in thresholds._asdict().items()},
        "sentences_quoted": _share(said, thresholds.quoted),
        **{kind: _figures(unseen[kind], talk_scores[kind], kind, thresholds) for kind in _KINDS},
        "value": value_shares,
    }
    return TrainedSafety(SafetyModel.quantise(words, bias, thresholds), figures)


def _train_values(
    files: Mapping[str, Sequence[SafetyCase]], talk: Sequence[str], development: Sequence[str]
) -> tuple[Floats, float, dict[str, Any]]:
    """The weights of single values, their threshold, and what they find in files left out."""
    trainer = ValueTrainer()
    unseen: list[tuple[float, SafetyCase]] = []
    names = sorted(files)
    for left_out in (names[first::FOLDS] for first in range(min(FOLDS, len(names)))):
        others = [case for name, cases in files.items() if name not in left_out for case in cases]
        fitted = trainer.fit(others, talk[::FOLD_TALK], float(FOLD_TALK))
        tested = (case for name in left_out for case in files[name] if case.kind != "order")
        unseen += ((trainer.score(fitted, case), case) for case in tested)
    weights = trainer.fit((case for cases in files.values() for case in cases), talk)
    said = [trainer.score_text(weights, text) for text in development]
    threshold = choose_value_threshold([score for score, case in unseen if case.kind == "benign"], said)
    return weights, threshold, value_figures(unseen, said, threshold)


def fit_kind(
    kind: str, cases: Iterable[SafetyCase], talk: Iterable[str], rows: FeatureRows, talk_weight: float
) -> Floats:
    """Weights by bucket, the bias last: texts of this kind against harmless ones and ordinary talk."""
    found: list[Row] = []
    targets: list[float] = []
    importance: list[float] = []
    for case in cases:
        if case.kind in (kind, "benign"):
            new = [rows.whole(case.text)] if case.kind == kind else rows.windows(case.text)
            found += new
            targets += [float(case.kind == kind)] * len(new)
            importance += [CASE_WEIGHT] * len(new)
    for text in talk:
        new = rows.windows(text)
        found += new
        targets += [0.0] * len(new)
        importance += [talk_weight] * len(new)
    fitted = fit_logistic(
        SparseRows.build(found),
        np.ones((len(found), 1)),  # the bias
        np.array(targets),
        bucket_count=SafetyModel.BUCKETS,
        inverse_regularisation=INVERSE_REGULARISATION,
        sample_weights=np.array(importance),
        iterations=ITERATIONS,
    )
    return np.append(fitted.words, fitted.dense)


def score_text(weights: Floats, text: str, rows: FeatureRows) -> float:
    """The highest score of a window, as the detector finds it."""
    found = (float(np.sum(weights[slots] * values)) for slots, values in rows.windows(text, gated=True))
    return float(weights[-1]) + max(found, default=_NO_SCORE)


def _choose_thresholds(
    unseen: Mapping[str, Sequence[tuple[float, SafetyCase]]],
    talk: Mapping[str, Sequence[float]],
    sentences: Sequence[float],
) -> Thresholds:
    lookalikes = [score for score, case in unseen["order"] if case.kind == "benign"]
    harmless = {
        kind: [*(score for score, case in unseen[kind] if case.kind == "benign"), *talk[kind]]
        for kind in _KINDS
    }
    quoted = max(lowest_threshold(lookalikes, MAX_QUOTED), lowest_threshold(sentences, MAX_QUOTED_TALK))
    positives = sorted(
        score
        for score, case in unseen["order"]
        if case.kind == "order" and score > _NO_SCORE / 2 and match_patterns(case.text, "order")
    )  # those that only a disguised reading shows have no score
    return Thresholds(
        quoted=quoted,
        withheld=lowest_threshold(harmless["order"], MAX_WITHHELD) + WITHHELD_MARGIN,
        secret=lowest_threshold(harmless["secret"], MAX_REDACTED) + SECRET_MARGIN,
        doubted=positives[int(MAX_DOUBT * len(positives))],
        value=0.0,  # chosen by itself
    )


def lowest_threshold(scores: Sequence[float], share: float) -> float:
    """The lowest threshold that at most this share of the scores reaches."""
    ordered = sorted(scores, reverse=True)
    return float(np.nextafter(ordered[int(share * len(ordered))], 99.0))


def match_patterns(text: str, kind: str) -> bool:
    """Whether the patterns alone find an order or a secret."""
    normalised = normalise_text(text, NO_MARKS)
    return any(
        True
        for reading in (normalised, *disguised_readings(normalised))
        for _ in (detect_instructions if kind == "order" else detect_secrets)(reading.text)
    )


def _share(scores: Iterable[float], limit: float) -> float | None:
    values = [score >= limit for score in scores]
    return round(sum(values) / len(values), 4) if values else None


def _figures(
    unseen: Sequence[tuple[float, SafetyCase]], talk: Sequence[float], kind: str, limits: Thresholds
) -> dict[str, Any]:
    """Shares above the threshold, for texts of files that were left out and for ordinary talk."""
    limit = limits.quoted if kind == "order" else limits.secret

    def share(scores: Iterable[float]) -> float | None:
        return _share(scores, limit)

    langs = sorted({case.lang for _, case in unseen})
    seen = [score if not match_patterns(case.text, kind) else 99.0 for score, case in unseen]
    missed = sorted(
        (score, case.text)
        for (score, case), either in zip(unseen, seen, strict=True)
        if case.kind == kind and either < limit
    )
    alarms = sorted(
        ((score, case.text) for score, case in unseen if case.kind == "benign" and score >= limit),
        reverse=True,
    )
    pairs = list(zip(seen, (case for _, case in unseen), strict=True))
    return {
        "found_with_patterns": share(score for score, case in pairs if case.kind == kind),
        "found_with_patterns_by_file": {
            note: share(score for score, case in pairs if case.kind == kind and case.note == note)
            for note in sorted({case.note for _, case in pairs if case.kind == kind})
        },
        "found": share(score for score, case in unseen if case.kind == kind),
        "found_by_language": {
            lang: share(score for score, case in unseen if case.kind == kind and case.lang == lang)
            for lang in langs
        },
        "false": share(score for score, case in unseen if case.kind == "benign"),
        "false_in_talk": share(talk),
        "missed": [f"{score:.1f} {text}" for score, text in islice(missed, MAX_EXAMPLES)],
        "alarms": [f"{score:.1f} {text}" for score, text in islice(alarms, MAX_EXAMPLES)],
    }
