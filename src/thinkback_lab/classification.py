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

from thinkback_lab.cases import EPISODIC, SEMANTIC, Dataset
from thinkback_lab.errors import LabError
from thinkback_lab.metrics.bootstrap import interval
from thinkback_lab.metrics.classification import by_class, confusion, weighted
from thinkback_lab.progress import Report, silent
from thinkback_lab.sample import sample

Classifier = Callable[[str], Mapping[Any, float]]  # of kinds, or of types: a Mapping's keys are invariant

UNSAID = "unsaid"
TYPES = {"semantic": ("semantic", *SEMANTIC), "episodic": ("episodic", *EPISODIC)}
KINDS = (*SEMANTIC, *EPISODIC)
_EVEN = 1e-9


@dataclass(frozen=True, slots=True)
class Classified:
    """`said_kind` is None where the classifier tells types alone."""

    kind: str
    said_type: str
    said_kind: str | None
    ms: float

    @property
    def type(self) -> str:
        return "semantic" if self.kind in SEMANTIC else "episodic"


def split(dataset: Dataset, share: float, seed: int) -> tuple[Dataset, Dataset]:
    """Questions of known kind to learn from, and the `share` of them to be tested on, drawn by the seed."""
    known = [(case.id, each.id) for case in dataset.cases for each in case.questions if each.kind]
    tested = set(sample(known, round(len(known) * share), seed))
    if not tested or len(tested) == len(known):
        raise LabError(
            f"{dataset.name}: {len(known)} questions of known kind are too few to learn and to test"
        )
    return _only(dataset, set(known) - tested), _only(dataset, tested)


def classify(dataset: Dataset, classifier: Classifier, report: Report = silent) -> list[Classified]:
    """Every question whose kind is known."""
    asked = [(each.text, each.kind) for case in dataset.cases for each in case.questions if each.kind]
    if not asked:
        raise LabError(
            f"{dataset.name}: no question tells its kind of memory: classification needs PerLTQA's"
        )
    told = []
    for done, (question, kind) in enumerate(asked):
        report(done, len(asked))
        told.append(_classified(question, kind, classifier))
    return told


def summarise(
    told: Sequence[Classified], *, classifier: str, settings: Mapping[str, object], dataset: str
) -> dict[str, Any]:
    """The common shape of results: table 4's figures for the two types, `kind_...` for the five kinds."""
    types = confusion([each.type for each in told], [each.said_type for each in told])
    metrics = weighted(types)
    right = {"accuracy": [float(each.type == each.said_type) for each in told]}
    tables = {"types": types}
    classes = by_class(types)
    if all(each.said_kind is not None for each in told):
        kinds = confusion([each.kind for each in told], [each.said_kind or "" for each in told])
        metrics |= {f"kind_{name}": value for name, value in weighted(kinds).items()}
        right["kind_accuracy"] = [float(each.kind == each.said_kind) for each in told]
        tables["kinds"] = kinds
        classes |= by_class(kinds)
    else:
        for kind in KINDS:
            if hits := [each.type == each.said_type for each in told if each.kind == kind]:
                classes[kind] = {"n": len(hits), "type_accuracy": fmean(hits)}
    return {
        "dataset": "classification",
        "scheme": classifier,
        "settings": {"questions": dataset, **settings},
        "n": len(told),
        "metrics": _rounded(metrics),
        "intervals": {name: [round(bound, 4) for bound in interval(hits)] for name, hits in right.items()},
        "by_category": {name: _rounded(row) for name, row in classes.items()},
        "confusion": tables,
        "unsaid": sum(each.said_type == UNSAID for each in told),
        "ms_per_query": round(fmean(each.ms for each in told), 3),
    }


def _only(dataset: Dataset, chosen: set[tuple[str, str]]) -> Dataset:
    cases = [
        replace(case, questions=tuple(each for each in case.questions if (case.id, each.id) in chosen))
        for case in dataset.cases
    ]
    return replace(dataset, cases=tuple(case for case in cases if case.questions))


def _classified(question: str, kind: str, classifier: Classifier) -> Classified:
    started = perf_counter()
    likely: Mapping[str, float] = classifier(question)
    ms = (perf_counter() - started) * 1000
    known = {*TYPES, *KINDS}
    if not likely or any(name not in known or not isfinite(p) or p < 0 for name, p in likely.items()):
        raise LabError(
            f"the classifier said {dict(likely)} of {question[:80]!r}: probabilities of "
            f"{', '.join(TYPES)} or of {', '.join(KINDS)} are wanted"
        )
    types = {name: fsum(likely.get(each, 0.0) for each in parts) for name, parts in TYPES.items()}
    kinds = {name: p for name, p in likely.items() if name not in TYPES}
    return Classified(kind, _likeliest(types), _likeliest(kinds) if kinds else None, ms)


def _likeliest(likely: Mapping[str, float]) -> str:
    best, *others = sorted(likely.items(), key=lambda each: -each[1])
    return UNSAID if others and best[1] - others[0][1] < _EVEN else best[0]


def _rounded(figures: Mapping[str, float]) -> dict[str, float]:
    return {name: round(value, 4) for name, value in figures.items()}
