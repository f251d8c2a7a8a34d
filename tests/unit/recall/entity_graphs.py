"""Entity graphs of a few sentences, for tests."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from thinkback.memory import Memory
from thinkback.recall.entities import EntityGraph
from thinkback.types import SAME_AS, Thought


@lru_cache(maxsize=32)
def thoughts_of(*sentences: str) -> tuple[Thought, ...]:
    """All current thoughts after these sentences, identity thoughts included, in order."""
    with Memory.open(":memory:", embedder="hashing", background=False) as memory:
        for sentence in sentences:
            memory.remember(sentence)
        memory.post_think()
        every: Iterable[Thought] = (*memory.thoughts(), *memory.thoughts(relation=SAME_AS))
        return tuple(sorted(every, key=lambda thought: thought.id))


def graph_of(*sentences: str) -> EntityGraph:
    return EntityGraph.from_thoughts(thoughts_of(*sentences))
