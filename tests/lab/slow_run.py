"""A run that can be killed: a child process plays it slowly into a folder (`python slow_run.py FOLDER`).

The memory changes with every recall, as one with retention does: a run that went on without asking the
recorded questions again would end otherwise than an unbroken one.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from datetime import datetime
from hashlib import sha256
from pathlib import Path

from tests.lab.talking import item, question

from thinkback import Memory
from thinkback_lab.cases import Case, Dataset, Item
from thinkback_lab.runs.folder import RunFolder
from thinkback_lab.runs.results import summarise
from thinkback_lab.runs.run import Job, run
from thinkback_lab.schemes.scheme import Found, Kit
from thinkback_lab.stage import Setup

SLOWLY = 0.004
IDENTITY = {"scheme": "moody", "ks": (1, 5), "data": "toy"}


class Moody:
    """What it finds depends on the question and on how often it was asked before."""

    def __init__(self, kit: Kit) -> None:
        self.items: list[Item] = []
        self.recalls = 0

    def tell(self, items: Sequence[Item]) -> None:
        time.sleep(SLOWLY)
        self.items += items

    def recall(self, question: str, k: int, at: datetime) -> list[Found]:
        time.sleep(SLOWLY)
        self.recalls += 1
        first = int(sha256(f"{question} {self.recalls}".encode()).hexdigest(), 16) % len(self.items)
        chosen = (self.items[first:] + self.items[:first])[:k]
        return [Found(each.text, (each.id,), 1 / rank) for rank, each in enumerate(chosen, start=1)]


class Parrot:
    """Answers with what it reads, and notes that it was asked."""

    def __init__(self, notes: Path) -> None:
        self.notes = notes

    def answer(self, question: str, context: Sequence[str], lang: str) -> str:
        with self.notes.open("a") as file:
            file.write(f"{question}\n")
        time.sleep(SLOWLY)
        return " / ".join(context)[:80]


def toy(cases: int = 4, questions: int = 8) -> Dataset:
    told = []
    for c in range(cases):
        items = tuple(item(n, f"In case {c} thing {n} 是 colour{n}.") for n in range(9))
        asked = tuple(
            question(
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


def play(folder: Path, notes: Path) -> None:
    """Begin, or go on."""
    with Memory.open(":memory:", embedder="hashing", background=False) as memory:
        kit = Kit(memory.embedder, None, Setup(embedder="hashing"))
        job = Job(toy(), Moody, kit, ks=(1, 5), reader=Parrot(notes))
        with RunFolder(folder, IDENTITY, "slow_run") as kept:
            records = run(job, kept)
            kept.finish(summarise(records, dataset="toy", scheme="moody", settings={}))


if __name__ == "__main__":
    target = Path(sys.argv[1])
    play(target, target.with_suffix(".notes"))
