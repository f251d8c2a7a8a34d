"""Raw text by pairwise similarity over the whole bank: the baseline of TiM's papers (002, 4.3.1)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import numpy as np

from thinkback_lab.cases import Item
from thinkback_lab.schemes.ranking import best
from thinkback_lab.schemes.scheme import Found, Kit


class Raw:
    """Every item with its embedding; every one is compared with the question."""

    def __init__(self, kit: Kit) -> None:
        self._embedder = kit.embedder
        self._items: list[Item] = []
        self._vectors = np.empty((0, kit.embedder.dim), dtype=np.float32)

    def tell(self, items: Sequence[Item]) -> None:
        if items:
            self._items += items
            self._vectors = np.vstack([self._vectors, self._embedder.embed([item.text for item in items])])

    def recall(self, question: str, k: int, at: datetime) -> list[Found]:
        (asked,) = self._embedder.embed([question])
        return best(self._items, self._vectors @ asked, k)
