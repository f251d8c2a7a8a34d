"""Baselines: no memory, raw turns by cosine, the newest turns, BM25, and retrieval that knows the gold.

They share no code with thinkback. Raw turns by cosine is the baseline of the TiM papers; gold and wrong
retrieval are the bounds of PerLTQA's table 6. BM25 is Lucene's variant with k1 = 1.5 and b = 0.75 and without
English stop words, which gains up to ten points on dialogues.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from thinkback_lab.cases import HistoryItem, Question
from thinkback_lab.errors import LabError, import_extra
from thinkback_lab.systems.interface import Resources, RetrievedMemory, SystemFactory, top_items
from thinkback_lab.systems.tokens import tokenize

if TYPE_CHECKING:
    import numpy.typing as npt


class NoMemory:
    def __init__(self, resources: Resources) -> None:
        """Needs no resources."""

    def add_items(self, items: Sequence[HistoryItem]) -> None:
        """Store nothing."""

    def recall(self, question: str, k: int, at: datetime) -> list[RetrievedMemory]:
        return []


class RawTurns:
    """Every item with its embedding; the question is compared with all of them."""

    def __init__(self, resources: Resources) -> None:
        self._embedder = resources.embedder
        self._items: list[HistoryItem] = []
        self._vectors = np.empty((0, resources.embedder.dim), dtype=np.float32)

    def add_items(self, items: Sequence[HistoryItem]) -> None:
        if items:
            self._items += items
            self._vectors = np.vstack([self._vectors, self._embedder.embed([item.text for item in items])])

    def recall(self, question: str, k: int, at: datetime) -> list[RetrievedMemory]:
        (vector,) = self._embedder.embed([question])
        return top_items(self._items, self._vectors @ vector, k)


DEFAULT_LAST_TURNS = 10


class NewestFirst:
    """All items or the last `n`, newest first, whatever the question."""

    returns_everything = True

    def __init__(self, resources: Resources, n: int | None = None) -> None:
        self._items: list[HistoryItem] = []
        self._n = n

    def add_items(self, items: Sequence[HistoryItem]) -> None:
        self._items += items

    def recall(self, question: str, k: int, at: datetime) -> list[RetrievedMemory]:
        return [RetrievedMemory(item.text, (item.id,)) for item in self._items[::-1][: self._n]]


def last_turns(argument: str = str(DEFAULT_LAST_TURNS)) -> SystemFactory:
    """Make a system with the last N turns (`last:20`)."""
    if not argument.isascii() or not argument.isdigit() or int(argument) < 1:
        raise LabError(f"last:{argument}: give the number of turns, as in last:{DEFAULT_LAST_TURNS}")
    return lambda kit: NewestFirst(kit, int(argument))


K1 = 1.5
B = 0.75


class BM25:
    """BM25 over English stems and Chinese characters and pairs; the index is rebuilt lazily."""

    def __init__(self, resources: Resources) -> None:
        self._bm25s = import_extra("bm25s")
        self._items: list[HistoryItem] = []
        self._words: list[list[str]] = []
        self._index: Any = None

    def add_items(self, items: Sequence[HistoryItem]) -> None:
        self._items += items
        self._words += (content_words(item.text) for item in items)
        self._index = None

    def recall(self, question: str, k: int, at: datetime) -> list[RetrievedMemory]:
        return [found for found in top_items(self._items, self.scores(question), k) if found.score > 0]

    def scores(self, question: str) -> npt.NDArray[np.float64]:
        """One score per item, in order."""
        words = content_words(question)
        if not words or not any(self._words):
            return np.zeros(len(self._items))
        if self._index is None:
            self._index = self._bm25s.BM25(method="lucene", k1=K1, b=B)
            self._index.index(self._words, show_progress=False)
        return np.asarray(self._index.get_scores(words), dtype=np.float64)


def content_words(text: str) -> list[str]:
    """The tokens of a text that are not stop words."""
    return [word for word in tokenize(text) if word not in _stop_words()]


@cache
def _stop_words() -> frozenset[str]:
    """Stop words as our own tokens: both halves of "don't"."""
    listed = import_extra("bm25s.stopwords").STOPWORDS_EN_PLUS
    return frozenset(word for entry in listed for word in tokenize(entry))


class GoldRetrieval:
    """The gold items, in the order they were stored."""

    def __init__(self, resources: Resources) -> None:
        self._items: list[HistoryItem] = []

    def add_items(self, items: Sequence[HistoryItem]) -> None:
        self._items += items

    def recall_with_gold(self, question: Question, k: int) -> list[RetrievedMemory]:
        gold = [item for item in self._items if item.id in question.gold]
        return [RetrievedMemory(item.text, (item.id,), 1.0) for item in gold[:k]]


class WrongRetrieval:
    """The best items by BM25 that are not gold: similar, but misleading."""

    def __init__(self, resources: Resources) -> None:
        self._bm25 = BM25(resources)

    def add_items(self, items: Sequence[HistoryItem]) -> None:
        self._bm25.add_items(items)

    def recall_with_gold(self, question: Question, k: int) -> list[RetrievedMemory]:
        ranked = self._bm25.recall(question.text, k + len(question.gold), question.at)
        return [found for found in ranked if not set(found.sources) & set(question.gold)][:k]
