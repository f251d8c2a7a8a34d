"""What a reranker is given of each candidate, and what it is: a pure function to new totals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import NamedTuple

from thinkback.recall.kinds import kind_of_memory
from thinkback.recall.search import Lookup, Question
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
        """A raw turn whose form does not tell is a piece of dialogue."""
        return kind_of_memory(self.memory) or "dialogue"


Reranker = Callable[[Question, Sequence[Seen]], Sequence[float]]
"""A new total for each candidate, in their order; 0 for one that is no find."""


def seen(rows: Sequence[tuple[Thought | Turn, Score]], lookup: Lookup) -> list[Seen]:
    """Candidates with their times: a thought was said when its last turn was, or noted down without one."""
    said = {memory.id: memory.at for memory, _ in rows if isinstance(memory, Turn)}
    unread = {memory.last_turn for memory, _ in rows if isinstance(memory, Thought)} - said.keys()
    said.update((turn.id, turn.at) for turn in lookup.turns(sorted(unread)))

    def at(memory: Thought | Turn) -> datetime:
        return memory.at if isinstance(memory, Turn) else said.get(memory.last_turn, memory.recorded_at)

    return [Seen(memory, score, at(memory)) for memory, score in rows]
