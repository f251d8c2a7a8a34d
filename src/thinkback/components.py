"""What a Memory is composed of: what all tenants of a database share, and the parts each has of its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from thinkback.index.cache import SpaceCache
from thinkback.indexing import Indexer
from thinkback.llms.metering import MeteredLLM
from thinkback.presets import Preset
from thinkback.protocols import LLM, Clock, Embedder, Store
from thinkback.session.summarizer import LLMSummaryReader, Summarizer
from thinkback.think.consolidate import Consolidator, LLMConsolidator
from thinkback.think.factory import ThinkMode, create_generator, create_llm_consolidator
from thinkback.think.generator import ThoughtGenerator
from thinkback.think.thinker import Thinker


@dataclass(frozen=True, slots=True)
class SharedComponents:
    """What every tenant thinks and looks with. None of it knows whose a space is but by a Place."""

    embedder: Embedder
    preset: Preset
    clock: Clock
    generator: ThoughtGenerator
    llm_consolidator: LLMConsolidator | None
    summary_reader: LLMSummaryReader | None
    cache: SpaceCache


def create_shared_components(
    embedder: Embedder,
    preset: Preset,
    clock: Clock,
    *,
    think: ThinkMode | ThoughtGenerator,
    llm: LLM | None,
    summary_llm: LLM | None,
    summary_instructions: str,
    cache_bytes: int,
) -> SharedComponents:
    metered = None if llm is None else MeteredLLM(llm)
    notes = None if summary_llm is None else LLMSummaryReader(MeteredLLM(summary_llm), summary_instructions)
    return SharedComponents(
        embedder,
        preset,
        clock,
        create_generator(think, metered),
        create_llm_consolidator(think, metered),
        notes,
        SpaceCache(cache_bytes),
    )


class Components:
    """What keeps, thinks over and follows the spaces of one tenant: it has no other's store."""

    def __init__(self, store: Store, shared: SharedComponents) -> None:
        self.store = store
        self._shared = shared
        self.indexer = Indexer(store, shared.embedder, shared.preset, shared.cache)
        self.consolidator = Consolidator(store, self.indexer, shared.llm_consolidator, shared.clock)
        self.thinker = Thinker(store, self.indexer, shared.generator, self.consolidator, shared.clock)
        self.summarizer = Summarizer(store, shared.clock, shared.summary_reader)

    @property
    def cache(self) -> SpaceCache:
        """The spaces in memory, of all tenants."""
        return self._shared.cache

    def for_tenant(self, tenant: str) -> Components:
        return Components(self.store.for_tenant(tenant), self._shared)

    def process_space(self, space: str, *, stopping: Callable[[], bool]) -> bool:
        """The worker's errand: think, then follow with the summaries of sessions."""
        unfinished = self.thinker.think_space(space, stopping=stopping)
        self.summarizer.update_summaries(space, stopping)
        return unfinished
