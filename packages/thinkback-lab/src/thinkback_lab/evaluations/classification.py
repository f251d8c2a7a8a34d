"""Memory classification (PerLTQA, Eq. 1 and table 4): does a question ask for semantic or episodic memory?

A classifier returns probabilities of the five kinds, or of the two types only. The more probable type is the
prediction. Equal probabilities, as when a model named no type, count as undecided, which is never correct.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import fsum, isfinite
from statistics import fmean
from time import perf_counter
from typing import Any

from thinkback_lab.cases import EPISODIC_KINDS, SEMANTIC_KINDS, Dataset, take_sample
from thinkback_lab.errors import LabError
from thinkback_lab.metrics.classification import class_scores, confusion_matrix, weighted_scores
from thinkback_lab.metrics.statistics import bootstrap_interval
from thinkback_lab.progress import ProgressCallback, no_progress

QuestionClassifier = Callable[
    [str], Mapping[Any, float]
]  # by kind or by type; the keys of a Mapping are invariant

UNDECIDED = "unsaid"
KINDS_BY_TYPE = {"semantic": ("semantic", *SEMANTIC_KINDS), "episodic": ("episodic", *EPISODIC_KINDS)}
ALL_KINDS = (*SEMANTIC_KINDS, *EPISODIC_KINDS)
_TIE_TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True)
class ClassifiedQuestion:
    """A question with true kind and prediction; `predicted_kind` is None if only types are predicted."""

    kind: str
    predicted_type: str
    predicted_kind: str | None
    ms: float

    @property
    def type(self) -> str:
        return "semantic" if self.kind in SEMANTIC_KINDS else "episodic"


def split_questions(dataset: Dataset, share: float, seed: int) -> tuple[Dataset, Dataset]:
    """Split the questions of known kind into a training part and a test part of the given share."""
    keys = [(case.id, each.id) for case in dataset.cases for each in case.questions if each.kind]
    test_keys = set(take_sample(keys, round(len(keys) * share), seed))
    if not test_keys or len(test_keys) == len(keys):
        raise LabError(
            f"{dataset.name}: {len(keys)} questions of known kind are too few for training and test"
        )
    return _select_questions(dataset, set(keys) - test_keys), _select_questions(dataset, test_keys)


def classify_questions(
    dataset: Dataset, classifier: QuestionClassifier, on_progress: ProgressCallback = no_progress
) -> list[ClassifiedQuestion]:
    """Classify every question of known kind."""
    questions = [(each.text, each.kind) for case in dataset.cases for each in case.questions if each.kind]
    if not questions:
        raise LabError(f"{dataset.name}: no question has a kind: classification needs PerLTQA's questions")
    classified = []
    for done, (question, kind) in enumerate(questions):
        on_progress(done, len(questions))
        classified.append(_classify_question(question, kind, classifier))
    return classified


def summarise_classification(
    questions: Sequence[ClassifiedQuestion], *, classifier: str, settings: Mapping[str, object], dataset: str
) -> dict[str, Any]:
    """Results in the common form: figures of PerLTQA's table 4 for the types, `kind_...` for the kinds."""
    types = confusion_matrix([each.type for each in questions], [each.predicted_type for each in questions])
    metrics = weighted_scores(types)
    hits_by_metric = {"accuracy": [float(each.type == each.predicted_type) for each in questions]}
    tables = {"types": types}
    classes = class_scores(types)
    if all(each.predicted_kind is not None for each in questions):
        kinds = confusion_matrix(
            [each.kind for each in questions], [each.predicted_kind or "" for each in questions]
        )
        metrics |= {f"kind_{name}": value for name, value in weighted_scores(kinds).items()}
        hits_by_metric["kind_accuracy"] = [float(each.kind == each.predicted_kind) for each in questions]
        tables["kinds"] = kinds
        classes |= class_scores(kinds)
    else:
        for kind in ALL_KINDS:
            if hits := [each.type == each.predicted_type for each in questions if each.kind == kind]:
                classes[kind] = {"n": len(hits), "type_accuracy": fmean(hits)}
    return {
        "dataset": "classification",
        "scheme": classifier,
        "settings": {"questions": dataset, **settings},
        "n": len(questions),
        "metrics": _round_values(metrics),
        "intervals": {
            name: [round(bound, 4) for bound in bootstrap_interval(hits)]
            for name, hits in hits_by_metric.items()
        },
        "by_category": {name: _round_values(row) for name, row in classes.items()},
        "confusion": tables,
        "unsaid": sum(each.predicted_type == UNDECIDED for each in questions),
        "ms_per_query": round(fmean(each.ms for each in questions), 3),
    }


def _select_questions(dataset: Dataset, keys: set[tuple[str, str]]) -> Dataset:
    cases = [
        replace(case, questions=tuple(each for each in case.questions if (case.id, each.id) in keys))
        for case in dataset.cases
    ]
    return replace(dataset, cases=tuple(case for case in cases if case.questions))


def _classify_question(question: str, kind: str, classifier: QuestionClassifier) -> ClassifiedQuestion:
    started = perf_counter()
    probabilities: Mapping[str, float] = classifier(question)
    ms = (perf_counter() - started) * 1000
    labels = {*KINDS_BY_TYPE, *ALL_KINDS}
    if not probabilities or any(
        name not in labels or not isfinite(p) or p < 0 for name, p in probabilities.items()
    ):
        raise LabError(
            f"the classifier returned {dict(probabilities)} for {question[:80]!r}: expected probabilities of "
            f"{', '.join(KINDS_BY_TYPE)} or of {', '.join(ALL_KINDS)}"
        )
    types = {
        name: fsum(probabilities.get(each, 0.0) for each in parts) for name, parts in KINDS_BY_TYPE.items()
    }
    kinds = {name: p for name, p in probabilities.items() if name not in KINDS_BY_TYPE}
    return ClassifiedQuestion(kind, _most_likely(types), _most_likely(kinds) if kinds else None, ms)


def _most_likely(probabilities: Mapping[str, float]) -> str:
    best, *others = sorted(probabilities.items(), key=lambda each: -each[1])
    return UNDECIDED if others and best[1] - others[0][1] < _TIE_TOLERANCE else best[0]


def _round_values(figures: Mapping[str, float]) -> dict[str, float]:
    return {name: round(value, 4) for name, value in figures.items()}
