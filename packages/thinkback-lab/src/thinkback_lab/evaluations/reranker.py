"""How well the installed cross-encoder ranks memories, notices absent questions and finds outdated texts."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log
from typing import TYPE_CHECKING, Any

import numpy as np

from thinkback.network.cross_encoder import get_cross_encoder
from thinkback.presets import CAREFUL
from thinkback_lab.datasets.memories import ToldMemory
from thinkback_lab.errors import import_extra
from thinkback_lab.progress import ProgressCallback, no_progress

if TYPE_CHECKING:
    from rich.table import Table

MAX_TOLD_SILENT = 0.05  # share of told questions below the threshold at which absent ones are counted
RECALL_K = 5


@dataclass(frozen=True, slots=True)
class QuestionScores:
    """The scores of all messages for a question, and the numbers of those that answer it."""

    scores: tuple[float, ...]
    answers: frozenset[int]

    @property
    def any_answers(self) -> float:
        """The log odds that any of them answers it, as recall computes them from the best candidates."""
        best = sorted(self.scores, reverse=True)[: CAREFUL.read_candidates]
        return float(np.logaddexp.reduce(best))

    @property
    def best_first(self) -> list[int]:
        return sorted(range(len(self.scores)), key=lambda number: -self.scores[number])


@dataclass(frozen=True, slots=True)
class RerankerRun:
    questions: list[QuestionScores]
    pairs: list[tuple[float, bool]]  # the score, and whether the older text is outdated
    seconds: float

    @property
    def scored(self) -> int:
        return sum(len(each.scores) for each in self.questions) + len(self.pairs)


def run_reranker(memories: Sequence[ToldMemory], on_progress: ProgressCallback = no_progress) -> RerankerRun:
    """Score every question with every message of its memory, and every pair of messages.

    Raises:
        ModelUnavailable: thinkback-reranker is not installed.
    """
    encoder = get_cross_encoder()
    encoder.answer_scores("", [""])  # loads the network
    questions: list[QuestionScores] = []
    pairs: list[tuple[float, bool]] = []
    start = time.perf_counter()
    for done, memory in enumerate(memories, start=1):
        for question in memory.questions:
            scores = encoder.answer_scores(question.q, memory.texts)
            questions.append(QuestionScores(tuple(scores), frozenset(question.answered_by)))
        labelled = memory.labelled_pairs
        outdated = encoder.outdated_scores([(older, newer) for older, newer, _ in labelled])
        pairs += [(score, label) for score, (_, _, label) in zip(outdated, labelled, strict=True)]
        on_progress(done, len(memories))
    return RerankerRun(questions, pairs, time.perf_counter() - start)


def summarise_reranker(run: RerankerRun) -> dict[str, Any]:
    """The figures of a run; None where there is nothing to measure."""
    told = [each for each in run.questions if each.answers]
    any_told = np.array([each.any_answers for each in told])
    any_absent = np.array([each.any_answers for each in run.questions if not each.answers])
    threshold = float(np.quantile(any_told, MAX_TOLD_SILENT)) if told else None
    confidence = CAREFUL.min_confidence
    preset_threshold = log(confidence / (1 - confidence))
    return {
        "told": len(told),
        "absent": len(any_absent),
        "pairs": len(run.pairs),
        "hit@1": _mean([each.best_first[0] in each.answers for each in told]),
        f"recall@{RECALL_K}": _mean(
            [len(each.answers & set(each.best_first[:RECALL_K])) / len(each.answers) for each in told]
        ),
        "auc": _area_under_curve(
            [*any_told, *any_absent], [True] * len(any_told) + [False] * len(any_absent)
        ),
        "threshold": None if threshold is None else round(threshold, 2),
        "absent_found": None if threshold is None else _mean(any_absent < threshold),
        "preset_threshold": round(preset_threshold, 2),
        "preset_absent_found": _mean(any_absent < preset_threshold),
        "preset_told_silent": _mean(any_told < preset_threshold),
        "outdated_auc": _area_under_curve(
            [score for score, _ in run.pairs], [is_outdated for _, is_outdated in run.pairs]
        ),
        "ms_per_pair": round(1000 * run.seconds / max(run.scored, 1), 1),
    }


def reranker_table(by_file: Mapping[str, Mapping[str, Any]]) -> Table:
    """One column per file."""
    from rich.table import Table

    grid = Table(box=None, pad_edge=False, header_style="bold")
    grid.add_column("figure")
    for name in by_file:
        grid.add_column(name, justify="right")
    for figure in next(iter(by_file.values())):
        cells = ("-" if row[figure] is None else str(row[figure]) for row in by_file.values())
        grid.add_row(figure, *cells)
    return grid


def _mean(values: Any) -> float | None:
    return round(float(np.mean(values)), 4) if len(values) else None


def _area_under_curve(scores: Sequence[float], labels: Sequence[bool]) -> float | None:
    if len(set(labels)) < 2:
        return None
    return round(float(import_extra("sklearn.metrics").roc_auc_score(labels, scores)), 4)
