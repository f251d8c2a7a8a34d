"""MemoryBank, the memory of SiliconFriend (Zhong et al. 2023): raw turns, daily summaries and forgetting.

Retention follows Ebbinghaus: R = exp(-t/S), with t the days since a memory was made or last recalled, and S
starting at 1 and growing by 1 with each recall. Turns and summaries are found by cosine.

The paper's code computes exp(-t / 5*S), that is exp(-(t/5) S), so that often recalled memories are forgotten
first, and then deletes memories at random with probability 1 - R. We follow the paper instead, without
randomness: a score loses up to half of itself as R falls. (As the only weight, R would leave nothing but the
last day: after a week it is 0.001.) The user portrait and the global summary, which are in every prompt and
never searched, are omitted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from math import exp
from typing import TYPE_CHECKING

import numpy as np

from thinkback_lab.cases import HistoryItem
from thinkback_lab.systems.interface import Resources, RetrievedMemory
from thinkback_lab.systems.summaries import summarise_items

if TYPE_CHECKING:
    import numpy.typing as npt

RETENTION_WEIGHT = 0.5  # share of a score that is lost when nothing is retained
_ONE_DAY = timedelta(days=1)


@dataclass(slots=True)
class MemoryTrace:
    """One memory and its retention; a recall strengthens it."""

    text: str
    sources: tuple[str, ...]
    vector: npt.NDArray[np.float32]
    last: datetime
    strength: int = 1

    def retention(self, at: datetime) -> float:
        return exp(-max((at - self.last) / _ONE_DAY, 0.0) / self.strength)

    def strengthen(self, at: datetime) -> None:
        self.strength += 1
        self.last = max(at, self.last)


class MemoryBank:
    """A day is summarised when a question is asked after items were added to it."""

    def __init__(self, resources: Resources) -> None:
        self._kit = resources
        self._turns: list[MemoryTrace] = []
        self._days: dict[date, list[HistoryItem]] = {}
        self._summaries: dict[date, MemoryTrace] = {}
        self._unsummarised: set[date] = set()

    def add_items(self, items: Sequence[HistoryItem]) -> None:
        if not items:
            return
        vectors = self._kit.embedder.embed([item.text for item in items])
        for item, vector in zip(items, vectors, strict=True):
            self._turns.append(MemoryTrace(item.text, (item.id,), vector, item.at))
            self._days.setdefault(item.at.date(), []).append(item)
            self._unsummarised.add(item.at.date())

    def recall(self, question: str, k: int, at: datetime) -> list[RetrievedMemory]:
        self._summarise_days()
        traces = [*self._turns, *(self._summaries[day] for day in sorted(self._summaries))]
        if not traces:
            return []
        (vector,) = self._kit.embedder.embed([question])
        cosine = np.maximum(np.stack([trace.vector for trace in traces]) @ vector, 0.0)
        retention = np.array([trace.retention(at) for trace in traces])
        scores = cosine * (1 - RETENTION_WEIGHT + RETENTION_WEIGHT * retention)
        order = np.argsort(-scores, kind="stable")[:k].tolist()
        for position in order:
            traces[position].strengthen(at)
        return [
            RetrievedMemory(traces[position].text, traces[position].sources, float(scores[position]))
            for position in order
        ]

    def _summarise_days(self) -> None:
        for day in sorted(self._unsummarised):
            items = self._days[day]
            summary = summarise_items(items, self._kit.llm)
            (vector,) = self._kit.embedder.embed([summary.text])
            text = f"{day.isoformat()}: {summary.text}"
            self._summaries[day] = MemoryTrace(text, summary.sources, vector, items[-1].at)
        self._unsummarised.clear()
