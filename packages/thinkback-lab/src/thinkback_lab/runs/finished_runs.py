"""Finished runs, read from their folders for reports, comparisons and tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from thinkback_lab.errors import LabError
from thinkback_lab.runs.folder import QUESTIONS_FILE, read_json, read_records, read_results
from thinkback_lab.runs.records import Record

SYSTEM_SETTINGS = ("llm", "embedder", "preset", "think")
DATASET_SETTINGS = (
    "lang",
    "domain",
    "split",
    "bank",
    "corpus",
    "size",
    "grain",
)  # settings that select a part of a data set


@dataclass(frozen=True, slots=True)
class FinishedRun:
    """A finished run: name of its folder, results and question records."""

    name: str
    results: Mapping[str, Any]
    records: tuple[Record, ...]

    @property
    def dataset(self) -> str:
        return str(self.results["dataset"])

    @property
    def scheme(self) -> str:
        return str(self.results["scheme"])

    @property
    def settings(self) -> Mapping[str, Any]:
        settings: Mapping[str, Any] = self.results["settings"]
        return settings

    @property
    def metrics(self) -> Mapping[str, float]:
        """The numeric metrics; nested figures of a timing are not included."""
        return {
            name: float(value)
            for name, value in self.results.get("metrics", {}).items()
            if isinstance(value, int | float)
        }

    @property
    def dataset_label(self) -> str:
        """The data set with its selected part: `kdconv travel test`."""
        selected = (self.settings.get(choice) for choice in DATASET_SETTINGS)
        return " ".join((self.dataset, *(_format_choice(value) for value in selected if value)))


def read_finished_runs(folders: Sequence[Path]) -> list[FinishedRun]:
    """Read runs in the given order; a file is the output of `--json`, without question records."""
    if not folders:
        raise LabError("no run given: give the folders that `thinkback-lab eval` wrote")
    return [_read_run(folder) for folder in folders]


def scheme_labels(runs: Sequence[FinishedRun]) -> list[str]:
    """A label per run: its scheme, and the settings in which the runs differ."""
    differing = [
        setting for setting in SYSTEM_SETTINGS if len({str(run.settings.get(setting)) for run in runs}) > 1
    ]
    plain = [run.scheme for run in runs]
    full = [
        ", ".join((run.scheme, *(f"{setting} {run.settings.get(setting, '-')}" for setting in differing)))
        for run in runs
    ]
    ambiguous = {
        name
        for name in plain
        if len({label for label, scheme in zip(full, plain, strict=True) if scheme == name}) > 1
    }
    return [label if scheme in ambiguous else scheme for label, scheme in zip(full, plain, strict=True)]


def _read_run(folder: Path) -> FinishedRun:
    results = read_json(folder) if folder.is_file() else read_results(folder)
    for key, kind in (("dataset", str), ("scheme", str), ("metrics", dict), ("settings", dict)):
        if not isinstance(results.get(key), kind):
            raise LabError(f"{folder}: not the result of a run, because {key!r} is missing or invalid")
    has_questions = (folder / QUESTIONS_FILE).exists()  # a timing run has no questions
    return FinishedRun(folder.resolve().name, results, tuple(read_records(folder)) if has_questions else ())


def _format_choice(value: object) -> str:
    return "+".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
