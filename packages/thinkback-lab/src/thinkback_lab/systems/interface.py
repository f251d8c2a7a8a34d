"""The interface of a memory system in the laboratory."""

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
    """One memory that came back, and the items it comes from: it counts through these."""

    text: str
    sources: tuple[str, ...]
    score: float = 0.0


class TypeClassifier(Protocol):
    """Which half of memory a question asks for (PerLTQA, Eq. 1): probabilities that sum to one."""

    def __call__(self, question: str) -> Mapping[MemoryType, float]: ...


@dataclass(frozen=True, slots=True)
class Resources:
    """What a scheme may build on: the embedder of the run (cached, shared by all), and its model if any.

    `classifier` is for PerLTQA's schemes; they have one of their own where the run brings none.
    """

    embedder: Embedder
    llm: LLM | None
    setup: Setup
    classifier: TypeClassifier | None = None


class MemorySystem(Protocol):
    """One history's memory. `tell` may be called again as the history goes on; items come in time's order.

    `recall` returns the best first, at most `k`. A memory that gives its reader everything it holds has an
    attribute `whole = True` and may return more; it is then scored on what stands first, and read whole.
    A memory with something to release has a method `close`. To be asked may change a memory (what is
    recalled is kept for longer), so a case's questions are asked in their order.
    """

    def tell(self, items: Sequence[HistoryItem]) -> None: ...

    def recall(self, question: str, k: int, at: datetime) -> Sequence[RetrievedMemory]: ...


class OracleSystem(Protocol):
    """A memory that is given the gold as well: an upper or a lower bound, no memory system.

    It is asked by `recall_knowing`, where a memory has it.
    """

    def tell(self, items: Sequence[HistoryItem]) -> None: ...

    def recall_knowing(self, question: Question, k: int) -> Sequence[RetrievedMemory]: ...


SystemFactory = Callable[[Resources], MemorySystem | OracleSystem]


@contextmanager
def open_system(scheme: SystemFactory, resources: Resources) -> Iterator[MemorySystem | OracleSystem]:
    """An empty memory of that scheme; released at the end, if it has something to release."""
    memory = scheme(resources)
    try:
        yield memory
    finally:
        if close := getattr(memory, "close", None):
            close()


def recall_memories(
    memory: MemorySystem | OracleSystem, question: Question, k: int
) -> Sequence[RetrievedMemory]:
    """As anyone is asked; a control of the experiment (`oracle`, `wrong`) is told the gold as well."""
    if hasattr(memory, "recall_knowing"):
        return cast("OracleSystem", memory).recall_knowing(question, k)
    return memory.recall(question.text, k, question.at)


def count_read(memory: MemorySystem | OracleSystem, found: Sequence[RetrievedMemory], most: int) -> int:
    """How many of them a reader is given: the first `most`, or all of a memory that is read whole."""
    return len(found) if getattr(memory, "whole", False) else min(most, len(found))


def reader_texts(found: Iterable[RetrievedMemory], items: Iterable[HistoryItem]) -> list[str]:
    """What a reader is given of them: a turn that came back as it was told names its speakers."""
    named = {item.text: item.text_with_speakers for item in items}
    return [named.get(each.text, each.text) for each in found]


def top_items(
    items: Sequence[HistoryItem], scores: npt.NDArray[np.floating], k: int
) -> list[RetrievedMemory]:
    """At most k, best first."""
    import numpy as np

    order = np.argsort(-scores, kind="stable")[:k].tolist()
    return [RetrievedMemory(items[place].text, (items[place].id,), float(scores[place])) for place in order]
