"""The interface of a memory system in the laboratory: it stores a history, then it is asked.

A system is any callable that takes `Resources` and returns a memory, for example a class:

  class Newest:
      def __init__(self, resources: Resources) -> None:
          self.items: list[HistoryItem] = []

      def add_items(self, items: Sequence[HistoryItem]) -> None:
          self.items += items

      def recall(self, question: str, k: int, at: datetime) -> list[RetrievedMemory]:
          return [RetrievedMemory(item.text, (item.id,)) for item in self.items[::-1][:k]]

  thinkback-lab eval gvd --scheme newest.py:Newest
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Literal, Protocol, cast

from thinkback import LLM, Embedder
from thinkback_lab.cases import HistoryItem, Question
from thinkback_lab.harness import Setup

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


MemoryType = Literal["semantic", "episodic"]


@dataclass(frozen=True, slots=True)
class RetrievedMemory:
    """One recalled memory and the ids of the items it comes from, by which it is scored."""

    text: str
    sources: tuple[str, ...]
    score: float = 0.0


class TypeClassifier(Protocol):
    """Probabilities that a question asks for semantic or episodic memory (PerLTQA, Eq. 1)."""

    def __call__(self, question: str) -> Mapping[MemoryType, float]: ...


@dataclass(frozen=True, slots=True)
class Resources:
    """What a system may use: the run's embedder (cached and shared), its model if any, and the setup.

    `classifier` is used by PerLTQA's systems, which have a default of their own.
    """

    embedder: Embedder
    llm: LLM | None
    setup: Setup
    classifier: TypeClassifier | None = None


class MemorySystem(Protocol):
    """The memory of one history. `add_items` may be called again as the history grows; items are in order of
    time.

    `recall` returns at most `k` memories, best first. A system that gives its reader everything sets
    `returns_everything = True` and may return more; it is scored on the first ones. An optional method
    `close` releases resources. A recall may change the memory, so the questions of a case are asked in order.
    """

    def add_items(self, items: Sequence[HistoryItem]) -> None: ...

    def recall(self, question: str, k: int, at: datetime) -> Sequence[RetrievedMemory]: ...


class OracleSystem(Protocol):
    """A system that is given the gold: an upper or lower bound instead of a memory system."""

    def add_items(self, items: Sequence[HistoryItem]) -> None: ...

    def recall_with_gold(self, question: Question, k: int) -> Sequence[RetrievedMemory]: ...


SystemFactory = Callable[[Resources], MemorySystem | OracleSystem]


@contextmanager
def open_system(scheme: SystemFactory, resources: Resources) -> Iterator[MemorySystem | OracleSystem]:
    """Create an empty memory and close it at the end, if it has a `close` method."""
    memory = scheme(resources)
    try:
        yield memory
    finally:
        if close := getattr(memory, "close", None):
            close()


def recall_memories(
    memory: MemorySystem | OracleSystem, question: Question, k: int
) -> Sequence[RetrievedMemory]:
    """Recall from a memory system, or with the gold from an oracle system (`oracle`, `wrong`)."""
    if hasattr(memory, "recall_with_gold"):
        return cast("OracleSystem", memory).recall_with_gold(question, k)
    return memory.recall(question.text, k, question.at)


def count_read(memory: MemorySystem | OracleSystem, memories: Sequence[RetrievedMemory], limit: int) -> int:
    """How many memories the reader is given: at most `most`, or all of a system that returns everything."""
    return len(memories) if getattr(memory, "returns_everything", False) else min(limit, len(memories))


def reader_texts(memories: Iterable[RetrievedMemory], items: Iterable[HistoryItem]) -> list[str]:
    """The texts for the reader; turns recalled verbatim get speaker labels."""
    labelled = {item.text: item.text_with_speakers for item in items}
    return [labelled.get(each.text, each.text) for each in memories]


def top_items(
    items: Sequence[HistoryItem], scores: npt.NDArray[np.floating], k: int
) -> list[RetrievedMemory]:
    """The k items with the highest scores; of equal scores the earlier item first."""
    import numpy as np

    order = np.argsort(-scores, kind="stable")[:k].tolist()
    return [
        RetrievedMemory(items[position].text, (items[position].id,), float(scores[position]))
        for position in order
    ]
