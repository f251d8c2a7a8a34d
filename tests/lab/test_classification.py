"""Classification metrics against scikit-learn and by hand, and the evaluation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.lab.fakes import make_question

from thinkback_lab.cases import Case, Dataset, Kind
from thinkback_lab.errors import LabError
from thinkback_lab.evaluations.classification import (
    classify_questions,
    split_questions,
    summarise_classification,
)
from thinkback_lab.metrics.classification import class_scores, confusion_matrix, weighted_scores

LABELS = st.sampled_from(["a", "b", "c"])
PAIRS = st.lists(st.tuples(LABELS, LABELS), min_size=1, max_size=40)


def asked(*kinds: Kind | None) -> Dataset:
    questions = tuple(make_question(n, f"{kind} {n}?", kind=kind) for n, kind in enumerate(kinds))
    return Dataset(name="perltqa", cases=(Case(id="c", items=(), questions=questions),))


def figures(dataset: Dataset, classifier: Any) -> dict[str, Any]:
    told = classify_questions(dataset, classifier)
    return summarise_classification(told, classifier="learned", settings={"seed": 1}, dataset=dataset.name)


@given(PAIRS)
def test_metrics_equal_scikit_learn(pairs: list[tuple[str, str]]) -> None:
    metrics = pytest.importorskip("sklearn.metrics", reason="scikit-learn belongs to the extra lab")
    true, said = [one for one, _ in pairs], [other for _, other in pairs]
    told = weighted_scores(confusion_matrix(true, said))
    theirs = metrics.precision_recall_fscore_support(true, said, average="weighted", zero_division=0)
    assert [told[name] for name in ("precision", "recall", "f1")] == pytest.approx(theirs[:3])
    assert told["accuracy"] == pytest.approx(metrics.accuracy_score(true, said))


@given(PAIRS)
def test_weighted_recall_equals_accuracy_and_scores_are_bounded(pairs: list[tuple[str, str]]) -> None:
    true, said = [one for one, _ in pairs], [other for _, other in pairs]
    table = confusion_matrix(true, said)
    told = weighted_scores(table)
    assert told["recall"] == pytest.approx(told["accuracy"])
    assert all(0 <= value <= 1 + 1e-12 for value in told.values())
    assert sum(sum(row.values()) for row in table.values()) == len(pairs)


def test_metrics_by_hand() -> None:
    table = confusion_matrix(["a", "a", "a", "b"], ["a", "b", "c", "b"])
    assert table["a"] == {"a": 1, "b": 1, "c": 1}
    rows = class_scores(table)
    assert set(rows) == {"a", "b"}
    assert rows["a"] == {"n": 3, "precision": 1, "recall": pytest.approx(1 / 3), "f1": 0.5}
    assert weighted_scores(table)["precision"] == pytest.approx((3 * 1 + 0.5) / 4)


def test_type_probability_is_sum_of_its_kinds() -> None:
    def classifier(text: str) -> Mapping[str, float]:
        return {"event": 0.4, "profile": 0.35, "relationship": 0.25}

    told = figures(asked("event", "profile"), classifier)
    assert told["confusion"]["types"]["episodic"] == {"episodic": 0, "semantic": 1}
    assert told["confusion"]["kinds"]["event"] == {"event": 1, "profile": 0}
    assert told["metrics"]["accuracy"] == told["metrics"]["kind_accuracy"] == 0.5
    assert told["by_category"]["event"]["recall"] == 1


def test_classifier_may_return_types_only() -> None:
    def classifier(text: str) -> Mapping[str, float]:
        right = "episodic" if text.startswith(("event", "dialogue")) else "semantic"
        return {"semantic": 0.1, "episodic": 0.1, right: 0.9}

    told = figures(asked("event", "dialogue", "profile", "knowledge", None), classifier)
    assert told["n"] == 4
    assert told["metrics"] == {"precision": 1, "recall": 1, "f1": 1, "accuracy": 1}
    assert told["by_category"]["dialogue"] == {"n": 1, "type_accuracy": 1}
    assert told["intervals"] == {"accuracy": [1, 1]}
    assert told["dataset"] == "classification"
    assert told["settings"] == {"questions": "perltqa", "seed": 1}
    assert "kinds" not in told["confusion"]


def test_undecided_is_wrong() -> None:
    told = figures(asked("event", "profile"), lambda text: {"semantic": 0.5, "episodic": 0.5})
    assert told["unsaid"] == 2
    assert set(told["metrics"].values()) == {0}


@pytest.mark.parametrize(
    "said", [{}, {"colour": 1.0}, {"event": float("nan")}, {"event": -0.1}, {"event": float("inf")}]
)
def test_invalid_probabilities_are_rejected(said: dict[str, float]) -> None:
    with pytest.raises(LabError, match="the classifier returned"):
        classify_questions(asked("event"), lambda text: said)


def test_questions_without_kinds_are_rejected() -> None:
    with pytest.raises(LabError, match="no question has a kind"):
        classify_questions(asked(None), lambda text: {"event": 1.0})


def test_training_and_test_questions_are_disjoint() -> None:
    kinds: list[Kind | None] = ["event", "profile", None]
    data = asked(*kinds * 20)
    learn, test = split_questions(data, 0.2, seed=1)
    ours, theirs = ({each.id for case in part.cases for each in case.questions} for part in (learn, test))
    assert len(ours) == 32
    assert len(theirs) == 8
    assert not ours & theirs
    assert split_questions(data, 0.2, seed=1) == (learn, test) != split_questions(data, 0.2, seed=2)
    for few in (asked("event"), asked(None)):
        with pytest.raises(LabError, match="too few"):
            split_questions(few, 0.2, seed=1)
