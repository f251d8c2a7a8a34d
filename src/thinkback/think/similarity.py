"""How alike two sentences are in meaning, for the guard."""

from __future__ import annotations

from thinkback.protocols import Embedder

MIN_FACT_SIMILARITY = 0.15
"""Between a fact and one that it replaces: 99.8% of the replacements in lives `train` reach it.

So do 82% of random pairs of facts about one subject: it is a weak guard, against gross mistakes only.
"""
MIN_QUOTE_SIMILARITY = 0.1
"""Between a fact and the words that end it, which are often far from it: 84% reach it."""


class SentenceSimilarity:
    """Cosine of the vectors of an encoder. Without one, no two sentences are alike."""

    def __init__(self, encoder: Embedder | None) -> None:
        self.encoder = encoder

    def __call__(self, first: str, second: str) -> float:
        if self.encoder is None:
            return 0.0
        one, other = self.encoder.embed([first, second])
        return float(one @ other)
