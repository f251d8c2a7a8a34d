"""Compare embedders: dense retrieval alone, over the raw turns of lives and of the open data sets.

Every turn of a case is one vector of its whole text. A question is compared with all of them by cosine, and
scored by the share of its evidence turns among the first `RANK`. Nothing else is involved: no words, no
thoughts, no neighbours.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from thinkback import Embedder
from thinkback_lab.datasets.lives import LANGUAGES, load_lives
from thinkback_lab.datasets.registry import find_dataset
from thinkback_lab.errors import DatasetNotFound
from thinkback_lab.progress import ProgressCallback, no_progress

if TYPE_CHECKING:
    import numpy.typing as npt
    from rich.table import Table

    Vectors = npt.NDArray[np.float32]

RANK = 5
OPEN_SETS = ("gvd", "madial", "kdconv", "medical")
BATCH_SIZE = 64
TIMED_QUERIES = 30


@dataclass(frozen=True, slots=True)
class EvidenceCase:
    """The turns of one case of a data set, and each question with the positions of its evidence turns."""

    dataset: str
    texts: tuple[str, ...]
    questions: tuple[tuple[str, frozenset[int]], ...]


def load_evidence_cases(
    data: Path | None, lives_split: str, datasets: Sequence[str], limit: int
) -> list[EvidenceCase]:
    """The cases of lives (by language) and of open sets; of these at most about `limit` questions a set.

    Sets that are not in the data folder are left out.
    """
    cases = [*_life_cases(data, lives_split)] if "lives" in datasets else []
    for name in datasets:
        if name == "lives":
            continue
        entry, parts = find_dataset(name)
        for choices in parts:
            try:
                loaded = entry.load(data, **choices)
            except DatasetNotFound:
                continue
            found = 0
            for case in loaded.cases:
                position = {item.id: number for number, item in enumerate(case.items)}
                questions = tuple(
                    (question.text, frozenset(position[id_] for id_ in question.gold))
                    for question in case.questions
                    if question.gold
                )[: max(limit - found, 0)]
                found += len(questions)
                if questions:
                    label = f"{entry.name} {entry.part_name(choices)}".strip()
                    cases.append(EvidenceCase(label, tuple(item.text for item in case.items), questions))
    return cases


def _life_cases(data: Path | None, split: str) -> Iterator[EvidenceCase]:
    lives = load_lives(data, split)
    for lang in LANGUAGES:
        for life in lives:
            if life.lang == lang:
                yield EvidenceCase(
                    f"lives {split} {lang}",
                    tuple(f"{turn.user}\n{turn.assistant}" for turn in life.turns),
                    tuple(
                        (question.q, frozenset(n - 1 for n in question.evidence))
                        for question in life.questions
                        if question.answerable
                    ),
                )


def compare_embedders(
    cases: Sequence[EvidenceCase],
    embedders: Mapping[str, Embedder],
    on_progress: ProgressCallback = no_progress,
) -> dict[str, Any]:
    """Recall@5 by data set and embedder, and what an embedder costs for one question."""
    names = list(dict.fromkeys(case.dataset for case in cases))
    result: dict[str, Any] = {
        "rank": RANK,
        "questions": {n: sum(len(c.questions) for c in cases if c.dataset == n) for n in names},
        "embedders": {},
    }
    for number, (spec, embedder) in enumerate(embedders.items()):
        scores: dict[str, list[float]] = {name: [] for name in names}
        for position, case in enumerate(cases):
            on_progress(number * len(cases) + position, len(embedders) * len(cases))
            scores[case.dataset] += case_scores(case, embedder)
        result["embedders"][spec] = {
            "name": embedder.name,
            "dimensions": embedder.dim,
            "ms_per_question": _milliseconds(embedder, [q for case in cases for q, _ in case.questions]),
            "recall": {name: fmean(values) for name, values in scores.items()},
        }
    return result


def case_scores(case: EvidenceCase, embedder: Embedder) -> list[float]:
    """The share of the evidence turns among the first five, for each question of a case."""
    rows = _embed(embedder, case.texts)
    queries = _embed(embedder, [question for question, _ in case.questions])
    scores = []
    for query, (_, evidence) in zip(queries, case.questions, strict=True):
        best = np.argsort(-(rows @ query), kind="stable")[:RANK].tolist()
        scores.append(len(evidence.intersection(best)) / len(evidence))
    return scores


def _embed(embedder: Embedder, texts: Sequence[str]) -> Vectors:
    batches = [texts[start : start + BATCH_SIZE] for start in range(0, len(texts), BATCH_SIZE)]
    return np.concatenate([embedder.embed(batch) for batch in batches])


def _milliseconds(embedder: Embedder, questions: Sequence[str]) -> float:
    """The median time for one question; the model is loaded already."""
    times = []
    for question in questions[:: max(1, len(questions) // TIMED_QUERIES)]:
        start = perf_counter()
        embedder.embed([question])
        times.append((perf_counter() - start) * 1000)
    return round(median(times), 2)


def embedders_table(result: Mapping[str, Any]) -> Table:
    """A row for each data set, a column for each embedder."""
    from rich.table import Table

    grid = Table(box=None, pad_edge=False, header_style="bold")
    grid.add_column(f"Recall@{result['rank']} of evidence turns")
    for title in ("questions", *result["embedders"]):
        grid.add_column(title, justify="right")
    for name, count in result["questions"].items():
        recalls = (f"{figures['recall'][name]:.3f}" for figures in result["embedders"].values())
        grid.add_row(name, str(count), *recalls)
    for key, title in (("dimensions", "dimensions"), ("ms_per_question", "ms for a question (median)")):
        grid.add_row(title, "", *(str(figures[key]) for figures in result["embedders"].values()))
    return grid
