"""What a reranker is given of each candidate, and what it is: a pure function to new totals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import NamedTuple

from thinkback.recall.search import Question
from thinkback.types import Kind, Score, Thought, Turn


class Seen(NamedTuple):
    """A candidate: its memory, how the search scored it, and when it was said."""

    memory: Thought | Turn
    score: Score
    at: datetime

    @property
    def text(self) -> str:
        return self.memory.text if isinstance(self.memory, Turn) else self.memory.sentence

    @property
    def kind(self) -> Kind:
        """A raw turn is a piece of dialogue."""
        return "dialogue" if isinstance(self.memory, Turn) else self.memory.kind


Reranker = Callable[[Question, Sequence[Seen]], Sequence[float]]
"""A new total for each candidate, in their order; 0 for one that is no find."""
