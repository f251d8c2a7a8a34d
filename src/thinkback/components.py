"""The components that a `Memory` is built from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Self

from thinkback.index.cache import SpaceCache
from thinkback.indexing import Indexer
from thinkback.llms.metering import MeteredLLM
from thinkback.memory_config import MemoryConfig
from thinkback.network.cross_encoder import load_cross_encoder
from thinkback.presets import Preset, get_preset
from thinkback.protocols import LLM, Clock, Embedder, Store
from thinkback.recall.question_classifier import THRESHOLD_TO_DROP, asks_for_memory
from thinkback.session.summarizer import LLMSummaryReader, Summarizer
from thinkback.think.commands import CommandRunner
from thinkback.think.consolidate import Consolidator
from thinkback.think.contract import TurnReader
from thinkback.think.corrections import ValueSimilarity
from thinkback.think.organise import LLMConsolidator
from thinkback.think.reader_updates import UpdatingReader
from thinkback.think.readers import (
    WithoutModelReader,
    create_llm_consolidator,
    create_reader,
    finds_updates,
)
from thinkback.think.similarity import SentenceSimilarity
from thinkback.think.thinker import Thinker


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedComponents:
    """Models, clock and caches. All tenants of a database use the same ones.

    `replica_cache` has the spaces as a replica shows them to recall, if the database has one.
    `owned` are the models that were created here from their names and must be closed with the memory.
    """

    llm: LLM | None
    embedder: Embedder
    preset: Preset
    clock: Clock
    reader: TurnReader
    similarity: SentenceSimilarity
    llm_consolidator: LLMConsolidator | None
    summary_reader: LLMSummaryReader | None
    cache: SpaceCache
    replica_cache: SpaceCache
    owned: tuple[object, ...] = ()

    @classmethod
    def from_config(cls, config: MemoryConfig, stored_embedder: str | None = None) -> Self:
        """Create what the config names; `stored_embedder` is the name of the one that wrote the database."""
        from thinkback.embedders.registry import choose_spec, create_embedder, sentence_encoder
        from thinkback.llms.registry import create_llm, create_local_thinker

        preset = get_preset(config.preset) if isinstance(config.preset, str) else config.preset
        embedder = config.embedder
        if isinstance(embedder, str):
            embedder = create_embedder(choose_spec(embedder, stored_embedder))
        llm = create_llm(config.llm) if isinstance(config.llm, str) else config.llm
        summary_llm = config.summary_llm
        if isinstance(summary_llm, str):
            summary_llm = create_llm(summary_llm)
        summary_reader = None
        if summary_llm is not None:
            summary_reader = LLMSummaryReader(MeteredLLM(summary_llm), config.summary_instructions)
        metered_llm = None if llm is None else MeteredLLM(llm)
        thinker = create_local_thinker() if config.think == "auto" and not _can_think(llm) else None
        encoder = sentence_encoder(embedder)
        models = ((embedder, config.embedder), (llm, config.llm), (summary_llm, config.summary_llm))
        return cls(
            llm=llm,
            embedder=embedder,
            preset=preset,
            clock=config.clock,
            reader=create_reader(
                config.think,
                MeteredLLM(thinker) if thinker else metered_llm,
                encoder,
                partial(asks_for_memory, threshold=THRESHOLD_TO_DROP),
                load_cross_encoder,
            ),
            similarity=SentenceSimilarity(encoder),
            llm_consolidator=create_llm_consolidator(
                config.think, metered_llm, organise_groups=preset.organise_groups
            ),
            summary_reader=summary_reader,
            cache=SpaceCache(config.cache_bytes),
            replica_cache=SpaceCache(config.cache_bytes),
            owned=(
                *(model for model, option in models if isinstance(option, str)),
                *([thinker] if thinker else []),
            ),
        )


def _can_think(llm: LLM | None) -> bool:
    return llm is not None and (llm.extracts or finds_updates(llm))


class Components:
    """Indexer, thinker, consolidator and summarizer for the spaces of one tenant."""

    def __init__(self, store: Store, shared: SharedComponents) -> None:
        self.store = store
        self._shared = shared
        self.indexer = Indexer(store, shared.embedder, shared.preset, shared.cache)
        self.recall_store, self.recall_indexer = store.for_recall(), self.indexer
        if self.recall_store is not store:
            self.recall_indexer = Indexer(
                self.recall_store, shared.embedder, shared.preset, shared.replica_cache, self.indexer
            )
        self.consolidator = Consolidator(store, self.indexer, shared.llm_consolidator, shared.clock)
        self.commands = CommandRunner(
            store,
            self.indexer,
            shared.clock,
            ValueSimilarity(shared.embedder, shared.similarity.encoder),
            reads_corrections=isinstance(shared.reader, WithoutModelReader | UpdatingReader),
            seems_question=asks_for_memory,
        )
        self.thinker = Thinker(
            store,
            self.indexer,
            shared.reader,
            self.consolidator,
            self.commands,
            shared.clock,
            shared.similarity,
        )
        self.summarizer = Summarizer(store, shared.clock, shared.summary_reader)

    @property
    def cache(self) -> SpaceCache:
        """The spaces in memory, of all tenants."""
        return self._shared.cache

    def for_tenant(self, tenant: str) -> Components:
        """The components of another tenant, with the same models and cache."""
        return Components(self.store.for_tenant(tenant), self._shared)

    def process_space(self, space: str, *, stopping: Callable[[], bool]) -> bool:
        """Think about the pending turns of a space, then update its session summaries.

        Returns whether work is left, for example because `stopping()` became true.
        """
        unfinished = self.thinker.think_space(space, stopping=stopping)
        self.summarizer.update_summaries(space, stopping)
        return unfinished
