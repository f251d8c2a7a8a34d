"""Run a data set against a memory system: choose questions and folder, ask, score and record.

A resumed run stores the unfinished case again and asks all its questions again, because a recall may change
the memory; recorded results are kept, and no model is asked twice.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import count
from pathlib import Path
from time import perf_counter
from typing import Any, Protocol

from thinkback_lab.cases import Case, Dataset, take_sample
from thinkback_lab.errors import LabError
from thinkback_lab.progress import ProgressCallback, no_progress
from thinkback_lab.recorded.folder import IncompleteRecording
from thinkback_lab.recorded.llm import require_all_replies
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
READ_LIMIT = 5  # memories given to the reader; the papers recall five


class Reader(Protocol):
    """A model that answers a question from recalled memories."""

    def answer(self, question: str, context: Sequence[str], lang: str) -> str: ...


@dataclass(frozen=True, slots=True)
class Job:
    """What to run: data set, memory system, its resources, ranks to score at, and the reader."""

    dataset: Dataset
    scheme: SystemFactory
    resources: Resources
    ranks: tuple[int, ...] = DEFAULT_RANKS
    reader: Reader | None = None


def run_questions(job: Job, folder: RunFolder, on_progress: ProgressCallback = no_progress) -> list[Record]:
    """Run all questions and return their records in the order of the data set.

    If a recorded reply is missing, the other cases and questions are still run, so that one run collects
    their prompts; then IncompleteRecording is raised.
    """
    by_key = {record.key: record for record in folder.records}
    total = sum(len(case.questions) for case in job.dataset.cases)
    with require_all_replies():
        for case in job.dataset.cases:
            if all((case.id, question.id) in by_key for question in case.questions):
                continue
            with suppress(IncompleteRecording):
                for record in _ask_questions(job, case):
                    if record.key not in by_key:
                        with suppress(IncompleteRecording):
                            by_key[record.key] = _answer_and_score(job, case, record)
                            folder.add(by_key[record.key])
                    on_progress(len(by_key), total)
    return [by_key[case.id, question.id] for case in job.dataset.cases for question in case.questions]


def _ask_questions(job: Job, case: Case) -> Iterator[Record]:
    """Store one history and ask its questions, which are embedded beforehand, so that `ms` is the memory's
    time.
    """
    with open_system(job.scheme, job.resources) as memory:
        with require_all_replies():  # a memory that has not thought about every item gives no result
            memory.add_items(case.items)
        job.resources.embedder.embed([question.text for question in case.questions])
        for question in case.questions:
            started = perf_counter()
            memories = tuple(recall_memories(memory, question, max(*job.ranks, READ_LIMIT)))
            ms = (perf_counter() - started) * 1000
            count = count_read(memory, memories, READ_LIMIT)
            tokens = count_tokens("\n".join(each.text for each in memories[:count]))
            yield new_record(case, question, memories, read=count, context_tokens=tokens, ms=round(ms, 4))


def _answer_and_score(job: Job, case: Case, record: Record) -> Record:
    """Answer and score a record; only the ranks that are scored are kept."""
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
    """A job with everything that identifies the run, and the command that reproduces it."""

    job: Job
    scheme: str
    settings: Mapping[str, object]
    command: str

    @property
    def results_head(self) -> dict[str, Any]:
        """The first fields of the results."""
        dataset = self.job.dataset
        settings = {**dataset.settings, **self.settings, "k": list(self.job.ranks)}
        return {"dataset": dataset.name, "scheme": self.scheme, "settings": settings}

    @property
    def identity(self) -> dict[str, Any]:
        return {**self.results_head, "data": self.job.dataset.digest}


def choose_questions(dataset: Dataset, limit: int | None, seed: int | None) -> Dataset:
    """Questions that can be scored: the first `limit`, or with a seed a random sample."""
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
    selected = set(take_sample(scored, limit, seed))
    cases = [
        replace(case, questions=tuple(each for each in case.questions if (case.id, each.id) in selected))
        for case in dataset.cases
    ]
    return replace(dataset, cases=tuple(case for case in cases if case.questions))


def choose_folder(
    spec: RunSpec, out: Path | None = None, *, fresh: bool = False, home: Path = RUNS_DIR
) -> Path:
    """The folder of a run. A given one is resumed, or shown again if it is finished.

    Otherwise a folder under `home`: an unfinished one of the same run, or a new one.
    """
    if out is not None:
        if fresh and (out / RUN_FILE).exists():
            with open_locked(out / QUESTIONS_FILE):
                shutil.rmtree(out)
        return out
    digest = sha256(json.dumps(spec.identity, sort_keys=True).encode()).hexdigest()[:8]
    name = slug(f"{spec.job.dataset.name}-{spec.scheme}")
    for number in count(1):
        path = home / (f"{name}-{digest}" if number == 1 else f"{name}-{digest}-{number}")
        if not (path / RESULTS_FILE).exists():
            return path
    raise AssertionError("unreachable")


def slug(name: str) -> str:
    """Convert a name to a valid folder name."""
    return re.sub(r"[^\w.-]+", "-", name).strip("-.")


def complete_run(spec: RunSpec, path: Path, on_progress: ProgressCallback = no_progress) -> dict[str, Any]:
    """Start or resume a run and return its results; a finished run is only read."""
    with RunFolder(path, spec.identity, spec.command) as folder:
        if not folder.finished:
            records = run_questions(spec.job, folder, on_progress)
            folder.finish(summarise_records(records, **spec.results_head, command=spec.command))
    return read_results(path)
