"""How alike two sentences are in meaning, for the guard."""

from __future__ import annotations

from thinkback.protocols import Embedder

MIN_FACT_SIMILARITY = 0.15
"""Between a fact and one that it replaces: 99.8% of the replacements in lives `train` reach it.

So do 82% of random pairs of facts about one subject: it is a weak guard, against gross mistakes only.
"""
MIN_QUOTE_SIMILARITY = 0.1
"""Between a fact and the words that end it, which are often far from it: 84% reach it."""
MIN_PARAPHRASE_SIMILARITY = 0.2
"""Between a quote and the sentence, and between it and the value, of a fact in other words than the user's.

Of the facts in lives `train` whose words the context does not have (113 of 3,248) 54% reach both, of facts of
other turns beside the same quote 4% (a single experiment).
"""


class SentenceSimilarity:
    """Cosine of the vectors of an encoder. Without one, no two sentences are alike."""

    def __init__(self, encoder: Embedder | None) -> None:
        self.encoder = encoder

    def __call__(self, first: str, second: str) -> float:
        if self.encoder is None:
            return 0.0
        one, other = self.encoder.embed([first, second])
        return float(one @ other)
