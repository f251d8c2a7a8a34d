"""Training of the part of the safety detector that scores single values: does this number give access?

The values of texts with a secret are examples of one kind, those of harmless texts and ordinary talk of the
other. Where a text does not say which of its values is the secret, it is what the patterns find, or the last
number.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from thinkback import SafetyModel
from thinkback.language.safety.access_values import find_candidates
from thinkback.language.safety.detector import hash_features
from thinkback.language.safety.normalise import normalise_text
from thinkback.language.safety.secret_detection import detect_secrets
from thinkback_lab.training.logistic import SparseRows, fit_logistic

if TYPE_CHECKING:
    import numpy.typing as npt

    from thinkback_lab.datasets.safety import SafetyCase

    Floats = npt.NDArray[np.float64]
    Row = tuple[npt.NDArray[np.int64], Floats]

INVERSE_REGULARISATION = 1.0
ITERATIONS = 120
CASE_WEIGHT = 4.0
MAX_FALSE = 0.03  # share of harmless texts in files left out with a value above the threshold
MAX_FALSE_TALK = 0.0  # share of the texts of ordinary talk
MAX_EXAMPLES = 60
_NO_MARKS = re.compile("(?!)")  # training texts have no redaction marks


class ValueTrainer:
    """Fits and tests the weights; each text is analysed once."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, tuple[str, ...] | None], list[tuple[Row, bool]]] = {}

    def values(self, text: str, secrets: tuple[str, ...] | None = None) -> list[tuple[Row, bool]]:
        """The features of each value, and whether it is a secret; in a text with secrets, only of these.

        No `secrets` at all (None) says that the text has none, an empty tuple that it is not said which.
        """
        key = text, secrets
        if key not in self._known:
            self._known[key] = list(_labelled_values(text, secrets))
        return self._known[key]

    def case_values(self, case: SafetyCase) -> list[tuple[Row, bool]]:
        return self.values(case.text, case.values if case.kind == "secret" else None)

    def fit(self, cases: Iterable[SafetyCase], talk: Iterable[str], talk_weight: float = 1.0) -> Floats:
        """Weights by bucket, the bias last."""
        rows: list[Row] = []
        targets: list[float] = []
        importance: list[float] = []
        for case in cases:
            if case.kind != "order":
                for row, is_secret in self.case_values(case):
                    rows.append(row)
                    targets.append(float(is_secret))
                    importance.append(CASE_WEIGHT)
        for text in talk:
            for row, _ in self.values(text):
                rows.append(row)
                targets.append(0.0)
                importance.append(talk_weight)
        if not rows:
            return np.zeros(SafetyModel.BUCKETS + 1)
        fitted = fit_logistic(
            SparseRows.build(rows),
            np.ones((len(rows), 1)),  # the bias
            np.array(targets),
            bucket_count=SafetyModel.BUCKETS,
            inverse_regularisation=INVERSE_REGULARISATION,
            sample_weights=np.array(importance),
            iterations=ITERATIONS,
        )
        return np.append(fitted.words, fitted.dense)

    def score(self, weights: Floats, case: SafetyCase) -> float:
        """The highest score of a value: of the secret, if there is one."""
        return self._best(weights, self.case_values(case))

    def score_text(self, weights: Floats, text: str) -> float:
        return self._best(weights, self.values(text))

    @staticmethod
    def _best(weights: Floats, values: Iterable[tuple[Row, bool]]) -> float:
        scores = (float(np.sum(weights[slots] * strengths)) for (slots, strengths), _ in values)
        return float(weights[-1]) + max(scores, default=-99.0)


def _labelled_values(text: str, secrets: tuple[str, ...] | None) -> Iterator[tuple[Row, bool]]:
    normalised = normalise_text(text, _NO_MARKS).text
    found = list(find_candidates(normalised))
    if secrets is None:
        yield from ((hash_features(named), False) for _, named in found)
        return
    if secrets:
        wanted = [at.span() for secret in secrets for at in re.finditer(re.escape(secret), normalised, re.I)]
    else:
        wanted = [(start, end) for start, end, _ in detect_secrets(normalised)]
        if not wanted and found:
            digits = [each for each, _ in found if re.search(r"\d", normalised[each.start : each.end])]
            last = digits[-1] if digits else found[-1][0]
            wanted = [(last.start, last.end)]
    for candidate, named in found:
        if any(start < candidate.end and candidate.start < end for start, end in wanted):
            yield hash_features(named), True


def choose_value_threshold(lookalikes: Sequence[float], talk: Sequence[float]) -> float:
    """The lowest threshold that few harmless texts of files left out, and nearly no ordinary talk, reach."""

    def limit(scores: Sequence[float], share: float) -> float:
        ordered = sorted(scores, reverse=True)
        return ordered[int(share * len(ordered))] if ordered else 0.0

    return max(limit(lookalikes, MAX_FALSE), limit(talk, MAX_FALSE_TALK))


def value_figures(
    unseen: Sequence[tuple[float, SafetyCase]], talk: Sequence[float], threshold: float
) -> dict[str, Any]:
    """Shares above the threshold, in files that were left out and in ordinary talk."""

    def share(scores: Sequence[float]) -> float | None:
        return round(sum(score >= threshold for score in scores) / len(scores), 4) if scores else None

    by_file: Mapping[str, list[float]] = {
        note: [score for score, case in unseen if case.kind == "secret" and case.note == note]
        for note in sorted({case.note for _, case in unseen if case.kind == "secret"})
    }
    missed = sorted(
        (score, case.text) for score, case in unseen if case.kind == "secret" and score < threshold
    )
    alarms = sorted(
        ((score, case.text) for score, case in unseen if case.kind == "benign" and score >= threshold),
        reverse=True,
    )
    return {
        "found": share([score for score, case in unseen if case.kind == "secret"]),
        "found_by_file": {note: share(scores) for note, scores in by_file.items()},
        "found_by_language": {
            lang: share([score for score, case in unseen if case.kind == "secret" and case.lang == lang])
            for lang in sorted({case.lang for _, case in unseen})
        },
        "false": share([score for score, case in unseen if case.kind == "benign"]),
        "false_in_talk": share(talk),
        "missed": [f"{score:.1f} {text}" for score, text in missed[:MAX_EXAMPLES]],
        "alarms": [f"{score:.1f} {text}" for score, text in alarms[:MAX_EXAMPLES]],
    }
