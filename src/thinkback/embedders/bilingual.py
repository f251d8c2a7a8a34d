"""One embedder out of two: an English and a Chinese encoder side by side in one vector."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from thinkback.embedders.hashing import cjk_share

if TYPE_CHECKING:
    import numpy.typing as npt

    from thinkback.protocols import Embedder

MIXED_CHINESE_SHARE = 0.75
"""The weight of the Chinese half for texts in both scripts: of the ways to weigh the halves that were tried
(by the share of characters, by a threshold, equal), a constant found most evidence on mixed lives."""


class BilingualEmbedder:
    """The vector of a text is [english * sqrt(1 - s), chinese * sqrt(s)].

    `s` is 0 for texts without Chinese characters, 1 for texts with nothing else, and constant for mixed ones.
    So a text in one script costs one pass of one model, and its cosines are those of this model.
    """

    def __init__(self, english: Embedder, chinese: Embedder) -> None:
        self._english = english
        self._chinese = chinese
        self.name = f"{english.name}+{chinese.name}"
        self.dim = english.dim + chinese.dim

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        shares = np.array([_chinese_share(text) for text in texts])
        out = np.zeros((len(texts), self.dim), dtype=np.float32)
        self._write_half(out[:, : self._english.dim], self._english, texts, np.sqrt(1 - shares))
        self._write_half(out[:, self._english.dim :], self._chinese, texts, np.sqrt(shares))
        return out

    def _write_half(
        self,
        half: npt.NDArray[np.float32],
        embedder: Embedder,
        texts: Sequence[str],
        weights: npt.NDArray[np.float64],
    ) -> None:
        """Write the weighted vectors of one embedder; texts with weight 0 are not embedded."""
        rows = np.flatnonzero(weights).tolist()
        if rows:
            half[rows] = embedder.embed([texts[row] for row in rows]) * weights[rows, None]


def _chinese_share(text: str) -> float:
    share = cjk_share(text)
    return share if share in (0.0, 1.0) else MIXED_CHINESE_SHARE
