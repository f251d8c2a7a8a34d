"""BM25 over English stems and Chinese characters and pairs: the baseline by words, none of it thinkback's.

Lucene's variant with k1 = 1.5 and b = 0.75, without English stop words (the longer list of `bm25s`), which
gains up to ten points on dialogue. Equal scores keep the order of telling; what shares no word with the
question is not returned.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from thinkback_lab.cases import Item
from thinkback_lab.extras import extra
from thinkback_lab.schemes.ranking import best
from thinkback_lab.schemes.scheme import Found, Kit
from thinkback_lab.schemes.words import words

if TYPE_CHECKING:
    import numpy.typing as npt

K1 = 1.5
B = 0.75


class BM25:
    """The index is built when it is asked for, anew after more was told."""

    def __init__(self, kit: Kit) -> None:
        self._bm25s = extra("bm25s")
        self._items: list[Item] = []
        self._words: list[list[str]] = []
        self._index: Any = None

    def tell(self, items: Sequence[Item]) -> None:
        self._items += items
        self._words += (telling(item.text) for item in items)
        self._index = None

    def recall(self, question: str, k: int, at: datetime) -> list[Found]:
        return [found for found in best(self._items, self.scores(question), k) if found.score > 0]

    def scores(self, question: str) -> npt.NDArray[np.float64]:
        """One for each item, in order."""
        asked = telling(question)
        if not asked or not any(self._words):
            return np.zeros(len(self._items))
        if self._index is None:
            self._index = self._bm25s.BM25(method="lucene", k1=K1, b=B)
            self._index.index(self._words, show_progress=False)
        return np.asarray(self._index.get_scores(asked), dtype=np.float64)


def telling(text: str) -> list[str]:
    """The words of a text that are no stop words."""
    return [word for word in words(text) if word not in _stop_words()]


@cache
def _stop_words() -> frozenset[str]:
    """As our own words: of "don't" both halves."""
    listed = extra("bm25s.stopwords").STOPWORDS_EN_PLUS
    return frozenset(word for entry in listed for word in words(entry))
