"""Correct and incorrect retrieval (PerLTQA, table 6): a reader given the right memories, or wrong ones.

Both know the gold. They bound a memory system, they are none.
"""

from __future__ import annotations

from collections.abc import Sequence

from thinkback_lab.cases import Item, Question
from thinkback_lab.schemes.bm25 import BM25
from thinkback_lab.schemes.scheme import Found, Kit


class Oracle:
    """The gold items, in the order they were told."""

    def __init__(self, kit: Kit) -> None:
        self._items: list[Item] = []

    def tell(self, items: Sequence[Item]) -> None:
        self._items += items

    def recall_knowing(self, question: Question, k: int) -> list[Found]:
        gold = [item for item in self._items if item.id in question.gold]
        return [Found(item.text, (item.id,), 1.0) for item in gold[:k]]


class Wrong:
    """The best by BM25 among those that are not gold: near, and misleading."""

    def __init__(self, kit: Kit) -> None:
        self._bm25 = BM25(kit)

    def tell(self, items: Sequence[Item]) -> None:
        self._bm25.tell(items)

    def recall_knowing(self, question: Question, k: int) -> list[Found]:
        ranked = self._bm25.recall(question.text, k + len(question.gold), question.at)
        return [found for found in ranked if not set(found.sources) & set(question.gold)][:k]
