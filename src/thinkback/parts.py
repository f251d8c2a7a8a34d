"""What a Memory is composed of: what all tenants of a database share, and the parts each has of its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from thinkback.index.views import Views
from thinkback.models.meter import Meter
from thinkback.ports import LLM, Clock, Embedder, Store
from thinkback.presets import Preset
from thinkback.think.choose import Think, generator_for, organiser_for
from thinkback.think.generate import Generator
from thinkback.think.llm_organiser import LLMOrganiser
from thinkback.think.reorganise import Reorganiser
from thinkback.think.thinker import Thinker
from thinkback.upkeep import Upkeep
from thinkback.working.by_llm import SummaryReader
from thinkback.working.follow import Follower


@dataclass(frozen=True, slots=True)
class Shared:
    """What every tenant thinks and looks with. None of it knows whose a space is but by a Place."""

    embedder: Embedder
    preset: Preset
    clock: Clock
    generator: Generator
    organiser: LLMOrganiser | None
    summary_reader: SummaryReader | None
    views: Views


def shared(
    embedder: Embedder,
    preset: Preset,
    clock: Clock,
    *,
    think: Think | Generator,
    llm: LLM | None,
    summary_llm: LLM | None,
    summary_instructions: str,
    cache_bytes: int,
) -> Shared:
    metered = None if llm is None else Meter(llm)
    notes = None if summary_llm is None else SummaryReader(Meter(summary_llm), summary_instructions)
    return Shared(
        embedder,
        preset,
        clock,
        generator_for(think, metered),
        organiser_for(think, metered),
        notes,
        Views(cache_bytes),
    )


class Parts:
    """What keeps, thinks over and follows the spaces of one tenant: it has no other's store."""

    def __init__(self, store: Store, shared: Shared) -> None:
        self.store = store
        self._shared = shared
        self.upkeep = Upkeep(store, shared.embedder, shared.preset, shared.views)
        self.reorganiser = Reorganiser(store, self.upkeep, shared.organiser, shared.clock)
        self.thinker = Thinker(store, self.upkeep, shared.generator, self.reorganiser, shared.clock)
        self.follower = Follower(store, shared.clock, shared.summary_reader)

    @property
    def views(self) -> Views:
        """The spaces in memory, of all tenants."""
        return self._shared.views

    def of_tenant(self, tenant: str) -> Parts:
        return Parts(self.store.of_tenant(tenant), self._shared)

    def attend(self, space: str, *, stopping: Callable[[], bool]) -> bool:
        """The worker's errand: think, then follow with the summaries of sessions."""
        unfinished = self.thinker.attend(space, stopping=stopping)
        self.follower.follow(space, stopping)
        return unfinished
