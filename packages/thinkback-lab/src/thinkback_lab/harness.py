"""Where data is played: each case in a memory of its own, on a clock we set, the models loaded only once."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from thinkback import LLM, Embedder, Memory

ThinkMode = Literal["auto", "rules", "llm"]
IN_MEMORY = ":memory:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """How memory is put together for a run: the names that `Memory.open` takes."""

    llm: str | None = None
    embedder: str = "minilm"
    preset: str = "hybrid"
    think: ThinkMode = "auto"

    @property
    def as_settings(self) -> dict[str, str]:
        """The same for a result's `settings`."""
        return {
            "llm": self.llm or "none",
            "embedder": self.embedder,
            "preset": self.preset,
            "think": self.think,
        }


class ManualClock:
    """A clock that stands where it was set."""

    def __init__(self, now: datetime = datetime(1970, 1, 1, tzinfo=UTC)) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now


class Harness:
    """Opens memories of one setup; what a model loads at first use is nobody's turn."""

    def __init__(self, setup: Setup) -> None:
        self._setup = setup
        memory = _open_memory(setup, setup.llm, setup.embedder, ManualClock(), IN_MEMORY)
        self._llm, self._embedder = memory.llm, memory.embedder
        if self._llm is None:
            memory.remember("I warm up. 我在热身。")
            memory.post_think()
            memory.recall("Who warms up?")
        memory.store.close()  # not the memory itself: with it, its models' connections would close

    def open(self, clock: ManualClock, url: str | Path = IN_MEMORY) -> Memory:
        """An empty memory, or the one at `url`."""
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
