"""Derived work: the index follows the rows, groups are remade when outgrown, embedders are exchanged.

All of it can be killed at any moment and done again: rows are the truth, the index is a cache.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from thinkback.errors import ConcurrentUpdate, NotFound
from thinkback.index import lsh
from thinkback.index.cache import CachedSpace, SpaceCache
from thinkback.index.lexical import hash_terms
from thinkback.index.row_cache import RowCache
from thinkback.index.space_index import SCAN_BELOW_ROWS, SpaceIndex
from thinkback.language.safety.quarantine import redact_for_index
from thinkback.language.tokens import extract_terms
from thinkback.presets import Preset
from thinkback.protocols import Embedder, Store
from thinkback.types import Hashing, IndexEntry, ItemKind, Plan, UnindexedItem, VersionStamp

if TYPE_CHECKING:
    from thinkback.types import TermHashes, Vector

BATCH_SIZE = 64
HASHING_SEED = 20231114  # of R; stored with it, so a space keeps the groups it has
_CALIBRATION_QUERIES = 200

ProgressCallback = Callable[[int, int], None]  # done, total


class Indexer:
    """Keeps the index of every space of a tenant in step with its rows."""

    def __init__(
        self, store: Store, embedder: Embedder, preset: Preset, cache: SpaceCache | None = None
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._preset = preset
        self._cache = SpaceCache() if cache is None else cache

    def view(self, space: str) -> CachedSpace:
        """The space as last committed by anyone."""
        return self._sync(space, self._store.stamp(space))

    def fresh_view(self, space: str) -> CachedSpace:
        """The same, with everything indexed that was remembered before: a reader sees its own writes."""
        stamp = self._store.stamp(space)
        if stamp.has_unindexed:
            self.index_pending(space)
            stamp = self._store.stamp(space)
        return self._sync(space, stamp)

    def _sync(self, space: str, stamp: VersionStamp) -> CachedSpace:
        place = (self._store.tenant, space)
        view = self._cache.get(place)
        with view.lock:
            if stamp == view.stamp:
                return view
            while stamp != view.stamp:  # again, if R was exchanged between two reads
                delta = self._store.delta(space, view.stamp)
                if delta.stamp.epoch != view.stamp.epoch:
                    self._store.bind_embedder(self._embedder.name)  # another process may have re-embedded
                    view.index, view.row_cache = SpaceIndex(), RowCache()
                    view.hashing = self._store.hashing(space)
                view.index.apply(delta)
                view.row_cache.invalidate(delta)
                view.stamp = delta.stamp
                stamp = self._store.stamp(space)
            self._cache.update_size(place, view)
        return view

    def evict(self, space: str) -> None:
        """Let go of all that is in memory of a space."""
        self._cache.drop((self._store.tenant, space))

    def embed(self, text: str) -> tuple[Vector, TermHashes]:
        return self._embedder.embed([text])[0], hash_terms(extract_terms(text))

    def index_pending(self, space: str, progress: ProgressCallback | None = None, total: int = 0) -> int:
        """Index whatever is not yet; how many items that were."""
        done = 0
        while items := self._store.unindexed(space, BATCH_SIZE):
            try:
                view = self._ensure_hashing(space)
                self._store.index(space, *self._create_entries(view, items))
            except ConcurrentUpdate:  # regrouped meanwhile: again
                continue
            except NotFound:  # the user was erased meanwhile: there is nothing left to index
                break
            done += len(items)
            if progress:
                progress(done, max(total, done))
            if len(items) < BATCH_SIZE:
                break
        return done

    def entries_for_plan(self, space: str, plan: Plan) -> tuple[list[IndexEntry], int | None]:
        """The entries of a plan's new thoughts, whose turns are indexed, and the epoch of their groups."""
        new = [
            UnindexedItem("thought", 0, draft.search_text, plan.turn or draft.last_turn)
            for draft in plan.drafts
        ]
        return self._create_entries(self.view(space), new) if new else ([], None)

    def group_sizes(self, space: str) -> dict[int, int]:
        """How many thoughts every group has had so far, by its number."""
        view = self.view(space)
        with view.lock:
            return dict(enumerate(view.index.group_sizes("thought").tolist()))

    def regroup_if_needed(self, space: str) -> bool:
        """Give the space more (and, by default, learned) groups once it is too large for those it has."""
        view = self.view(space)
        with view.lock:
            size = max(len(view.index.ids("thought")), len(view.index.ids("turn")))
            if size == 0 or (view.hashing is not None and not lsh.needs_regrouping(size, view.hashing)):
                return False
        return self.regroup(space)

    def regroup(self, space: str) -> bool:
        """Remake R and every group; False if others wrote meanwhile (then it is tried again later)."""
        delta = self._store.delta(space, VersionStamp())
        if not delta.entries:
            return False
        keys: list[tuple[ItemKind, int]] = [(entry.kind, entry.id) for entry in delta.entries]
        vectors = np.stack([entry.vector for entry in delta.entries])
        turns = {entry.id: row for row, entry in enumerate(delta.entries) if entry.kind == "turn"}
        sources = {(period.kind, period.id): period.turn for period in delta.periods}
        deciding = np.arange(len(keys))
        if self._preset.group_by == "turn":
            deciding = np.array([turns.get(sources.get(key, 0), row) for row, key in enumerate(keys)])
        is_thought = np.array([kind == "thought" for kind, _ in keys])
        size = int(max(is_thought.sum(), len(keys) - is_thought.sum()))
        hashing = self._create_hashing(vectors[deciding], size)
        groups = lsh.assign_groups(hashing, vectors)[deciding]
        if self._preset.target_recall and size > min(
            self._preset.scan_below, SCAN_BELOW_ROWS
        ):  # others may probe them
            hashing = self._calibrate(hashing, vectors, groups, is_thought)
        assigned = {key: int(group) for key, group in zip(keys, groups, strict=True)}
        return self._store.regroup(space, hashing, assigned, delta.stamp)

    def reembed(self, progress: ProgressCallback | None = None) -> int:
        """Convert every vector of the database, of all tenants; what was done stays done if it stops."""
        target = self._embedder.name
        total = self._store.reembed_begin(target)
        done = 0
        while batch := self._store.reembed_next(target, BATCH_SIZE):
            vectors = self._embed_texts(_index_texts([item for _, item in batch]))
            converted = [
                (place, IndexEntry(item.kind, item.id, vector, hash_terms(())))
                for (place, item), vector in zip(batch, vectors, strict=True)
            ]
            self._store.reembed_write(target, converted)
            done += len(batch)
            if progress:
                progress(done, total)
        self._store.reembed_finish(target)
        for tenant, space in self._store.spaces():
            owner = Indexer(self._store.for_tenant(tenant), self._embedder, self._preset, self._cache)
            owner.regroup(space)
        return done

    def _create_entries(
        self, view: CachedSpace, items: Sequence[UnindexedItem]
    ) -> tuple[list[IndexEntry], int]:
        """The entries as of this view, and its epoch: where that has passed, the store refuses them."""
        texts = _index_texts(items)
        vectors = self._embed_texts(texts)
        with view.lock:
            groups, epoch = self._assign_groups(view, items, vectors), view.stamp.epoch
        entries = [
            IndexEntry(item.kind, item.id, vector, hash_terms(extract_terms(text)), int(group))
            for item, text, vector, group in zip(items, texts, vectors, groups, strict=True)
        ]
        return entries, epoch

    def _embed_texts(self, texts: Sequence[str]) -> Vector:
        """One row a text; what has no text is near nothing."""
        vectors = np.zeros((len(texts), self._embedder.dim), dtype=np.float32)
        said = [row for row, text in enumerate(texts) if text]
        if said:
            vectors[said] = self._embedder.embed([texts[row] for row in said])
        return vectors

    def _assign_groups(
        self, view: CachedSpace, items: Sequence[UnindexedItem], vectors: Vector
    ) -> Sequence[int]:
        """H of each item: of its turn's vector by default, of its own by setting or for want of the turn."""
        if view.hashing is None:
            return [0] * len(items)
        deciding = vectors.copy()
        if self._preset.group_by == "turn":
            beside = {
                item.id: vector for item, vector in zip(items, vectors, strict=True) if item.kind == "turn"
            }
            for row, item in enumerate(items):
                if item.kind == "thought":
                    deciding[row] = beside.get(item.turn, _turn_vector(view, item.turn, default=vectors[row]))
        return [int(group) for group in lsh.assign_groups(view.hashing, deciding)]

    def _ensure_hashing(self, space: str) -> CachedSpace:
        """A new space starts with a random R; a large one that lost its R waits for `regroup`."""
        view = self.view(space)
        if view.hashing is None and not view.index.size("turn"):
            hashing = lsh.random_hashing(self._embedder.dim, lsh.choose_group_count(0), HASHING_SEED)
            self._store.regroup(space, hashing, {}, view.stamp)
            return self.view(space)
        return view

    def _create_hashing(self, vectors: Vector, size: int) -> Hashing:
        width = lsh.choose_group_count(size)
        if self._preset.learned_hashing and size > lsh.TARGET_GROUP_SIZE:
            return lsh.learned_hashing(vectors, width, HASHING_SEED)
        return lsh.random_hashing(vectors.shape[1], width, HASHING_SEED, size=size)

    def _calibrate(
        self,
        hashing: Hashing,
        vectors: Vector,
        groups: lsh.Groups,
        is_thought: np.ndarray[tuple[int], np.dtype[np.bool_]],
    ) -> Hashing:
        """A sample of what is searched asks for its own neighbours: short sentences, as queries are."""
        searched = np.flatnonzero(is_thought) if is_thought.any() else np.arange(len(groups))
        sample = np.random.default_rng(HASHING_SEED).permutation(searched)[:_CALIBRATION_QUERIES]
        return lsh.calibrate_probes(
            hashing, vectors[sample], vectors[searched], groups[searched], target=self._preset.target_recall
        )


def _index_texts(items: Sequence[UnindexedItem]) -> list[str]:
    """What is embedded and indexed of them: nothing that may not be recalled."""
    return [redact_for_index(item.text) for item in items]


def _turn_vector(view: CachedSpace, turn: int, default: Vector) -> Vector:
    try:
        return view.index.vector_of("turn", turn)
    except NotFound:
        return default
