"""Run a data set against a memory system: choose questions and folder, ask, score and record."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import count
from pathlib import Path
from time import perf_counter
from typing import Any, Protocol

from thinkback_lab.cases import Case, Dataset, take_sample
from thinkback_lab.errors import LabError
from thinkback_lab.progress import ProgressCallback, no_progress
from thinkback_lab.runs.folder import (
    QUESTIONS_FILE,
    RESULTS_FILE,
    RUN_FILE,
    RunFolder,
    open_locked,
    read_results,
)
from thinkback_lab.runs.records import Record, new_record, score_record, summarise_records
from thinkback_lab.systems.interface import (
    Resources,
    SystemFactory,
    count_read,
    open_system,
    reader_texts,
    recall_memories,
)
from thinkback_lab.text import count_tokens

DEFAULT_RANKS = (1, 3, 5, 10)
READ_LIMIT = 5  # memories that the reader is given: the papers recall five


class Reader(Protocol):
    """A model that answers a question from what was recalled."""

    def answer(self, question: str, context: Sequence[str], lang: str) -> str: ...


@dataclass(frozen=True, slots=True)
class Job:
    """What is run: the cases, the memory system and its parts, and how its answers are looked at."""

    dataset: Dataset
    scheme: SystemFactory
    resources: Resources
    ranks: tuple[int, ...] = DEFAULT_RANKS
    reader: Reader | None = None


def run_questions(job: Job, folder: RunFolder, on_progress: ProgressCallback = no_progress) -> list[Record]:
    """Every question's record, in the order of the data set."""
    kept = {record.key: record for record in folder.records}
    total = sum(len(case.questions) for case in job.dataset.cases)
    records: list[Record] = []
    for case in job.dataset.cases:
        if not all((case.id, question.id) in kept for question in case.questions):
            for record in _ask_questions(job, case):
                if record.key not in kept:
                    kept[record.key] = _answer_and_score(job, case, record)
                    folder.add(kept[record.key])
                on_progress(len(kept), total)
        records += [kept[case.id, question.id] for question in case.questions]
    return records


def _ask_questions(job: Job, case: Case) -> Iterator[Record]:
    """Tell one history and ask; the questions are embedded beforehand, so that `ms` is the memory's own."""
    with open_system(job.scheme, job.resources) as memory:
        memory.tell(case.items)
        job.resources.embedder.embed([question.text for question in case.questions])
        for question in case.questions:
            started = perf_counter()
            found = tuple(recall_memories(memory, question, max(*job.ranks, READ_LIMIT)))
            ms = (perf_counter() - started) * 1000
            read = count_read(memory, found, READ_LIMIT)
            tokens = count_tokens("\n".join(each.text for each in found[:read]))
            yield new_record(case, question, found, read=read, context_tokens=tokens, ms=round(ms, 4))


def _answer_and_score(job: Job, case: Case, record: Record) -> Record:
    """The record answered and scored; of a memory that is read whole, only what stands first is kept."""
    if job.reader is not None:
        context = reader_texts(record.context, case.items)
        started = perf_counter()
        answer = job.reader.answer(record.question, context, record.lang)
        record = replace(record, answer=answer, answer_ms=round((perf_counter() - started) * 1000, 1))
    return replace(
        record, scores=score_record(record, job.ranks), found=record.found[: max(*job.ranks, READ_LIMIT)]
    )


RUNS_DIR = Path("runs")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSpec:
    """A job with what decides whether two runs are one and the same, and the command that makes it."""

    job: Job
    scheme: str
    settings: Mapping[str, object]
    command: str

    @property
    def results_head(self) -> dict[str, Any]:
        """The head of its results."""
        dataset = self.job.dataset
        settings = {**dataset.settings, **self.settings, "k": list(self.job.ranks)}
        return {"dataset": dataset.name, "scheme": self.scheme, "settings": settings}

    @property
    def identity(self) -> dict[str, Any]:
        return {**self.results_head, "data": self.job.dataset.digest}


def choose_questions(dataset: Dataset, limit: int | None, seed: int | None) -> Dataset:
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
    chosen = set(take_sample(scored, limit, seed))
    cases = [
        replace(case, questions=tuple(each for each in case.questions if (case.id, each.id) in chosen))
        for case in dataset.cases
    ]
    return replace(dataset, cases=tuple(case for case in cases if case.questions))


def choose_folder(
    named: RunSpec, out: Path | None = None, *, fresh: bool = False, home: Path = RUNS_DIR
) -> Path:
    """The folder of a run. One that was named is gone on with, and shown again if it is finished.

    Without a name it is one under `home`: an unfinished one of the same run, or a new one.
    """
    if out is not None:
        if fresh and (out / RUN_FILE).exists():
            with open_locked(out / QUESTIONS_FILE):
                shutil.rmtree(out)
        return out
    digest = sha256(json.dumps(named.identity, sort_keys=True).encode()).hexdigest()[:8]
    name = slug(f"{named.job.dataset.name}-{named.scheme}")
    for number in count(1):
        path = home / (f"{name}-{digest}" if number == 1 else f"{name}-{digest}-{number}")
        if not (path / RESULTS_FILE).exists():
            return path
    raise AssertionError("unreachable")


def slug(name: str) -> str:
    """A name as a folder may have it."""
    return re.sub(r"[^\w.-]+", "-", name).strip("-.")


def complete_run(named: RunSpec, path: Path, on_progress: ProgressCallback = no_progress) -> dict[str, Any]:
    """Begin the run, or go on with it, to its end; the figures, also of one that had ended before."""
    with RunFolder(path, named.identity, named.command) as folder:
        if not folder.finished:
            records = run_questions(named.job, folder, on_progress)
            folder.finish(summarise_records(records, **named.results_head, command=named.command))
    return read_results(path)
