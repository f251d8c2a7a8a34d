"""A slow run in a child process, to be killed and resumed (`python resumable_run.py FOLDER`)."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from datetime import datetime
from hashlib import sha256
from pathlib import Path

from tests.lab.fakes import make_item, make_question

from thinkback import Memory
from thinkback_lab.cases import Case, Dataset, HistoryItem
from thinkback_lab.harness import Setup
from thinkback_lab.runs.folder import RunFolder
from thinkback_lab.runs.records import summarise_records
from thinkback_lab.runs.runner import Job, run_questions
from thinkback_lab.systems.interface import Resources, RetrievedMemory

STEP_SECONDS = 0.004
IDENTITY = {"scheme": "moody", "ks": (1, 5), "data": "toy"}


class StatefulSystem:
    """What it finds depends on the question and on how often it was asked before."""

    def __init__(self, kit: Resources) -> None:
        self.items: list[HistoryItem] = []
        self.recalls = 0

    def add_items(self, items: Sequence[HistoryItem]) -> None:
        time.sleep(STEP_SECONDS)
        self.items += items

    def recall(self, question: str, k: int, at: datetime) -> list[RetrievedMemory]:
        time.sleep(STEP_SECONDS)
        self.recalls += 1
        first = int(sha256(f"{question} {self.recalls}".encode()).hexdigest(), 16) % len(self.items)
        chosen = (self.items[first:] + self.items[:first])[:k]
        return [RetrievedMemory(each.text, (each.id,), 1 / rank) for rank, each in enumerate(chosen, start=1)]


class EchoReader:
    """Answers with what it reads, and notes that it was asked."""

    def __init__(self, notes: Path) -> None:
        self.notes = notes

    def answer(self, question: str, context: Sequence[str], lang: str) -> str:
        with self.notes.open("a") as file:
            file.write(f"{question}\n")
        time.sleep(STEP_SECONDS)
        return " / ".join(context)[:80]


def make_toy_dataset(cases: int = 4, questions: int = 8) -> Dataset:
    told = []
    for c in range(cases):
        items = tuple(make_item(n, f"In case {c} thing {n} 是 colour{n}.") for n in range(9))
        asked = tuple(
            make_question(
                n,
                f"Case {c}, thing {n}?",
                gold=(f"i{n}",) if n % 3 else (),
                answerable=bool(n % 3),
                answer=f"colour{n}",
                anchors=(f"colour{n}",),
                category=f"k{n % 2}",
            )
            for n in range(questions)
        )
        told.append(Case(id=f"c{c}", items=items, questions=asked))
    return Dataset(name="toy", cases=tuple(told))


def run_toy(folder: Path, notes: Path) -> None:
    """Begin, or go on."""
    with Memory.open(":memory:", embedder="hashing", background=False) as memory:
        kit = Resources(memory.embedder, None, Setup(embedder="hashing"))
        job = Job(make_toy_dataset(), StatefulSystem, kit, ranks=(1, 5), reader=EchoReader(notes))
        with RunFolder(folder, IDENTITY, "slow_run") as kept:
            records = run_questions(job, kept)
            kept.finish(summarise_records(records, dataset="toy", scheme="moody", settings={}))


if __name__ == "__main__":
    target = Path(sys.argv[1])
    run_toy(target, target.with_suffix(".notes"))
