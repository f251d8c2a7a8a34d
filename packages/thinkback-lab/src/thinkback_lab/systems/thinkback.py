"""thinkback itself: every item is remembered and thought over, then recalled at the question's time.

A thought counts through the turns it was drawn from. Each case has a database of its own in memory; the
models are the run's.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from thinkback import Memory, Preset, Thought
from thinkback_lab.cases import HistoryItem
from thinkback_lab.harness import IN_MEMORY, ManualClock
from thinkback_lab.systems.interface import Resources, RetrievedMemory, SystemFactory

# Cosine alone over thoughts and turns, the space searched whole; what matters, matters from thinkback's own
# threshold for cosines: thoughts come before turns, so without one they would take every place.
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
    """A `Memory` on a clock that stands where the story is."""

    def __init__(self, resources: Resources, preset: Preset | str | None = None) -> None:
        self._embedder = resources.embedder
        self._clock = ManualClock()
        self._ids: dict[int, str] = {}  # turn -> item
        self.memory = Memory.open(
            IN_MEMORY,
            llm=resources.llm,
            embedder=resources.embedder,
            think=resources.setup.think,
            preset=preset or resources.setup.preset,
            background=False,
            clock=self._clock,
        )

    def tell(self, items: Sequence[HistoryItem]) -> None:
        """Each item is remembered and thought over at its own time, as in a life."""
        self._embedder.embed([item.text for item in items])  # ahead of time: one batch is quicker than many
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
            RetrievedMemory(
                each.text, self.items_of(_source_turns(each.thought, each.ref.id)), each.score.total
            )
            for each in self.memory.recall(question, k=k)
        ]

    def items_of(self, turns: Iterable[int]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self._ids[turn] for turn in turns))

    def close(self) -> None:
        self.memory.close()


def with_preset(name: str) -> SystemFactory:
    """`thinkback:fading` and the like: the preset of that name, whatever the run's."""
    return lambda kit: ThinkbackSystem(kit, name)


def dense_system(resources: Resources) -> ThinkbackSystem:
    """thinkback with meaning alone: what its words add is the difference to this."""
    return ThinkbackSystem(resources, DENSE_PRESET)


def _source_turns(thought: Thought | None, ref: int) -> tuple[int, ...]:
    """The turns behind a memory: a thought's sources, or the raw turn itself."""
    return (ref,) if thought is None else tuple(source.turn for source in thought.sources)
