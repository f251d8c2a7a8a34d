"""Judge the answers of several runs: shuffled together, every distinct answer judged once by every judge.

Equal answers to the same question get one verdict, so that no system profits from a judge's variance. Every
verdict is saved at once, so an interrupted command can be resumed.
"""

from __future__ import annotations

import random
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from contextlib import ExitStack, suppress
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
from thinkback_lab.recorded.folder import IncompleteRecording
from thinkback_lab.recorded.llm import require_all_replies
from thinkback_lab.runs.folder import read_records, read_results, write_results
from thinkback_lab.runs.records import Record


@dataclass(frozen=True, slots=True)
class AnsweredRun:
    """A finished run with answers by a model."""

    path: Path
    results: dict[str, Any]
    records: tuple[Record, ...]


@dataclass(frozen=True, slots=True)
class JudgeTask:
    """One prompt, and all answers it applies to."""

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
    """Judge all answers, add the figures to the results of each run, and return them."""
    names = [judge.name for judge in judges]
    _check_distinct("judge", names)
    _check_distinct("run", [str(path.resolve()) for path in paths])
    runs = [_load_answered_run(path) for path in paths]
    with ExitStack() as stack:
        logs = [stack.enter_context(JudgementLog(run.path, PROMPT_VERSION)) for run in runs]
        tasks = _shuffled_tasks(runs, logs, _choose_questions(runs, limit, seed), seed)
        done, total = 0, len(tasks) * len(judges)
        with require_all_replies():
            for judge in judges:
                for task in tasks:
                    with suppress(IncompleteRecording):  # go on, to collect the prompts of the other answers
                        _judge_task(judge, task, sleep)
                    done += 1
                    on_progress(done, total)
        judgements_by_run = [log.by_judges(names) for log in logs]
    all_results = []
    for run, judgements in zip(runs, judgements_by_run, strict=True):
        results = add_judgements(run.results, run.records, judgements)
        write_results(run.path, results)
        all_results.append({"run": str(run.path), **results})
    return {
        "judges": names,
        "prompt": PROMPT_VERSION,
        "seed": seed,
        "agreement": judge_agreement(judgements_by_run),
        "runs": all_results,
    }


def _load_answered_run(path: Path) -> AnsweredRun:
    results = read_results(path)
    records = tuple(each for each in read_records(path) if each.answer is not None)
    if not records:
        raise LabError(f"{path}: this run has no answers to judge: run it with --llm")
    return AnsweredRun(path, results, records)


def _choose_questions(
    runs: Sequence[AnsweredRun], limit: int | None, seed: int
) -> set[tuple[str, str, str]] | None:
    """With a limit, choose the same questions of every run, so that the runs stay comparable."""
    if limit is None:
        return None
    first, *others = ([_question_key(record) for record in run.records] for run in runs)
    everywhere = set(first).intersection(*others)
    shared = [question for question in first if question in everywhere]
    if not shared:
        raise LabError("these runs share no question: judge them one by one, or without --limit")
    return set(take_sample(shared, limit, seed))


def _question_key(record: Record) -> tuple[str, str, str]:
    """Includes the text, because two data sets may use the same ids."""
    return record.case, record.id, record.question


def _shuffled_tasks(
    runs: Sequence[AnsweredRun],
    logs: Sequence[JudgementLog],
    questions: set[tuple[str, str, str]] | None,
    seed: int,
) -> list[JudgeTask]:
    answers: defaultdict[str, list[tuple[JudgementLog, Record]]] = defaultdict(list)
    for run, log in zip(runs, logs, strict=True):
        for record in run.records:
            if questions is None or _question_key(record) in questions:
                answers[make_judge_prompt(record)].append((log, record))
    tasks = [JudgeTask(prompt, tuple(group)) for prompt, group in answers.items()]
    random.Random(seed).shuffle(tasks)  # noqa: S311 - an order, no secret
    return tasks


def _judge_task(judge: LLM, task: JudgeTask, sleep: Sleep) -> None:
    open_answers = [
        (log, record) for log, record in task.answers if log.needs_verdict(record.key, judge.name)
    ]
    if not open_answers:
        return
    reply = _previous_verdict(judge, task) or ask_judge(judge, task.prompt, open_answers[0][1].lang, sleep)
    verdict, failure = (reply, "") if isinstance(reply, Verdict) else (None, reply)
    for log, record in open_answers:
        log.add(Judgement(record.case, record.id, judge.name, PROMPT_VERSION, verdict, failure))


def _previous_verdict(judge: LLM, task: JudgeTask) -> Verdict | None:
    """This judge's verdict on the same answer in another run."""
    judgements = (log.judgements.get((*record.key, judge.name)) for log, record in task.answers)
    return next((each.verdict for each in judgements if each is not None and each.verdict is not None), None)


def _check_distinct(what: str, names: Sequence[str]) -> None:
    repeated = [name for name, times in Counter(names).items() if times > 1]
    if repeated:
        raise LabError(f"the {what} {repeated[0]} is given twice")
