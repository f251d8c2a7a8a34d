"""Finished runs of thinkback-lab, read from a folder: their results and question records.

A run is a folder with `results.json` and `questions.jsonl` (see docs/lab.md). Only folders directly in the
configured folder can be named, and files that are too large or damaged are left out.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from math import isfinite
from pathlib import Path
from statistics import fmean
from typing import Any

from thinkback.errors import InvalidInput, NotFound
from thinkback.language.tokens import fold_text

RESULTS_FILE, QUESTIONS_FILE = "results.json", "questions.jsonl"
MAX_RESULTS_BYTES, MAX_QUESTIONS_BYTES = 16 << 20, 256 << 20
MAX_RUNS = 1000
MAX_COMPARED = 6
MAX_FOUND = 10  # recalled memories shown for one question
_SYSTEM_SETTINGS = ("llm", "embedder", "preset", "think")

Record = dict[str, Any]
QuestionKey = tuple[str, str]


@dataclass(frozen=True, slots=True)
class LabRun:
    """One finished run, without its questions."""

    name: str
    path: Path
    results: dict[str, Any]

    def summary(self) -> dict[str, Any]:
        metrics = self.results.get("metrics")
        settings = self.results.get("settings")
        n = self.results.get("n")
        changed = (self.path / RESULTS_FILE).stat().st_mtime
        return {
            "name": self.name,
            "dataset": _text(self.results.get("dataset")),
            "system": _text(self.results.get("scheme")),
            "settings": settings if isinstance(settings, dict) else {},
            "metrics": _numbers(metrics),
            "n": n if isinstance(n, int) else 0,
            "modified_at": datetime.fromtimestamp(changed, UTC).isoformat(),
            "has_questions": (self.path / QUESTIONS_FILE).is_file(),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What to compare: the runs, a metric (empty: the first they share), and which questions to show."""

    runs: Sequence[str]
    metric: str = ""
    only_different: bool = False
    words: str = ""
    category: str = ""


class RunFolder:
    """The folder with the runs."""

    def __init__(self, path: str) -> None:
        self._path = Path(path)

    def runs(self) -> list[LabRun]:
        """All finished runs, newest first."""
        try:
            folders = [folder for folder in self._path.iterdir() if _is_plain_folder(folder)]
        except OSError as error:
            raise NotFound("the folder of runs cannot be read: see --runs of thinkback serve") from error
        found = [run for folder in folders if (run := _read_run(folder)) is not None]
        found.sort(key=lambda run: (-(run.path / RESULTS_FILE).stat().st_mtime, run.name))
        return found[:MAX_RUNS]

    def run(self, name: str) -> LabRun:
        folder = self._path / name
        plain = name not in ("", ".", "..") and not set(name) & set("/\\\0")
        try:
            found = _read_run(folder) if plain and _is_plain_folder(folder) else None
        except OSError:  # a name that is too long
            found = None
        if found is None:
            raise NotFound("there is no finished run with this name")
        return found

    def compare(self, wanted: Comparison, after: int, limit: int) -> dict[str, Any]:
        """The questions that all runs share, side by side."""
        if not 1 <= len(wanted.runs) <= MAX_COMPARED:
            raise InvalidInput(f"name between 1 and {MAX_COMPARED} runs")
        runs = [self.run(name) for name in wanted.runs]
        by_run = [_read_questions(run) for run in runs]
        shared = [key for key in by_run[0] if all(key in records for records in by_run)]
        metrics = sorted(
            set.intersection(*(_metric_names(records, shared) for records in by_run)) if shared else set()
        )
        metric = wanted.metric or _default_metric(metrics)
        if metric and metric not in metrics:
            raise InvalidInput("not all of these runs have this metric")
        different = {key for key in shared if _differ([records[key] for records in by_run], metric)}
        rows = [
            key
            for key in shared
            if (key in different or not wanted.only_different) and _matches(by_run[0][key], wanted)
        ]
        page = rows[after : after + limit]
        return {
            "runs": [
                {"name": run.name, "label": label} for run, label in zip(runs, _labels(runs), strict=True)
            ],
            "metric": metric,
            "metrics": metrics,
            "categories": sorted({_text(by_run[0][key].get("category")) for key in shared} - {""}),
            "total": len(rows),
            "different": len(different),
            "means": [_mean(records, shared, metric) for records in by_run],
            "items": [_question([records[key] for records in by_run]) for key in page],
            "next": after + limit if len(rows) > after + limit else None,
        }


def _read_run(folder: Path) -> LabRun | None:
    path = folder / RESULTS_FILE
    try:
        if path.stat().st_size > MAX_RESULTS_BYTES:
            return None
        results = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    return LabRun(folder.name, folder, results) if isinstance(results, dict) else None


def _read_questions(run: LabRun) -> dict[QuestionKey, Record]:
    path = run.path / QUESTIONS_FILE
    try:
        if path.stat().st_size > MAX_QUESTIONS_BYTES:
            raise InvalidInput("the questions of this run are too large to compare here")
        lines = path.read_text("utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise NotFound("a run has no question records: only runs of a data set can be compared") from error
    records: dict[QuestionKey, Record] = {}
    for line in lines:
        try:
            record = json.loads(line) if line else None
        except (ValueError, RecursionError):
            continue  # the run was killed while it wrote this line
        if isinstance(record, dict):
            records[_text(record.get("case")), _text(record.get("id"))] = record
    return records


def _question(records: Sequence[Record]) -> dict[str, Any]:
    first = records[0]
    return {
        "case": _text(first.get("case")),
        "id": _text(first.get("id")),
        "category": _text(first.get("category")),
        "question": _text(first.get("question")),
        "expected": _text(first.get("expected")),
        "gold_texts": [_text(text) for text in _list(first.get("gold_texts"))],
        "runs": [_answer(record) for record in records],
    }


def _answer(record: Record) -> dict[str, Any]:
    gold = set(map(str, _list(record.get("gold"))))
    answer = record.get("answer")
    found = [item for item in _list(record.get("found")) if isinstance(item, dict)]
    return {
        "scores": _numbers(record.get("scores")),
        "answer": answer if isinstance(answer, str) else None,
        "found": [
            {
                "text": _text(item.get("text")),
                "score": _number(item.get("score")),
                "gold": not gold.isdisjoint(map(str, _list(item.get("sources")))),
            }
            for item in found[:MAX_FOUND]
        ],
    }


def _labels(runs: Sequence[LabRun]) -> list[str]:
    """The system of each run, and the settings in which the runs differ."""
    settings = [run.summary()["settings"] for run in runs]
    differing = [name for name in _SYSTEM_SETTINGS if len({str(each.get(name)) for each in settings}) > 1]
    return [
        ", ".join((run.summary()["system"], *(f"{name} {each.get(name, '-')}" for name in differing)))
        for run, each in zip(runs, settings, strict=True)
    ]


def _metric_names(records: dict[QuestionKey, Record], keys: Sequence[QuestionKey]) -> set[str]:
    return {name for key in keys for name in _numbers(records[key].get("scores"))}


def _default_metric(metrics: Sequence[str]) -> str:
    preferred = ("recall@5", "r@5", "correctness", "f1")
    return next((name for name in preferred if name in metrics), metrics[0] if metrics else "")


def _mean(records: dict[QuestionKey, Record], keys: Sequence[QuestionKey], metric: str) -> float | None:
    scores = [_numbers(records[key].get("scores")) for key in keys]
    values = [each[metric] for each in scores if metric in each]
    return fmean(values) if values else None


def _differ(records: Sequence[Record], metric: str) -> bool:
    return len({_numbers(record.get("scores")).get(metric) for record in records}) > 1


def _matches(record: Record, wanted: Comparison) -> bool:
    if wanted.category and record.get("category") != wanted.category:
        return False
    text = fold_text(f"{_text(record.get('question'))} {_text(record.get('expected'))}")
    return all(word in text for word in fold_text(wanted.words).split())


def _is_plain_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink() and not path.name.startswith(".")


def _text(value: object) -> str:
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else ""


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and isfinite(value) else None


def _numbers(value: object) -> dict[str, float]:
    if not isinstance(value, dict):
        return {}
    return {
        str(name): float(number)
        for name, number in value.items()
        if isinstance(number, int | float) and isfinite(number)
    }
