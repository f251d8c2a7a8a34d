"""`Indexer`: keeps the search index up to date, regroups spaces, and converts to another embedder.

The index is derived from stored rows, so all of this can be interrupted and repeated at any time.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from thinkback.errors import ConcurrentUpdate, EmbedderMismatch, NotFound
from thinkback.index import lsh
from thinkback.index.cache import CachedSpace, SpaceCache
from thinkback.index.lexical import hash_terms
from thinkback.index.space_index import SCAN_BELOW_ROWS
from thinkback.language.safety.quarantine import redact_for_index
from thinkback.language.tokens import extract_terms
from thinkback.language.transcripts import speaker_terms
from thinkback.presets import Preset
from thinkback.protocols import Embedder, ProgressCallback, Store
from thinkback.types import (
    Hashing,
    IndexDelta,
    IndexedTexts,
    IndexEntry,
    ItemKind,
    Plan,
    UnindexedItem,
    VersionStamp,
)

if TYPE_CHECKING:
    from thinkback.types import TermHashes, Vector

BATCH_SIZE = 64
HASHING_SEED = 20231114  # stored with each matrix, so changing it does not affect existing spaces
_CALIBRATION_QUERIES = 200
MAX_INDEXED_CHARS = 1 << 18  # of one text; what lies between its beginning and its end is not searchable
LONG_TEXT_CHARS = 8192  # a longer text is embedded in parts
PART_CHARS = 1024
MAX_PARTS = 32  # of one text that are embedded, evenly spread


@dataclass(frozen=True, slots=True)
class EncodedTexts:
    """One vector (a row) and the hashed terms of each text of a batch."""

    vectors: Vector
    terms: Sequence[TermHashes]


class _Batch(NamedTuple):
    """Items of a space without an index entry, and its stamp when they were read."""

    space: str
    items: Sequence[UnindexedItem]
    stamp: VersionStamp


class TextEncoder(Protocol):
    """Computes `EncodedTexts`: this process, or many machines (`thinkback.bulk`)."""

    @property
    def page_size(self) -> int:
        """How many texts to read from the database before they are encoded."""
        ...

    def encode(
        self, batches: Sequence[Sequence[IndexedTexts]], *, terms: bool = True
    ) -> Iterator[EncodedTexts]:
        """The result of each batch, in order; see `encode_texts`."""
        ...


class LocalEncoder:
    """Encodes in this process, one batch after the other."""

    page_size = BATCH_SIZE

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    def encode(
        self, batches: Sequence[Sequence[IndexedTexts]], *, terms: bool = True
    ) -> Iterator[EncodedTexts]:
        return (encode_texts(self._embedder, texts, terms=terms) for texts in batches)


class Indexer:
    """Maintains the indexes of all spaces of one tenant.

    If `store` reads from a replica, `primary` is the indexer that writes.
    """

    def __init__(
        self,
        store: Store,
        embedder: Embedder,
        preset: Preset,
        cache: SpaceCache | None = None,
        primary: Indexer | None = None,
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._preset = preset
        self._cache = SpaceCache() if cache is None else cache
        self._primary = primary
        self._encoder = LocalEncoder(embedder)

    def view(self, space: str) -> CachedSpace:
        """The cached index of a space, including everything committed so far by any process."""
        return self._sync(space, self._store.stamp(space))

    def fresh_view(self, space: str) -> CachedSpace:
        """Like `view`, but first index all stored items, so that a reader sees its own writes."""
        items, stamp = self._store.unindexed(space, BATCH_SIZE)
        if not items:
            return self._sync(space, stamp)
        if self._primary is not None or len(items) == BATCH_SIZE:
            (self._primary or self).index_pending(space)
        else:
            self._index_batch(_Batch(space, items, stamp))
        view = self.last_view(space)
        with view.lock:
            if view.stamp.follows(stamp) and not view.stamp.has_unindexed:
                return view
        return self._sync(space, None)

    def _index_batch(self, batch: _Batch) -> None:
        """Index the items of a batch, or what is unindexed by then if another process was faster."""
        try:
            self._write_entries(batch, encode_texts(self._embedder, [item.texts for item in batch.items]))
        except ConcurrentUpdate:
            self.index_pending(batch.space)
        except NotFound:  # the user was erased meanwhile
            pass

    def last_view(self, space: str) -> CachedSpace:
        """The cached index as it was brought up to date last; empty if it never was."""
        return self._cache.get((self._store.tenant, space))

    def _sync(self, space: str, stamp: VersionStamp | None) -> CachedSpace:
        """The view at this stamp or a later one; None if the stamp is unknown, because something changed."""
        space_key = (self._store.tenant, space)
        view = self._cache.get(space_key)
        with view.lock:
            if stamp == view.stamp:
                return view
            while stamp != view.stamp:  # repeat if the hashing was replaced between two reads
                delta = self._store.delta(space, view.stamp)
                stamp = delta.stamp
                if stamp.epoch != view.stamp.epoch:
                    self._bind_embedder()  # another process may have re-embedded
                    view.clear(self._store.hashing(space))
                    stamp = self._store.stamp(space)  # as of which the hashing is valid
                view.apply(delta)
            self._cache.update_size(space_key, view)
        return view

    def _bind_embedder(self) -> None:
        name = self._embedder.name
        if self._primary is None:
            self._store.bind_embedder(name)
            return
        self._primary._bind_embedder()
        if (stored := self._store.embedder()) != name:
            raise EmbedderMismatch(
                f"the replica still has the vectors of embedder {stored!r}, not of {name!r}: try again later"
            )

    def evict(self, space: str) -> None:
        """Remove a space from the cache."""
        self._cache.drop((self._store.tenant, space))

    def embed(self, text: str) -> tuple[Vector, TermHashes]:
        """Vector and hashed terms of a query."""
        return self._embedder.embed([text])[0], hash_terms(extract_terms(text))

    def index_pending(self, space: str) -> int:
        """Index all items of a space without an entry. Returns their number."""
        return self.index_spaces([space])

    def index_spaces(
        self,
        spaces: Sequence[str],
        *,
        encoder: TextEncoder | None = None,
        progress: ProgressCallback | None = None,
        total: int = 0,
    ) -> int:
        """Index all items of these spaces without an entry. Returns their number.

        `encoder` computes the vectors and terms; by default this process does.
        """
        encoder = encoder or self._encoder
        waiting = deque(spaces)
        done = 0
        while page := self._next_page(waiting, encoder.page_size):
            encoded_batches = encoder.encode([[item.texts for item in batch.items] for batch in page])
            abandoned: set[str] = set()
            for batch, encoded in zip(page, encoded_batches, strict=True):
                space = batch.space
                if space in abandoned:
                    continue
                try:
                    self._write_entries(batch, encoded)
                except ConcurrentUpdate:  # regrouped or indexed by another process meanwhile: read it again
                    abandoned.add(space)
                    if space not in waiting:
                        waiting.appendleft(space)
                    continue
                except NotFound:  # the user was erased meanwhile
                    abandoned.add(space)
                    continue
                done += len(batch.items)
                if progress:
                    progress(done, max(total, done))
        return done

    def _write_entries(self, batch: _Batch, encoded: EncodedTexts) -> None:
        """Store the index entries of items, and apply them to the view if nothing has changed meanwhile."""
        view = self._ensure_hashing(batch.space, batch.stamp)
        entries, epoch = self._create_entries(view, batch.items, encoded)
        written = self._store.index(batch.space, entries, epoch)
        with view.lock:
            if view.stamp == batch.stamp and written.follows(batch.stamp):
                periods = tuple(item.period for item in batch.items if item.period is not None)
                turns = tuple(item.stored_turn for item in batch.items if item.stored_turn is not None)
                view.apply(IndexDelta(written, tuple(entries), periods, turns))
                self._cache.update_size((self._store.tenant, batch.space), view)

    def _next_page(self, waiting: deque[str], size: int) -> list[_Batch]:
        """The next batches of items to index, `size` items in all. Removes the spaces that end within it."""
        page: list[_Batch] = []
        left = size
        while waiting and left:
            items, stamp = self._store.unindexed(waiting[0], left)
            page += [
                _Batch(waiting[0], items[at : at + BATCH_SIZE], stamp)
                for at in range(0, len(items), BATCH_SIZE)
            ]
            if len(items) == left:
                break  # the space may have more, which can be read when these are indexed
            left -= len(items)
            waiting.popleft()
        return page

    def entries_for_plan(
        self, space: str, plan: Plan, view: CachedSpace | None = None
    ) -> tuple[list[IndexEntry], int | None]:
        """Index entries for the drafts of a plan, and the epoch of their groups (None without drafts).

        With a `view` that the caller has, the database is not asked for a newer one. The store refuses the
        entries if the space was regrouped meanwhile.
        """
        new = [
            UnindexedItem("thought", 0, (draft.search_text,), plan.turn or draft.last_turn)
            for draft in plan.drafts
        ]
        if not new:
            return [], None
        encoded = encode_texts(self._embedder, [item.texts for item in new])
        return self._create_entries(view or self.view(space), new, encoded)

    def group_sizes(self, space: str, view: CachedSpace | None = None) -> dict[int, int]:
        """Number of thoughts, including retired ones, in each group; in a `view` that the caller has."""
        view = view or self.view(space)
        with view.lock:
            return dict(enumerate(view.index.group_sizes("thought").tolist()))

    def regroup_if_needed(self, space: str) -> bool:
        """Regroup a space that has outgrown its groups. Returns whether it was regrouped."""
        view = self.view(space)
        self.extend_search_index(space, view)
        with view.lock:
            size = max(view.index.size("thought"), view.index.size("turn"))
            if size == 0 or (view.hashing is not None and not lsh.needs_regrouping(size, view.hashing)):
                return False
        return self.regroup(space)

    def extend_search_index(self, space: str, view: CachedSpace | None = None) -> None:
        """Bring the search index inside the database up to date, where a large space has one."""
        view = view or self.fresh_view(space)
        kinds: tuple[ItemKind, ...] = ("turn", "thought")
        for kind in kinds:
            self._store.extend_search_index(space, kind, view.index.size(kind))

    def regroup(self, space: str) -> bool:
        """Create a new hashing and reassign all groups.

        Returns False if another writer changed the space meanwhile; it will be tried again later.
        """
        delta = self._store.delta(space, VersionStamp())
        if not delta.entries:
            return False
        keys: list[tuple[ItemKind, int]] = [(entry.kind, entry.id) for entry in delta.entries]
        vectors = np.stack([entry.vector for entry in delta.entries])
        turn_rows = {entry.id: row for row, entry in enumerate(delta.entries) if entry.kind == "turn"}
        source_turns = {(period.kind, period.id): period.turn for period in delta.periods}
        deciding_rows = np.arange(len(keys))  # the row whose vector decides the group of each item
        if self._preset.group_by == "turn":
            deciding_rows = np.array(
                [turn_rows.get(source_turns.get(key, 0), row) for row, key in enumerate(keys)]
            )
        is_thought = np.array([kind == "thought" for kind, _ in keys])
        size = int(max(is_thought.sum(), len(keys) - is_thought.sum()))
        hashing = self._create_hashing(vectors[deciding_rows], size)
        groups = lsh.assign_groups(hashing, vectors)[deciding_rows]
        # The minimum, because a recall may use another preset.
        if self._preset.target_recall and size > min(self._preset.scan_below, SCAN_BELOW_ROWS):
            hashing = self._calibrate(hashing, vectors, groups, is_thought)
        assigned = {key: int(group) for key, group in zip(keys, groups, strict=True)}
        return self._store.regroup(space, hashing, assigned, delta.stamp)

    def reembed(self, progress: ProgressCallback | None = None, *, encoder: TextEncoder | None = None) -> int:
        """Convert all vectors of the database, for all tenants. Can be interrupted and repeated.

        `encoder` computes the vectors; by default this process does. Returns the number of vectors converted
        by this call.
        """
        encoder = encoder or self._encoder
        target = self._embedder.name
        total = self._store.reembed_begin(target)
        done = 0
        while page := self._store.reembed_next(target, encoder.page_size):
            batches = [page[at : at + BATCH_SIZE] for at in range(0, len(page), BATCH_SIZE)]
            texts = [[item.texts for _, item in batch] for batch in batches]
            for batch, encoded in zip(batches, encoder.encode(texts, terms=False), strict=True):
                converted = [
                    (space_key, IndexEntry(item.kind, item.id, vector, hash_terms(())))
                    for (space_key, item), vector in zip(batch, encoded.vectors, strict=True)
                ]
                self._store.reembed_write(target, converted)
                done += len(batch)
                if progress:
                    progress(done, total)
        self._store.reembed_finish(target)
        for tenant, space in self._store.spaces():
            store = self._store.for_tenant(tenant)
            Indexer(store, self._embedder, self._preset, self._cache).regroup(space)
        return done

    def _create_entries(
        self, view: CachedSpace, items: Sequence[UnindexedItem], encoded: EncodedTexts
    ) -> tuple[list[IndexEntry], int]:
        """Index entries of the items, and the epoch of their groups (the store rejects an old epoch)."""
        with view.lock:
            groups, epoch = self._assign_groups(view, items, encoded.vectors), view.stamp.epoch
        entries = [
            IndexEntry(item.kind, item.id, vector, terms, int(group))
            for item, vector, terms, group in zip(items, encoded.vectors, encoded.terms, groups, strict=True)
        ]
        return entries, epoch

    def _assign_groups(
        self, view: CachedSpace, items: Sequence[UnindexedItem], vectors: Vector
    ) -> Sequence[int]:
        """The group of each item, from the vector of its turn or (see `Preset.group_by`) from its own."""
        if view.hashing is None:
            return [0] * len(items)
        deciding_vectors = vectors.copy()
        if self._preset.group_by == "turn":
            new_turns = {
                item.id: vector for item, vector in zip(items, vectors, strict=True) if item.kind == "turn"
            }
            for row, item in enumerate(items):
                if item.kind == "thought":
                    indexed = _turn_vector(view, item.turn, default=vectors[row])
                    deciding_vectors[row] = new_turns.get(item.turn, indexed)
        return [int(group) for group in lsh.assign_groups(view.hashing, deciding_vectors)]

    def _ensure_hashing(self, space: str, stamp: VersionStamp) -> CachedSpace:
        """Give a new space a random hashing. A space that lost its hashing waits for `regroup`."""
        view = self._sync(space, stamp)
        if view.hashing is None and not view.index.size("turn"):
            hashing = lsh.random_hashing(self._embedder.dim, lsh.choose_group_count(0), HASHING_SEED)
            self._store.regroup(space, hashing, {}, view.stamp)
            return self.view(space)
        return view

    def _create_hashing(self, vectors: Vector, size: int) -> Hashing:
        group_count = lsh.choose_group_count(size)
        if self._preset.learned_hashing and size > lsh.TARGET_GROUP_SIZE:
            return lsh.learned_hashing(vectors, group_count, HASHING_SEED)
        return lsh.random_hashing(vectors.shape[1], group_count, HASHING_SEED, size=size)

    def _calibrate(
        self,
        hashing: Hashing,
        vectors: Vector,
        groups: lsh.Groups,
        is_thought: np.ndarray[tuple[int], np.dtype[np.bool_]],
    ) -> Hashing:
        """Choose the number of probes, with a sample of thoughts as queries (short, as queries are)."""
        searched = np.flatnonzero(is_thought) if is_thought.any() else np.arange(len(groups))
        sample = np.random.default_rng(HASHING_SEED).permutation(searched)[:_CALIBRATION_QUERIES]
        return lsh.calibrate_probes(
            hashing, vectors[sample], vectors[searched], groups[searched], target=self._preset.target_recall
        )


def encode_texts(embedder: Embedder, items: Sequence[IndexedTexts], *, terms: bool = True) -> EncodedTexts:
    """Vectors and hashed terms of the items, without quarantined passages. Without `terms` there are none."""
    readable = [redact_for_index([_indexed_part(text) for text in texts]) for texts in items]
    return EncodedTexts(
        _embed_texts(embedder, readable),
        [hash_terms(_extract_terms(text)) for text in readable] if terms else [],
    )


def _embed_texts(embedder: Embedder, texts: Sequence[str]) -> Vector:
    """One row per text; an empty text gets a zero vector, which is similar to nothing."""
    vectors = np.zeros((len(texts), embedder.dim), dtype=np.float32)
    rows = [row for row, text in enumerate(texts) if 0 < len(text) <= LONG_TEXT_CHARS]
    if rows:
        vectors[rows] = embedder.embed([texts[row] for row in rows])
    for row, text in enumerate(texts):
        if len(text) > LONG_TEXT_CHARS:
            mean = np.mean(embedder.embed(_spread_parts(text)), axis=0)
            vectors[row] = mean / max(float(np.linalg.norm(mean)), 1e-12)
    return vectors


def _indexed_part(text: str) -> str:
    """A text that is not too long, else its beginning and its end."""
    if len(text) <= MAX_INDEXED_CHARS:
        return text
    end = MAX_INDEXED_CHARS // 4
    return f"{text[: MAX_INDEXED_CHARS - end]}\n{text[-end:]}"


def _extract_terms(text: str) -> Sequence[str]:
    """The search terms of a text, read in parts, and those of its speaker."""
    speaker = speaker_terms(text)
    if len(text) <= LONG_TEXT_CHARS:
        return [*extract_terms(text), *speaker] if speaker else extract_terms(text)
    starts = range(0, len(text), LONG_TEXT_CHARS)
    words = [term for start in starts for term in extract_terms(text[start : start + LONG_TEXT_CHARS])]
    return words + speaker


def _spread_parts(text: str) -> list[str]:
    """Parts of a long text that are embedded: the first ones of equal sections."""
    count = min(MAX_PARTS, len(text) // PART_CHARS)
    return [text[start : start + PART_CHARS] for start in range(0, len(text), -(-len(text) // count))]


def _turn_vector(view: CachedSpace, turn: int, default: Vector) -> Vector:
    try:
        return view.index.vector_of("turn", turn)
    except NotFound:
        return default
