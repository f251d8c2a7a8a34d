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
from thinkback_lab.cases import take_sample
from thinkback_lab.errors import LabError
from thinkback_lab.judge.judgements import Judgement, JudgementLog, add_judgements, judge_agreement
from thinkback_lab.judge.verdict import PROMPT_VERSION, Verdict, ask_judge, make_judge_prompt
from thinkback_lab.llms import Sleep
from thinkback_lab.progress import ProgressCallback, no_progress
from thinkback_lab.runs.folder import read_records, read_results, write_results
from thinkback_lab.runs.records import Record


@dataclass(frozen=True, slots=True)
class AnsweredRun:
    """A finished run whose questions a model answered."""

    path: Path
    results: dict[str, Any]
    records: tuple[Record, ...]


@dataclass(frozen=True, slots=True)
class JudgeTask:
    """One prompt, and the answers (run, record) it stands for."""

    prompt: str
    answers: tuple[tuple[JudgementLog, Record], ...]


def judge_runs(
    paths: Sequence[Path],
    judges: Sequence[LLM],
    *,
    seed: int = 0,
    limit: int | None = None,
    on_progress: ProgressCallback = no_progress,
    sleep: Sleep = time.sleep,
) -> dict[str, Any]:
    """Judge, write the figures into each run's results, and return them all."""
    names = [judge.name for judge in judges]
    _check_distinct("judge", names)
    _check_distinct("run", [str(path.resolve()) for path in paths])
    runs = [_load_answered_run(path) for path in paths]
    with ExitStack() as stack:
        books = [stack.enter_context(JudgementLog(run.path, PROMPT_VERSION)) for run in runs]
        tasks = _shuffled_tasks(runs, books, _choose_questions(runs, limit, seed), seed)
        done, total = 0, len(tasks) * len(judges)
        for judge in judges:
            for task in tasks:
                _judge_task(judge, task, sleep)
                done += 1
                on_progress(done, total)
        made = [book.by_judges(names) for book in books]
    told = []
    for run, judgements in zip(runs, made, strict=True):
        results = add_judgements(run.results, run.records, judgements)
        write_results(run.path, results)
        told.append({"run": str(run.path), **results})
    return {
        "judges": names,
        "prompt": PROMPT_VERSION,
        "seed": seed,
        "agreement": judge_agreement(made),
        "runs": told,
    }


def _load_answered_run(path: Path) -> AnsweredRun:
    results = read_results(path)
    records = tuple(each for each in read_records(path) if each.answer is not None)
    if not records:
        raise LabError(f"{path}: no model answered in this run, so there is nothing to judge: run with --llm")
    return AnsweredRun(path, results, records)


def _choose_questions(
    runs: Sequence[AnsweredRun], limit: int | None, seed: int
) -> set[tuple[str, str, str]] | None:
    """With a limit, the same questions of every run: what is compared must be comparable."""
    if limit is None:
        return None
    first, *others = ([_question_key(record) for record in run.records] for run in runs)
    everywhere = set(first).intersection(*others)
    shared = [question for question in first if question in everywhere]
    if not shared:
        raise LabError("these runs have no question in common: judge them one by one, or without --limit")
    return set(take_sample(shared, limit, seed))


def _question_key(record: Record) -> tuple[str, str, str]:
    """Two data sets may number their questions alike."""
    return record.case, record.id, record.question


def _shuffled_tasks(
    runs: Sequence[AnsweredRun],
    books: Sequence[JudgementLog],
    chosen: set[tuple[str, str, str]] | None,
    seed: int,
) -> list[JudgeTask]:
    places: defaultdict[str, list[tuple[JudgementLog, Record]]] = defaultdict(list)
    for run, book in zip(runs, books, strict=True):
        for record in run.records:
            if chosen is None or _question_key(record) in chosen:
                places[make_judge_prompt(record)].append((book, record))
    tasks = [JudgeTask(prompt, tuple(held)) for prompt, held in places.items()]
    random.Random(seed).shuffle(tasks)  # noqa: S311 - an order, no secret
    return tasks


def _judge_task(judge: LLM, task: JudgeTask, sleep: Sleep) -> None:
    wanting = [(book, record) for book, record in task.answers if book.needs_verdict(record.key, judge.name)]
    if not wanting:
        return
    said = _previous_verdict(judge, task) or ask_judge(judge, task.prompt, wanting[0][1].lang, sleep)
    verdict, failure = (said, "") if isinstance(said, Verdict) else (None, said)
    for book, record in wanting:
        book.add(Judgement(record.case, record.id, judge.name, PROMPT_VERSION, verdict, failure))


def _previous_verdict(judge: LLM, task: JudgeTask) -> Verdict | None:
    """What this judge said of the same answer in another run."""
    made = (book.judgements.get((*record.key, judge.name)) for book, record in task.answers)
    return next((each.verdict for each in made if each is not None and each.verdict is not None), None)


def _check_distinct(what: str, names: Sequence[str]) -> None:
    twice = [name for name, times in Counter(names).items() if times > 1]
    if twice:
        raise LabError(f"the {what} {twice[0]} is named twice: once is enough")
