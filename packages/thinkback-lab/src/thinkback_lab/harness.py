"""Opens memories for evaluations: each with its own database and clock, models loaded only once."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from thinkback import LLM, Embedder, Memory
from thinkback_lab.llms import resolve_llm

ThinkMode = Literal["auto", "extractive", "llm"]
ThinkAfter = Literal["turn", "session"]
"""When an evaluation thinks: after every turn, or once after a session, as for a backlog or an import."""
IN_MEMORY = ":memory:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """Configuration of a memory: the arguments of `Memory.open`."""

    llm: LLM | str | None = None
    embedder: str = "minilm"
    preset: str = "hybrid"
    think: ThinkMode = "auto"
    think_after: ThinkAfter = "turn"

    @property
    def as_settings(self) -> dict[str, str]:
        """The configuration for the `settings` of a result."""
        return {
            "llm": (self.llm if isinstance(self.llm, str | None) else self.llm.name) or "none",
            "embedder": self.embedder,
            "preset": self.preset,
            "think": self.think,
            "think_after": self.think_after,
        }


class ManualClock:
    """A clock that returns the time it was last set to."""

    def __init__(self, now: datetime = datetime(1970, 1, 1, tzinfo=UTC)) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now


class Harness:
    """Opens memories of one setup. Models are loaded and warmed up once, so that no measured turn pays for
    it.
    """

    def __init__(self, setup: Setup) -> None:
        self._setup = setup
        memory = _open_memory(setup, resolve_llm(setup.llm), setup.embedder, ManualClock(), IN_MEMORY)
        self._llm, self._embedder = memory.llm, memory.embedder
        if self._llm is None:
            memory.remember("I warm up. 我在热身。")
            memory.post_think()
            memory.recall("Who warms up?")
        memory.store.close()  # close the store only: `memory.close()` would also close the shared models

    @property
    def think_after(self) -> ThinkAfter:
        return self._setup.think_after

    def open(self, clock: ManualClock, url: str | Path = IN_MEMORY) -> Memory:
        """Open a new empty memory, or the one at `url`."""
        return _open_memory(self._setup, self._llm, self._embedder, clock, url)


def _open_memory(
    setup: Setup, llm: LLM | str | None, embedder: Embedder | str, clock: ManualClock, url: str | Path
) -> Memory:
    return Memory.open(
        url,
        llm=llm,
        embedder=embedder,
        think=setup.think,
        preset=setup.preset,
        background=False,
        clock=clock,
    )
