"""Memory classification (PerLTQA, Eq. 1 and table 4): does a question ask for semantic or episodic memory?

A classifier gives probabilities of the five kinds, or of the two types alone. The type said is the likelier
one. Where both are as likely, as when a model named neither, nothing was said, and that is never right.
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
]  # of kinds, or of types: a Mapping's keys are invariant

UNDECIDED = "unsaid"
KINDS_BY_TYPE = {"semantic": ("semantic", *SEMANTIC_KINDS), "episodic": ("episodic", *EPISODIC_KINDS)}
ALL_KINDS = (*SEMANTIC_KINDS, *EPISODIC_KINDS)
_TIE_TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True)
class ClassifiedQuestion:
    """`said_kind` is None where the classifier tells types alone."""

    kind: str
    predicted_type: str
    predicted_kind: str | None
    ms: float

    @property
    def type(self) -> str:
        return "semantic" if self.kind in SEMANTIC_KINDS else "episodic"


def split_questions(dataset: Dataset, share: float, seed: int) -> tuple[Dataset, Dataset]:
    """Questions of known kind to learn from, and the `share` of them to be tested on, drawn by the seed."""
    known = [(case.id, each.id) for case in dataset.cases for each in case.questions if each.kind]
    tested = set(take_sample(known, round(len(known) * share), seed))
    if not tested or len(tested) == len(known):
        raise LabError(
            f"{dataset.name}: {len(known)} questions of known kind are too few to learn and to test"
        )
    return _select_questions(dataset, set(known) - tested), _select_questions(dataset, tested)


def classify_questions(
    dataset: Dataset, classifier: QuestionClassifier, on_progress: ProgressCallback = no_progress
) -> list[ClassifiedQuestion]:
    """Every question whose kind is known."""
    asked = [(each.text, each.kind) for case in dataset.cases for each in case.questions if each.kind]
    if not asked:
        raise LabError(
            f"{dataset.name}: no question tells its kind of memory: classification needs PerLTQA's"
        )
    told = []
    for done, (question, kind) in enumerate(asked):
        on_progress(done, len(asked))
        told.append(_classify_question(question, kind, classifier))
    return told


def summarise_classification(
    told: Sequence[ClassifiedQuestion], *, classifier: str, settings: Mapping[str, object], dataset: str
) -> dict[str, Any]:
    """The common shape of results: table 4's figures for the two types, `kind_...` for the five kinds."""
    types = confusion_matrix([each.type for each in told], [each.predicted_type for each in told])
    metrics = weighted_scores(types)
    right = {"accuracy": [float(each.type == each.predicted_type) for each in told]}
    tables = {"types": types}
    classes = class_scores(types)
    if all(each.predicted_kind is not None for each in told):
        kinds = confusion_matrix([each.kind for each in told], [each.predicted_kind or "" for each in told])
        metrics |= {f"kind_{name}": value for name, value in weighted_scores(kinds).items()}
        right["kind_accuracy"] = [float(each.kind == each.predicted_kind) for each in told]
        tables["kinds"] = kinds
        classes |= class_scores(kinds)
    else:
        for kind in ALL_KINDS:
            if hits := [each.type == each.predicted_type for each in told if each.kind == kind]:
                classes[kind] = {"n": len(hits), "type_accuracy": fmean(hits)}
    return {
        "dataset": "classification",
        "scheme": classifier,
        "settings": {"questions": dataset, **settings},
        "n": len(told),
        "metrics": _round_values(metrics),
        "intervals": {
            name: [round(bound, 4) for bound in bootstrap_interval(hits)] for name, hits in right.items()
        },
        "by_category": {name: _round_values(row) for name, row in classes.items()},
        "confusion": tables,
        "unsaid": sum(each.predicted_type == UNDECIDED for each in told),
        "ms_per_query": round(fmean(each.ms for each in told), 3),
    }


def _select_questions(dataset: Dataset, chosen: set[tuple[str, str]]) -> Dataset:
    cases = [
        replace(case, questions=tuple(each for each in case.questions if (case.id, each.id) in chosen))
        for case in dataset.cases
    ]
    return replace(dataset, cases=tuple(case for case in cases if case.questions))


def _classify_question(question: str, kind: str, classifier: QuestionClassifier) -> ClassifiedQuestion:
    started = perf_counter()
    likely: Mapping[str, float] = classifier(question)
    ms = (perf_counter() - started) * 1000
    known = {*KINDS_BY_TYPE, *ALL_KINDS}
    if not likely or any(name not in known or not isfinite(p) or p < 0 for name, p in likely.items()):
        raise LabError(
            f"the classifier said {dict(likely)} of {question[:80]!r}: probabilities of "
            f"{', '.join(KINDS_BY_TYPE)} or of {', '.join(ALL_KINDS)} are wanted"
        )
    types = {name: fsum(likely.get(each, 0.0) for each in parts) for name, parts in KINDS_BY_TYPE.items()}
    kinds = {name: p for name, p in likely.items() if name not in KINDS_BY_TYPE}
    return ClassifiedQuestion(kind, _most_likely(types), _most_likely(kinds) if kinds else None, ms)


def _most_likely(likely: Mapping[str, float]) -> str:
    best, *others = sorted(likely.items(), key=lambda each: -each[1])
    return UNDECIDED if others and best[1] - others[0][1] < _TIE_TOLERANCE else best[0]


def _round_values(figures: Mapping[str, float]) -> dict[str, float]:
    return {name: round(value, 4) for name, value in figures.items()}
