"""MemoryBank, the memory of SiliconFriend (Zhong et al. 2023): raw turns, daily summaries, and forgetting.

A memory's retention follows Ebbinghaus, R = exp(-t/S): t is the time in days since it was made or last
recalled, S starts at 1 and grows by 1 with each recall. Turns and summaries are found by cosine.

The paper's own code computes exp(-t / 5*S), which is exp(-(t/5) S): what was recalled often is forgotten
first. It then deletes a memory for good with the probability 1 - R, by a random number. We do what the paper
says instead, and draw no lots: a score loses up to half of itself as R falls. (R as the only weight would
leave nothing but the last day: after a week it is 0.001.) The user's portrait and the global summary, which
stand in every prompt and are never searched, are left out.
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

RETENTION_WEIGHT = 0.5  # how much of a score is lost when nothing is retained
_ONE_DAY = timedelta(days=1)


@dataclass(slots=True)
class MemoryTrace:
    """One memory and how well it is kept: a recall changes it."""

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
    """A day is summed up when something is asked after more of it was told."""

    def __init__(self, resources: Resources) -> None:
        self._kit = resources
        self._turns: list[MemoryTrace] = []
        self._days: dict[date, list[HistoryItem]] = {}
        self._summaries: dict[date, MemoryTrace] = {}
        self._unsummarised: set[date] = set()

    def tell(self, items: Sequence[HistoryItem]) -> None:
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
        (asked,) = self._kit.embedder.embed([question])
        cosine = np.maximum(np.stack([trace.vector for trace in traces]) @ asked, 0.0)
        kept = np.array([trace.retention(at) for trace in traces])
        scores = cosine * (1 - RETENTION_WEIGHT + RETENTION_WEIGHT * kept)
        order = np.argsort(-scores, kind="stable")[:k].tolist()
        for place in order:
            traces[place].recalled(at)
        return [
            RetrievedMemory(traces[place].text, traces[place].sources, float(scores[place]))
            for place in order
        ]

    def _summarise_days(self) -> None:
        for day in sorted(self._unsummarised):
            items = self._days[day]
            summary = summarise_items(items, self._kit.llm)
            (vector,) = self._kit.embedder.embed([summary.text])
            text = f"{day.isoformat()}: {summary.text}"
            self._summaries[day] = MemoryTrace(text, summary.sources, vector, items[-1].at)
        self._unsummarised.clear()
