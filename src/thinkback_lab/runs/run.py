"""The runner: tell each case to a memory of its own, ask its questions, keep a record of each.

A run that goes on tells the unfinished case again and asks all its questions again, for a memory may change
with every recall; but what is already recorded is kept, and no model is asked twice.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Protocol

from thinkback_lab.cases import Case, Dataset
from thinkback_lab.progress import Report, silent
from thinkback_lab.runs.folder import RunFolder
from thinkback_lab.runs.record import Record, begun
from thinkback_lab.runs.scoring import scores
from thinkback_lab.schemes.scheme import Kit, Scheme, opened, read_of, recalled, spoken
from thinkback_lab.text import count_tokens

KS = (1, 3, 5, 10)
READ = 5  # memories that the reader is given: the papers recall five


class Reader(Protocol):
    """A model that answers a question from what was recalled."""

    def answer(self, question: str, context: Sequence[str], lang: str) -> str: ...


@dataclass(frozen=True, slots=True)
class Job:
    """What is run: the cases, the memory system and its parts, and how its answers are looked at."""

    dataset: Dataset
    scheme: Scheme
    kit: Kit
    ks: tuple[int, ...] = KS
    reader: Reader | None = None


def run(job: Job, folder: RunFolder, report: Report = silent) -> list[Record]:
    """Every question's record, in the order of the data set."""
    kept = {record.key: record for record in folder.records}
    total = sum(len(case.questions) for case in job.dataset.cases)
    records: list[Record] = []
    for case in job.dataset.cases:
        if not all((case.id, question.id) in kept for question in case.questions):
            for record in _asked(job, case):
                if record.key not in kept:
                    kept[record.key] = _finished(job, case, record)
                    folder.add(kept[record.key])
                report(len(kept), total)
        records += [kept[case.id, question.id] for question in case.questions]
    return records


def _asked(job: Job, case: Case) -> Iterator[Record]:
    """Tell one history and ask; the questions are embedded beforehand, so that `ms` is the memory's own."""
    with opened(job.scheme, job.kit) as memory:
        memory.tell(case.items)
        job.kit.embedder.embed([question.text for question in case.questions])
        for question in case.questions:
            started = perf_counter()
            found = tuple(recalled(memory, question, max(*job.ks, READ)))
            ms = (perf_counter() - started) * 1000
            read = read_of(memory, found, READ)
            tokens = count_tokens("\n".join(each.text for each in found[:read]))
            yield begun(case, question, found, read=read, context_tokens=tokens, ms=round(ms, 4))


def _finished(job: Job, case: Case, record: Record) -> Record:
    """The record answered and scored; of a memory that is read whole, only what stands first is kept."""
    if job.reader is not None:
        context = spoken(record.context, case.items)
        started = perf_counter()
        answer = job.reader.answer(record.question, context, record.lang)
        record = replace(record, answer=answer, answer_ms=round((perf_counter() - started) * 1000, 1))
    return replace(record, scores=scores(record, job.ks), found=record.found[: max(*job.ks, READ)])
