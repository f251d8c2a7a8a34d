"""Finished runs for tests: folders as the runner writes them, without a memory system."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from thinkback_lab.runs.folder import RunFolder
from thinkback_lab.runs.records import Record, score_record, summarise_records
from thinkback_lab.systems.interface import RetrievedMemory

KS = (1, 3, 5, 10)
CATEGORIES = ("single-hop", "temporal", "多跳推理")
SETTINGS: dict[str, Any] = {
    "lang": "en",
    "llm": "none",
    "embedder": "hashing",
    "preset": "hybrid",
    "think": "auto",
}


def make_record(case: str = "case-1", id: str = "q1", **told: Any) -> Record:
    """One question with its figures; by default it is answered by the second memory of two."""
    found = (
        RetrievedMemory("The cat sleeps.", ("t9",), 0.5),
        RetrievedMemory("Ann lives in Lyon.", ("t1",), 0.4),
    )
    plain = Record(
        case=case,
        id=id,
        lang="en",
        category="single-hop",
        kind=None,
        question="Where does Ann live?",
        asked_at="2024-05-01T00:00:00+00:00",
        gold=("t1",),
        answerable=True,
        expected="Lyon",
        anchors=("Lyon",),
        found=found,
        read=2,
        context_tokens=9,
        ms=1.5,
    )
    made = replace(plain, **told)
    return made if "scores" in told else replace(made, scores=score_record(made, KS))


def make_records(luck: float, *, cases: int = 4, questions: int = 12, seed: int = 1) -> list[Record]:
    """Questions of which about `luck` are answered by the first memory, the others later or never."""
    draw = random.Random(seed)
    made = []
    for case in range(cases):
        for number in range(questions):
            rank = 0 if draw.random() < luck else draw.randrange(1, 14)
            found = tuple(
                RetrievedMemory(
                    f"Memory {draw.randrange(60)} of {('Ann', 'Bo', '小明')[place % 3]}, place {place}",
                    (f"t{number}" if place == rank else f"x{place}",),
                    1 - place / 10,
                )
                for place in range(10)
            )
            made.append(
                make_record(
                    f"case-{case}",
                    f"q{number}",
                    question=f"Question {number} of case {case}: 谁住在里昂?",
                    category=CATEGORIES[number % len(CATEGORIES)],
                    gold=(f"t{number}",),
                    found=found,
                    read=5,
                    ms=round(draw.lognormvariate(0.3, 0.7), 4),
                )
            )
    return made


def write_finished_run(
    path: Path,
    made: Sequence[Record],
    *,
    dataset: str = "gvd",
    scheme: str = "thinkback",
    settings: Mapping[str, Any] = SETTINGS,
    **over: Any,
) -> Path:
    """A run's folder with these questions; `over` replaces parts of its results."""
    command = f"thinkback-lab eval {dataset} --scheme {scheme}"
    with RunFolder(path, {"dataset": dataset, "scheme": scheme}, command) as folder:
        for each in made:
            folder.add(each)
        results = summarise_records(made, dataset=dataset, scheme=scheme, settings=settings, command=command)
        folder.finish({**results, **over})
    return path


def embed_letters(texts: Sequence[str]) -> npt.NDArray[np.float32]:
    """Vectors that depend on the text alone: letters counted."""
    rows = np.array([np.bincount([ord(sign) % 32 for sign in text], minlength=32) for text in texts], float)
    return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9), dtype=np.float32)
