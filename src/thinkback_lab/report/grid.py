"""Runs laid out by data set and memory system: what both the page and the Markdown of many runs show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from thinkback_lab.metrics.figures import LESS_IS_BETTER
from thinkback_lab.runs.finished import Finished, scheme_labels

TIME = "ms_per_query"
_PLACES = 4  # figures that are the same to so many places are the same


@dataclass(frozen=True, slots=True)
class Grid:
    """Data sets in rows, memory systems in columns, in the order of the runs."""

    datasets: tuple[str, ...]
    schemes: tuple[str, ...]
    cells: Mapping[tuple[str, str], Finished]  # of two runs alike the later one counts

    @property
    def runs(self) -> tuple[Finished, ...]:
        return tuple(self.cells.values())

    @property
    def figures(self) -> list[str]:
        """The names of all figures, in the order they came up."""
        return list(dict.fromkeys(name for run in self.runs for name in run.metrics))

    def row(self, dataset: str) -> list[Finished | None]:
        return [self.cells.get((dataset, scheme)) for scheme in self.schemes]

    def values(self, dataset: str, name: str) -> list[float | None]:
        return [None if run is None else value(run, name) for run in self.row(dataset)]


def grid_of(runs: Sequence[Finished]) -> Grid:
    labels = scheme_labels(runs)
    return Grid(
        tuple(dict.fromkeys(run.data for run in runs)),
        tuple(dict.fromkeys(labels)),
        {(run.data, label): run for run, label in zip(runs, labels, strict=True)},
    )


def value(run: Finished, name: str) -> float | None:
    told = run.results.get(TIME) if name == TIME else run.metrics.get(name)
    return float(told) if isinstance(told, int | float) else None


def best(name: str, values: Sequence[float | None]) -> float | None:
    """The best of a row; none where all are the same."""
    there = {round(each, _PLACES) for each in values if each is not None}
    if len(there) < 2:
        return None
    return min(there) if name in LESS_IS_BETTER else max(there)


def is_best(each: float | None, of_the_row: float | None) -> bool:
    return each is not None and of_the_row is not None and round(each, _PLACES) == of_the_row
