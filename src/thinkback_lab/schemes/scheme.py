"""The interface of a memory system in the laboratory: it is told a history, then it is asked.

A scheme is any callable that takes a `Kit` and returns such a memory; a class does:

    class Newest:
        def __init__(self, kit: Kit) -> None:
            self.items: list[Item] = []

        def tell(self, items: Sequence[Item]) -> None:
            self.items += items

        def recall(self, question: str, k: int, at: datetime) -> list[Found]:
            return [Found(item.text, (item.id,)) for item in self.items[::-1][:k]]

    thinkback-lab eval gvd --scheme newest.py:Newest
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol, cast

from thinkback import LLM, Embedder
from thinkback_lab.cases import Item, Question
from thinkback_lab.stage import Setup

Half = Literal["semantic", "episodic"]


@dataclass(frozen=True, slots=True)
class Found:
    """One memory that came back, and the items it comes from: it counts through these."""

    text: str
    sources: tuple[str, ...]
    score: float = 0.0


class Classifier(Protocol):
    """Which half of memory a question asks for (PerLTQA, Eq. 1): probabilities that sum to one."""

    def __call__(self, question: str) -> Mapping[Half, float]: ...


@dataclass(frozen=True, slots=True)
class Kit:
    """What a scheme may build on: the embedder of the run (cached, shared by all), and its model if any.

    `classifier` is for PerLTQA's schemes; they have one of their own where the run brings none.
    """

    embedder: Embedder
    llm: LLM | None
    setup: Setup
    classifier: Classifier | None = None


class Remembers(Protocol):
    """One history's memory. `tell` may be called again as the history goes on; items come in time's order.

    `recall` returns the best first, at most `k`. A memory that gives its reader everything it holds has an
    attribute `whole = True` and may return more; it is then scored on what stands first, and read whole.
    A memory with something to release has a method `close`. To be asked may change a memory (what is
    recalled is kept for longer), so a case's questions are asked in their order.
    """

    def tell(self, items: Sequence[Item]) -> None: ...

    def recall(self, question: str, k: int, at: datetime) -> Sequence[Found]: ...


class Knows(Protocol):
    """A memory that is given the gold as well: an upper or a lower bound, no memory system.

    It is asked by `recall_knowing`, where a memory has it.
    """

    def tell(self, items: Sequence[Item]) -> None: ...

    def recall_knowing(self, question: Question, k: int) -> Sequence[Found]: ...


Scheme = Callable[[Kit], Remembers | Knows]


@contextmanager
def opened(scheme: Scheme, kit: Kit) -> Iterator[Remembers | Knows]:
    """An empty memory of that scheme; released at the end, if it has something to release."""
    memory = scheme(kit)
    try:
        yield memory
    finally:
        if close := getattr(memory, "close", None):
            close()


def recalled(memory: Remembers | Knows, question: Question, k: int) -> Sequence[Found]:
    """As anyone is asked; a control of the experiment (`oracle`, `wrong`) is told the gold as well."""
    if hasattr(memory, "recall_knowing"):
        return cast("Knows", memory).recall_knowing(question, k)
    return memory.recall(question.text, k, question.at)


def read_of(memory: Remembers | Knows, found: Sequence[Found], most: int) -> int:
    """How many of them a reader is given: the first `most`, or all of a memory that is read whole."""
    return len(found) if getattr(memory, "whole", False) else min(most, len(found))


def spoken(found: Iterable[Found], items: Iterable[Item]) -> list[str]:
    """What a reader is given of them: a turn that came back as it was told names its speakers."""
    named = {item.text: item.spoken for item in items}
    return [named.get(each.text, each.text) for each in found]
