"""`thinkback-lab suite --ray`: each run of the suite is one task on a node of a Ray cluster.

A node works in a temporary folder and sends its files back, so nodes need the data sets and models but no
shared folder. A run whose node died starts again on another node from the files that were sent to it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from thinkback.bulk.cluster import Cluster
from thinkback_lab.commands.evaluate import EvaluationOptions, SuitePart, prepare_run
from thinkback_lab.datasets.registry import DATASETS
from thinkback_lab.errors import DatasetNotFound
from thinkback_lab.harness import Setup
from thinkback_lab.progress import progress
from thinkback_lab.runs.folder import QUESTIONS_FILE, RESULTS_FILE, RUN_FILE, open_locked, read_results
from thinkback_lab.runs.runner import complete_run, slug
from thinkback_lab.systems.interface import Resources
from thinkback_lab.systems.resources import load_resources

_FILES = (RUN_FILE, QUESTIONS_FILE, RESULTS_FILE)  # in the order in which they are written


@dataclass(frozen=True, slots=True)
class NodeRun:
    """The files of a finished run, or why its data set was skipped."""

    files: Mapping[str, bytes] = field(default_factory=dict)
    skipped: str = ""


def complete_on_node(
    dataset: str, choices: Mapping[str, Any], options: EvaluationOptions, files: Mapping[str, bytes]
) -> NodeRun:
    """Start or resume a run from the files of its folder. Runs on a node."""
    with TemporaryDirectory() as temporary:
        folder = Path(temporary) / "run"
        _write_files(folder, files)
        try:
            complete_run(prepare_run(DATASETS[dataset], choices, options, _resources(options.setup)), folder)
        except DatasetNotFound as error:
            return NodeRun(skipped=str(error))
        return NodeRun(_read_files(folder))


def complete_on_cluster(
    address: str, parts: Sequence[SuitePart], base_options: EvaluationOptions, out: Path
) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Yield folder and results of each run of the suite, in order."""
    folders = [out / slug(part.label) for part in parts]
    calls = (
        (part.entry.name, part.choices, replace(base_options, scheme=part.scheme), _read_files(folder))
        for part, folder in zip(parts, folders, strict=True)
    )
    skipped: set[str] = set()
    with Cluster(address) as cluster, progress("runs") as report:
        runs = cluster.map(complete_on_node, calls)
        for number, (part, folder, run) in enumerate(zip(parts, folders, runs, strict=True), start=1):
            report(number, len(parts))
            if not run.skipped:
                _write_files(folder, run.files)
                yield folder, read_results(folder)
            elif part.data_label not in skipped:
                skipped.add(part.data_label)
                sys.stderr.write(f"skipped: {part.data_label}: {run.skipped}\n")


@cache
def _resources(setup: Setup) -> Resources:
    return load_resources(setup)


def _read_files(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in _FILES if (folder / name).exists()}


def _write_files(folder: Path, files: Mapping[str, bytes]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with open_locked(folder / QUESTIONS_FILE):
        for name in _FILES:
            if name in files:
                (folder / name).write_bytes(files[name])
