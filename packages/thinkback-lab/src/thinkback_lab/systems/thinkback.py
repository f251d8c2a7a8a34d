"""thinkback as a memory system: every item is remembered with post-think, then recalled at the question's
time.

An item is scored through the source turns of all thoughts that its text states. Each case has its own
in-memory database.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from thinkback import Memory, Preset
from thinkback.types import Candidate
from thinkback_lab.cases import HistoryItem
from thinkback_lab.harness import IN_MEMORY, ManualClock
from thinkback_lab.systems.interface import Resources, RetrievedMemory, SystemFactory

# Cosine alone over thoughts and turns, with exhaustive search. The threshold is thinkback's own for cosines:
# thoughts rank before turns, so without one they would take every place.
DENSE_PRESET = Preset(
    name="dense",
    cosine=1.0,
    lexical=0.0,
    threshold=0.2,
    fill_threshold=0.2,
    scan_below=100_000,
    learned_hashing=True,
    target_recall=0.95,
)


class ThinkbackSystem:
    """A `Memory` whose clock follows the history."""

    def __init__(self, resources: Resources, preset: Preset | str | None = None) -> None:
        self._embedder = resources.embedder
        self._clock = ManualClock()
        self._ids: dict[int, str] = {}  # turn id -> item id
        self.memory = Memory.open(
            IN_MEMORY,
            llm=resources.llm,
            embedder=resources.embedder,
            think=resources.setup.think,
            preset=preset or resources.setup.preset,
            background=False,
            clock=self._clock,
        )

    def add_items(self, items: Sequence[HistoryItem]) -> None:
        """Remember each item at the time given for it, with post-think."""
        self._embedder.embed([item.text for item in items])  # one batch is faster than many
        for item in items:
            self._clock.now = item.at
            turn = self.memory.remember(
                item.query, item.response, at=item.at, session=item.session, key=item.id
            )
            self._ids[turn.id] = item.id
            self.memory.post_think()

    def recall(self, question: str, k: int, at: datetime) -> list[RetrievedMemory]:
        self._clock.now = at
        return [
            RetrievedMemory(each.text, self.items_of(_source_turns(each)), each.score.total)
            for each in self.memory.recall(question, k=k)
        ]

    def items_of(self, turns: Iterable[int]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self._ids[turn] for turn in turns))

    def close(self) -> None:
        self.memory.close()


def with_preset(name: str) -> SystemFactory:
    """Make a system with a fixed preset (`thinkback:fading`)."""
    return lambda kit: ThinkbackSystem(kit, name)


def dense_system(resources: Resources) -> ThinkbackSystem:
    """thinkback by cosine alone, to measure what lexical search adds."""
    return ThinkbackSystem(resources, DENSE_PRESET)


def _source_turns(item: Candidate) -> list[int]:
    """The source turns of the thoughts that an item states, or the raw turn itself."""
    return [source.turn for thought in item.thoughts for source in thought.sources] or [item.ref.id]
