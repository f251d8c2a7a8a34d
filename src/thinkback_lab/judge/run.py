"""Judging: the answers of all runs in one shuffled pile, every judge asked once for every different one.

Equal answers to the same question get one verdict, so that no scheme gains by a judge's mood. A verdict is
kept as soon as it is given, so a judging that was broken off goes on where it stood.
"""

from __future__ import annotations

import random
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from thinkback import LLM
from thinkback_lab.errors import LabError
from thinkback_lab.judge.asking import PROMPT, ask, prompt_for
from thinkback_lab.judge.figures import agreement, with_judgements
from thinkback_lab.judge.marked import Judgement, Judgements
from thinkback_lab.judge.verdict import Verdict
from thinkback_lab.models import Sleep
from thinkback_lab.progress import Report, silent
from thinkback_lab.runs.folder import read_records, read_results, write_results
from thinkback_lab.runs.record import Record
from thinkback_lab.sample import sample


@dataclass(frozen=True, slots=True)
class Run:
    """A finished run whose questions a model answered."""

    path: Path
    results: dict[str, Any]
    records: tuple[Record, ...]


@dataclass(frozen=True, slots=True)
class Task:
    """One prompt, and the answers (run, record) it stands for."""

    prompt: str
    places: tuple[tuple[Judgements, Record], ...]


def judge_runs(
    paths: Sequence[Path],
    judges: Sequence[LLM],
    *,
    seed: int = 0,
    limit: int | None = None,
    report: Report = silent,
    sleep: Sleep = time.sleep,
) -> dict[str, Any]:
    """Judge, write the figures into each run's results, and return them all."""
    names = [judge.name for judge in judges]
    _all_different("judge", names)
    _all_different("run", [str(path.resolve()) for path in paths])
    runs = [_answered(path) for path in paths]
    with ExitStack() as stack:
        books = [stack.enter_context(Judgements(run.path, PROMPT)) for run in runs]
        tasks = _shuffled(runs, books, _chosen(runs, limit, seed), seed)
        done, total = 0, len(tasks) * len(judges)
        for judge in judges:
            for task in tasks:
                _judge(judge, task, sleep)
                done += 1
                report(done, total)
        made = [book.of(names) for book in books]
    told = []
    for run, judgements in zip(runs, made, strict=True):
        results = with_judgements(run.results, run.records, judgements)
        write_results(run.path, results)
        told.append({"run": str(run.path), **results})
    return {"judges": names, "prompt": PROMPT, "seed": seed, "agreement": agreement(made), "runs": told}


def _answered(path: Path) -> Run:
    results = read_results(path)
    records = tuple(each for each in read_records(path) if each.answer is not None)
    if not records:
        raise LabError(f"{path}: no model answered in this run, so there is nothing to judge: run with --llm")
    return Run(path, results, records)


def _chosen(runs: Sequence[Run], limit: int | None, seed: int) -> set[tuple[str, str, str]] | None:
    """With a limit, the same questions of every run: what is compared must be comparable."""
    if limit is None:
        return None
    first, *others = ([_question(record) for record in run.records] for run in runs)
    everywhere = set(first).intersection(*others)
    shared = [question for question in first if question in everywhere]
    if not shared:
        raise LabError("these runs have no question in common: judge them one by one, or without --limit")
    return set(sample(shared, limit, seed))


def _question(record: Record) -> tuple[str, str, str]:
    """Two data sets may number their questions alike."""
    return record.case, record.id, record.question


def _shuffled(
    runs: Sequence[Run], books: Sequence[Judgements], chosen: set[tuple[str, str, str]] | None, seed: int
) -> list[Task]:
    places: defaultdict[str, list[tuple[Judgements, Record]]] = defaultdict(list)
    for run, book in zip(runs, books, strict=True):
        for record in run.records:
            if chosen is None or _question(record) in chosen:
                places[prompt_for(record)].append((book, record))
    tasks = [Task(prompt, tuple(held)) for prompt, held in places.items()]
    random.Random(seed).shuffle(tasks)  # noqa: S311 - an order, no secret
    return tasks


def _judge(judge: LLM, task: Task, sleep: Sleep) -> None:
    wanting = [(book, record) for book, record in task.places if book.wants(record.key, judge.name)]
    if not wanting:
        return
    said = _said_before(judge, task) or ask(judge, task.prompt, wanting[0][1].lang, sleep)
    verdict, failure = (said, "") if isinstance(said, Verdict) else (None, said)
    for book, record in wanting:
        book.add(Judgement(record.case, record.id, judge.name, PROMPT, verdict, failure))


def _said_before(judge: LLM, task: Task) -> Verdict | None:
    """What this judge said of the same answer in another run."""
    made = (book.made.get((*record.key, judge.name)) for book, record in task.places)
    return next((each.verdict for each in made if each is not None and each.verdict is not None), None)


def _all_different(what: str, names: Sequence[str]) -> None:
    twice = [name for name, times in Counter(names).items() if times > 1]
    if twice:
        raise LabError(f"the {what} {twice[0]} is named twice: once is enough")
