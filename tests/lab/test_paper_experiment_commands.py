"""`eval consistency` and `eval classification`: options, saved results, errors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.lab.fakes import make_item, make_question
from typer.testing import CliRunner, Result

from thinkback_lab.cases import Case, Dataset, Kind
from thinkback_lab.cli import app
from thinkback_lab.datasets import perltqa
from thinkback_lab.datasets.registry import DATASETS, DatasetEntry, DatasetOption
from thinkback_lab.runs.folder import read_results

KINDS: tuple[Kind, ...] = ("profile", "event", "relationship", "dialogue")
ABOUT = {"profile": "job", "event": "day in May", "relationship": "friend", "dialogue": "talk about the sea"}


def load(folder: Path | None, lang: str = "en", part: tuple[str, ...] = ("a", "b"), size: int = 8) -> Dataset:
    items = tuple(make_item(n, f"thing{n} is colour{n}") for n in range(size))
    questions = tuple(
        make_question(n, f"Which {ABOUT[KINDS[n % 4]]}, thing{n}?", gold=(f"i{n % size}",), kind=KINDS[n % 4])
        for n in range(40)
    )
    cases = (Case(id="c", items=items, questions=questions, lang=lang),)
    return Dataset(name="toy", cases=cases, settings={"lang": lang, "part": part, "size": size})


@pytest.fixture(autouse=True)
def _toy(monkeypatch: pytest.MonkeyPatch) -> None:
    choices = (
        DatasetOption("lang", ("en", "cn"), "en", "."),
        DatasetOption("part", ("a", "b"), ("a", "b"), ".", multiple=True),
        DatasetOption("size", (), 8, "."),
    )
    monkeypatch.setitem(DATASETS, "toy", DatasetEntry("toy", load, choices, "nowhere", "A toy."))
    monkeypatch.setattr(perltqa, "load", load)


def called(*words: str) -> Result:
    return CliRunner().invoke(app, ["eval", *words])


def told(result: Result) -> dict[str, Any]:
    assert result.exit_code == 0, result.output
    parsed: dict[str, Any] = json.loads(result.stdout)
    return parsed


def test_consistency_by_turn(tmp_path: Path) -> None:
    words = ("consistency", "toy", "--scheme", "bm25", "--embedder", "hashing", "--turn", "4", "--turn", "8")
    out = tmp_path / "run"
    summary = told(called(*words, "--with", "lang=cn", "--with", "size=9", "--out", str(out), "--json"))
    assert summary["dataset"] == "consistency:toy"
    assert list(summary["by_category"])[:2] == ["turn 4", "turn 8"]
    assert summary["settings"]["lang"] == "cn"
    assert summary["settings"]["part"] == ["a", "b"]
    assert summary["settings"]["size"] == 9
    assert 0 <= summary["metrics"]["consistency"] <= 1
    assert read_results(out) == summary
    assert "turn 4" in called(*words).stdout


@pytest.mark.parametrize(
    "words",
    [
        ("nothing",),
        ("toy", "--with", "lang=xx"),
        ("toy", "--with", "colour=red"),
        ("toy", "--with", "size=many"),
        ("toy", "--wordings", "1"),
        ("toy", "--turn", "99"),
        ("toy", "--scheme", "nobody"),
    ],
)
def test_invalid_plan_is_one_line_error(words: tuple[str, ...]) -> None:
    result = called("consistency", *words, "--embedder", "hashing")
    assert result.exit_code == 1
    assert result.stderr.startswith("error: ")
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("by", ["learned", "shipped", "examples"])
def test_classification_as_in_table_4(by: str, tmp_path: Path) -> None:
    pytest.importorskip("sklearn", reason="scikit-learn belongs to the extra lab")
    out = tmp_path / "run"
    words = ("--by", by, "--embedder", "hashing")
    summary = told(called("classification", *words, "--out", str(out), "--json"))
    assert summary["dataset"] == "classification"
    assert summary["scheme"] == by
    assert summary["n"] == 8
    assert {"precision", "recall", "f1", "accuracy"} <= set(summary["metrics"])
    assert read_results(out) == summary
    if by == "learned":
        assert summary["metrics"]["accuracy"] >= 0.75
    assert ("kinds" in summary["confusion"]) == (by == "shipped")
    assert "semantic" in called("classification", *words).stdout


def test_model_is_required_exactly_for_model_classifiers() -> None:
    for words in (("--by", "zero"), ("--by", "few"), ("--by", "learned", "--llm", "openai:m")):
        result = called("classification", *words)
        assert result.exit_code == 1
        assert "--llm" in result.stderr
