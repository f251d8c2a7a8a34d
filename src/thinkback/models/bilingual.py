"""An English embedder that also tells Chinese texts apart: its vector is extended by hashed CJK characters.

    s = WEIGHT * cjk / (cjk + 2 * latin words)         the share of the text that the base cannot read
    v = [base * sqrt(1 - s); hashed * sqrt(s)]         unit length; zeros behind for text without CJK

Cosines between two texts without CJK are therefore exactly those of the base.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from thinkback.models import cjk
from thinkback.models.vectors import MAX_CHARS, unit_rows

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from thinkback.ports import Embedder

WEIGHT = 0.7
DIM = 128
LATIN = re.compile(r"[^\W\d_]+")


class Bilingual:
    """`base` with CJK dimensions behind its own."""

    def __init__(self, base: Embedder, *, dim: int = DIM, weight: float = WEIGHT) -> None:
        self._base = base
        self._extra = dim
        self._weight = weight
        self.name = f"{base.name}+cjk{dim}"
        self.dim = base.dim + dim

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        import numpy as np

        out = np.zeros((len(texts), self.dim), dtype=np.float32)
        out[:, : self._base.dim] = self._base.embed(texts)
        for row, text in zip(out, texts, strict=True):
            self._extend(row, text[:MAX_CHARS])
        return out

    def _extend(self, row: npt.NDArray[np.float32], text: str) -> None:
        """Write the hashed part of one text in place and shrink its base part to match."""
        import numpy as np

        counts = np.zeros((1, self._extra))
        for gram, weight in cjk.grams(text):
            place, sign = cjk.slot(gram, self._extra)
            counts[0, place] += sign * weight
        if not counts.any():
            return
        chars = sum(map(len, cjk.RUN.findall(text)))
        words = len(LATIN.findall(cjk.RUN.sub(" ", text)))
        share = self._weight * chars / (chars + 2 * words)
        row[: -self._extra] *= np.sqrt(1 - share)
        row[-self._extra :] = unit_rows(counts)[0] * np.sqrt(share)
