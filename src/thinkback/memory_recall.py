"""`MemoryRecall`: the methods of `Memory` that search what is stored."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from functools import partial

import numpy as np

from thinkback.errors import (
    InvalidInput,
    NotFound,
    StoreUnavailable,
)
from thinkback.history import filter_by_time, hidden_turns, replay
from thinkback.index.cache import CachedSpace
from thinkback.indexing import Indexer
from thinkback.language.questions import is_brief
from thinkback.language.transcripts import passage_parts, remove_names
from thinkback.memory_queries import MemoryQueries, checked_time
from thinkback.presets import Preset, get_preset
from thinkback.protocols import CrossEncoder, Embedder, Store
from thinkback.recall.cache import RecallCache
from thinkback.recall.expansion import ThoughtLinks
from thinkback.recall.kind_classifier import classify_query
from thinkback.recall.pack import fit_to_budget
from thinkback.recall.query import (
    KnowledgeSnapshot,
    MemoryLoader,
    PreparedQuery,
    ResolvedQuery,
    find_speakers,
    may_name_entity,
    resolve_query,
)
from thinkback.recall.retrieve import retrieve
from thinkback.recall.rows import ThoughtRow, TurnRow
from thinkback.recall.score import RetentionScorer
from thinkback.times import to_utc
from thinkback.types import (
    Kind,
    Recollection,
    Thought,
    Turn,
    Usage,
)
from thinkback.usage import Stopwatch
from thinkback.validation import (
    checked_text,
)


class MemoryRecall(MemoryQueries):
    """Searching the memory of one user. Base class of `Memory`."""

    embedder: Embedder
    _preset: Preset
    _get_cross_encoder: Callable[[], CrossEncoder]
    _indexer: Indexer
    _recall_store: Store
    _recall_indexer: Indexer

    def recall(
        self,
        query: str,
        k: int = 5,
        *,
        as_of: datetime | None = None,
        known_at: datetime | None = None,
        explain: bool = False,
        preset: Preset | str | None = None,
        budget: int | None = None,
    ) -> Recollection:
        """The memories that matter for `query`, best first, each with its reason.

        Every turn remembered before is searched, also those not yet thought about.

        Args:
            query: a question, a statement or a passage.
            k: at most this many memories.
            as_of: what was true at that time.
            known_at: what this memory knew at that time.
            explain: also return dropped candidates, score breakdowns and the query interpretation;
                `why(recollection)` puts them into words.
            preset: search with another preset, this time only.
            budget: maximum number of tokens of all texts; long texts are trimmed around the relevant
                passage (`item.turn` stays complete).
        """
        active_preset = get_preset(preset) if isinstance(preset, str) else preset or self._preset
        if not isinstance(k, int) or k < 1:
            raise InvalidInput(f"k={k!r}: k must be a positive integer")
        if budget is not None and (not isinstance(budget, int) or budget < 1):
            raise InvalidInput(f"budget={budget!r}: budget must be a positive integer (tokens)")
        text = checked_text(query, "query")
        if not text.strip():
            raise InvalidInput("the query is empty")
        as_of = checked_time(as_of, "as_of")
        past = None
        watch = Stopwatch()
        if known_at is not None:
            with watch("replay"):
                past = self._known_at(as_of, to_utc(known_at, "known_at"))
        with watch("index"):
            view = self._recall_indexer.fresh_view(self.user)
        with watch("understand"):
            resolved = self._understand(text, view) if past is None else ResolvedQuery("none")
        with view.lock:
            speakers = find_speakers(text, view.index) if active_preset.rewrite_query else ()
        parts = passage_parts(text) if active_preset.rewrite_query and not is_brief(text) else []
        parts = parts if len(parts) > 1 else []
        with watch("embed"):
            vector, *part_vectors = self.embedder.embed([remove_names(text, speakers), *parts])
        cross_encoder = self._get_cross_encoder() if active_preset.read_candidates else None
        with watch("search"), view.lock:
            snapshot, loader = past or (None, self._loader(RecallCache.of(view)))
            retention = self._retention(active_preset) if as_of is None and snapshot is None else None
            kinds = classify_query(text, vector, self.embedder.name) if active_preset.uses_kinds else {}
            prepared = PreparedQuery(
                text=text,
                vector=vector,
                part_vectors=np.stack(part_vectors) if part_vectors else None,
                k=k,
                as_of=as_of,
                explain=explain,
                snapshot=snapshot,
                retention=retention,
                now=self._clock(),
                kind_probabilities=kinds,
                resolved=resolved,
                speakers=speakers,
                cross_encoder=cross_encoder,
            )
            recollection = retrieve(prepared, view.index, view.hashing, active_preset, loader)
        if budget is not None:
            with watch("pack"):
                recollection = fit_to_budget(recollection, budget, explain=explain)
        if retention is not None and (recalled := [item.ref.id for item in recollection if item.thought]):
            # Counting is best effort: the database may be busy, or the user was just erased.
            with watch("retain"), suppress(StoreUnavailable, NotFound):
                self.store.record_recalls(self.user, recalled, self._clock())
        return replace(recollection, usage=Usage(ms=watch.ms))

    search = recall

    def cached_instructions(self) -> tuple[Thought, ...]:
        """The standing wishes as of the last recall in this process; `instructions` asks the database."""
        view = self._recall_indexer.last_view(self.user)
        with view.lock:
            return RecallCache.of(view).instructions(self.instructions)

    def kinds(self, query: str) -> dict[Kind, float]:
        """Probability that the query asks for each memory kind (PerLTQA, Eq. 1)."""
        text = checked_text(query, "query")
        vector, _ = self._indexer.embed(text)
        return classify_query(text, vector, self.embedder.name)

    def _loader(self, cache: RecallCache) -> MemoryLoader:
        def read_thoughts(ids: Sequence[int]) -> Sequence[Thought]:
            return self._recall_store.thoughts(self.user, ids=ids, current=False)

        def read_turns(ids: Sequence[int]) -> Sequence[Turn]:
            return self._recall_store.turns(self.user, ids=ids)

        return MemoryLoader(
            thought_rows=lambda ids: cache.thoughts(ids, read_thoughts),
            turn_rows=lambda ids: cache.turns(ids, read_turns),
            journal=lambda id_: self._recall_store.journal(self.user, thought=id_),
            lifecycles=cache.lifecycles,
            memoise=cache.memoise,
            nearest=partial(self._recall_store.nearest, self.user),
            memoise_retired=cache.memoise_retired,
        )

    def _understand(self, text: str, view: CachedSpace) -> ResolvedQuery:
        """Resolve the entities in the query. Thoughts are read only if a phrase may name somebody."""
        if not may_name_entity(text):
            return ResolvedQuery("none")
        with view.lock:
            graph = RecallCache.of(view).entity_graph(lambda: self._recall_store.thoughts(self.user))
        return resolve_query(text, graph)

    def _links(self) -> ThoughtLinks:
        """The links between the current thoughts, from the cache of the space."""
        view = self._indexer.view(self.user)
        with view.lock:
            return RecallCache.of(view).thought_links(lambda: self.store.thoughts(self.user))

    def _retention(self, preset: Preset) -> RetentionScorer | None:
        policy = preset.retention
        recall_counts = partial(self.store.recall_counts, self.user)
        return None if policy is None else RetentionScorer(policy, self._clock(), recall_counts)

    def _known_at(self, as_of: datetime | None, known_at: datetime) -> tuple[KnowledgeSnapshot, MemoryLoader]:
        """The space as it was known at that time: the replayed journal and the turns recorded by then."""
        actions = self.store.journal(self.user)
        thoughts, hidden = replay(actions, known_at), hidden_turns(actions, known_at)
        valid = frozenset(thought.id for thought in filter_by_time(thoughts.values(), as_of, known_at))
        turns = {
            turn.id: turn
            for turn in self.store.turns(self.user, hidden=True)
            if turn.recorded_at <= known_at and turn.id not in hidden
        }
        loader = MemoryLoader(
            thought_rows=lambda ids: [ThoughtRow(thoughts[id_]) for id_ in sorted(ids) if id_ in thoughts],
            turn_rows=lambda ids: [TurnRow(turns[id_]) for id_ in sorted(ids) if id_ in turns],
            journal=lambda id_: [
                action for action in self.store.journal(self.user, thought=id_) if action.at <= known_at
            ],
        )
        return KnowledgeSnapshot(valid, frozenset(thoughts), frozenset(turns)), loader
