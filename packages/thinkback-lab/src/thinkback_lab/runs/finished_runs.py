"""Finished runs, read back from their folders: what reports, comparisons and tables are made from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from thinkback_lab.errors import LabError
from thinkback_lab.runs.folder import QUESTIONS_FILE, read_json, read_records, read_results
from thinkback_lab.runs.records import Record

SYSTEM_SETTINGS = ("llm", "embedder", "preset", "think")  # the settings of a memory system
DATASET_SETTINGS = (
    "lang",
    "domain",
    "split",
    "bank",
    "corpus",
    "size",
    "grain",
)  # those that choose within a data set


@dataclass(frozen=True, slots=True)
class FinishedRun:
    """One run that came to its end: the name of its folder, its figures, its questions."""

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
        told: Mapping[str, Any] = self.results["settings"]
        return told

    @property
    def metrics(self) -> Mapping[str, float]:
        """What is a number: a timing's nested figures are its own affair."""
        return {
            name: float(value)
            for name, value in self.results.get("metrics", {}).items()
            if isinstance(value, int | float)
        }

    @property
    def dataset_label(self) -> str:
        """The data set and the choices made in it: `kdconv travel test`."""
        chosen = (self.settings.get(choice) for choice in DATASET_SETTINGS)
        return " ".join((self.dataset, *(_format_choice(value) for value in chosen if value)))


def read_finished_runs(folders: Sequence[Path]) -> list[FinishedRun]:
    """In the order given; a file is what `--json` printed: figures without questions."""
    if not folders:
        raise LabError("no run is named: give the folders that `thinkback-lab eval` wrote")
    return [_read_run(folder) for folder in folders]


def scheme_labels(runs: Sequence[FinishedRun]) -> list[str]:
    """A name for the memory system of each run: its scheme, and the parts in which these runs differ."""
    differing = [part for part in SYSTEM_SETTINGS if len({str(run.settings.get(part)) for run in runs}) > 1]
    plain = [run.scheme for run in runs]
    full = [
        ", ".join((run.scheme, *(f"{part} {run.settings.get(part, '-')}" for part in differing)))
        for run in runs
    ]
    ambiguous = {
        name
        for name in plain
        if len({told for told, own in zip(full, plain, strict=True) if own == name}) > 1
    }
    return [told if own in ambiguous else own for told, own in zip(full, plain, strict=True)]


def _read_run(folder: Path) -> FinishedRun:
    results = read_json(folder) if folder.is_file() else read_results(folder)
    for key, kind in (("dataset", str), ("scheme", str), ("metrics", dict), ("settings", dict)):
        if not isinstance(results.get(key), kind):
            raise LabError(f"{folder}: this is no run's result, it has no {key!r} as a run writes them")
    has_questions = (folder / QUESTIONS_FILE).exists()  # a timing asks no questions of a data set
    return FinishedRun(folder.resolve().name, results, tuple(read_records(folder)) if has_questions else ())


def _format_choice(value: object) -> str:
    return "+".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
