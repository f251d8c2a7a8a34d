"""From choices to a finished run: which questions, which folder, then the runner and its figures."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import count
from pathlib import Path
from typing import Any

from thinkback_lab.cases import Dataset
from thinkback_lab.errors import LabError
from thinkback_lab.progress import Report, silent
from thinkback_lab.runs.folder import QUESTIONS, RESULTS, RUN, RunFolder, open_alone, read_results
from thinkback_lab.runs.results import summarise
from thinkback_lab.runs.run import Job, run
from thinkback_lab.sample import sample

HOME = Path("runs")


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """A job with what decides whether two runs are one and the same, and the command that makes it."""

    job: Job
    scheme: str
    settings: Mapping[str, object]
    command: str

    @property
    def told(self) -> dict[str, Any]:
        """The head of its results."""
        dataset = self.job.dataset
        settings = {**dataset.settings, **self.settings, "k": list(self.job.ks)}
        return {"dataset": dataset.name, "scheme": self.scheme, "settings": settings}

    @property
    def identity(self) -> dict[str, Any]:
        return {**self.told, "data": self.job.dataset.digest}


def choose(dataset: Dataset, limit: int | None, seed: int | None) -> Dataset:
    """Questions that can be scored; of these the first `limit`, or with a seed a random sample."""
    scored = [
        (case.id, question.id)
        for case in dataset.cases
        for question in case.questions
        if question.gold or question.anchors or question.answer or not question.answerable
    ]
    if not scored:
        raise LabError(f"{dataset.name}: no question has an answer to score against")
    if len(set(scored)) < len(scored):
        raise LabError(f"{dataset.name}: two questions of one case have the same id")
    chosen = set(sample(scored, limit, seed))
    cases = [
        replace(case, questions=tuple(each for each in case.questions if (case.id, each.id) in chosen))
        for case in dataset.cases
    ]
    return replace(dataset, cases=tuple(case for case in cases if case.questions))


def place(named: Named, out: Path | None = None, *, fresh: bool = False, home: Path = HOME) -> Path:
    """The folder of a run. One that was named is gone on with, and shown again if it is finished.

    Without a name it is one under `home`: an unfinished one of the same run, or a new one.
    """
    if out is not None:
        if fresh and (out / RUN).exists():
            with open_alone(out / QUESTIONS):
                shutil.rmtree(out)
        return out
    digest = sha256(json.dumps(named.identity, sort_keys=True).encode()).hexdigest()[:8]
    name = slug(f"{named.job.dataset.name}-{named.scheme}")
    for number in count(1):
        path = home / (f"{name}-{digest}" if number == 1 else f"{name}-{digest}-{number}")
        if not (path / RESULTS).exists():
            return path
    raise AssertionError("unreachable")


def slug(name: str) -> str:
    """A name as a folder may have it."""
    return re.sub(r"[^\w.-]+", "-", name).strip("-.")


def finish(named: Named, path: Path, report: Report = silent) -> dict[str, Any]:
    """Begin the run, or go on with it, to its end; the figures, also of one that had ended before."""
    with RunFolder(path, named.identity, named.command) as folder:
        if not folder.finished:
            records = run(named.job, folder, report)
            folder.finish(summarise(records, **named.told, command=named.command))
    return read_results(path)
