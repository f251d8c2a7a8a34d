"""Finished runs, read back from their folders: what reports, comparisons and tables are made from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from thinkback_lab.errors import LabError
from thinkback_lab.runs.folder import QUESTIONS, read_json, read_records, read_results
from thinkback_lab.runs.record import Record

PARTS = ("llm", "embedder", "preset", "think")  # the settings of a memory system
CHOICES = (
    "lang",
    "domain",
    "split",
    "bank",
    "corpus",
    "size",
    "grain",
)  # those that choose within a data set


@dataclass(frozen=True, slots=True)
class Finished:
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
    def data(self) -> str:
        """The data set and the choices made in it: `kdconv travel test`."""
        chosen = (self.settings.get(choice) for choice in CHOICES)
        return " ".join((self.dataset, *(_word(value) for value in chosen if value)))


def read_finished(folders: Sequence[Path]) -> list[Finished]:
    """In the order given; a file is what `--json` printed: figures without questions."""
    if not folders:
        raise LabError("no run is named: give the folders that `thinkback-lab eval` wrote")
    return [_read(folder) for folder in folders]


def scheme_labels(runs: Sequence[Finished]) -> list[str]:
    """A name for the memory system of each run: its scheme, and the parts in which these runs differ."""
    differing = [part for part in PARTS if len({str(run.settings.get(part)) for run in runs}) > 1]
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


def _read(folder: Path) -> Finished:
    results = read_json(folder) if folder.is_file() else read_results(folder)
    for key, kind in (("dataset", str), ("scheme", str), ("metrics", dict), ("settings", dict)):
        if not isinstance(results.get(key), kind):
            raise LabError(f"{folder}: this is no run's result, it has no {key!r} as a run writes them")
    has_questions = (folder / QUESTIONS).exists()  # a timing asks no questions of a data set
    return Finished(folder.resolve().name, results, tuple(read_records(folder)) if has_questions else ())


def _word(value: object) -> str:
    return "+".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
