"""thinkback itself: every item is remembered and thought over, then recalled at the question's time.

A thought counts through the turns it was drawn from. Each case has a database of its own in memory; the
models are the run's.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from thinkback import Memory, Preset, Thought
from thinkback_lab.cases import Item
from thinkback_lab.schemes.scheme import Found, Kit, Scheme
from thinkback_lab.stage import IN_MEMORY, Clock

# Cosine alone over thoughts and turns, the space searched whole; what matters, matters from thinkback's own
# threshold for cosines: thoughts come before turns, so without one they would take every place.
DENSE = Preset(
    name="dense",
    cosine=1.0,
    lexical=0.0,
    threshold=0.2,
    nearly=0.2,
    scan_below=100_000,
    learned=True,
    target=0.95,
)


class Thinkback:
    """A `Memory` on a clock that stands where the story is."""

    def __init__(self, kit: Kit, preset: Preset | str | None = None) -> None:
        self._embedder = kit.embedder
        self._clock = Clock()
        self._ids: dict[int, str] = {}  # turn -> item
        self.memory = Memory.open(
            IN_MEMORY,
            llm=kit.llm,
            embedder=kit.embedder,
            think=kit.setup.think,
            preset=preset or kit.setup.preset,
            background=False,
            clock=self._clock,
        )

    def tell(self, items: Sequence[Item]) -> None:
        """Each item is remembered and thought over at its own time, as in a life."""
        self._embedder.embed([item.text for item in items])  # ahead of time: one batch is quicker than many
        for item in items:
            self._clock.now = item.at
            turn = self.memory.remember(
                item.query, item.response, at=item.at, session=item.session, key=item.id
            )
            self._ids[turn.id] = item.id
            self.memory.post_think()

    def recall(self, question: str, k: int, at: datetime) -> list[Found]:
        self._clock.now = at
        return [
            Found(each.text, self.items_of(_turns(each.thought, each.ref.id)), each.score.total)
            for each in self.memory.recall(question, k=k)
        ]

    def items_of(self, turns: Iterable[int]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self._ids[turn] for turn in turns))

    def close(self) -> None:
        self.memory.close()


def with_preset(name: str) -> Scheme:
    """`thinkback:fading` and the like: the preset of that name, whatever the run's."""
    return lambda kit: Thinkback(kit, name)


def dense(kit: Kit) -> Thinkback:
    """thinkback with meaning alone: what its words add is the difference to this."""
    return Thinkback(kit, DENSE)


def _turns(thought: Thought | None, ref: int) -> tuple[int, ...]:
    """The turns behind a memory: a thought's sources, or the raw turn itself."""
    return (ref,) if thought is None else tuple(source.turn for source in thought.sources)
