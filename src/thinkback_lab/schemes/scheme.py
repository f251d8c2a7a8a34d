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

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from thinkback import LLM, Embedder
from thinkback_lab.cases import Item
from thinkback_lab.stage import Setup


@dataclass(frozen=True, slots=True)
class Found:
    """One memory that came back, and the items it comes from: it counts through these."""

    text: str
    sources: tuple[str, ...]
    score: float = 0.0


@dataclass(frozen=True, slots=True)
class Kit:
    """What a scheme may build on: the embedder of the run (cached, shared by all), and its model if any."""

    embedder: Embedder
    llm: LLM | None
    setup: Setup


class Remembers(Protocol):
    """One history's memory. `tell` may be called again as the history goes on; items come in time's order.

    `recall` returns the best first, at most `k`. A memory that gives its reader everything it holds has an
    attribute `whole = True` and may return more; it is then scored on what stands first, and read whole.
    A memory with something to release has a method `close`.
    """

    def tell(self, items: Sequence[Item]) -> None: ...

    def recall(self, question: str, k: int, at: datetime) -> Sequence[Found]: ...


Scheme = Callable[[Kit], Remembers]
