"""Derived work: the index follows the rows, groups are remade when outgrown, embedders are exchanged.

All of it can be killed at any moment and done again: rows are the truth, the index is a cache.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from thinkback.errors import NotFound, Outdated
from thinkback.index import lsh
from thinkback.index.kept import Kept
from thinkback.index.lexical import hash_terms
from thinkback.index.shelf import SCAN_BELOW, Shelf
from thinkback.index.views import View, Views
from thinkback.ports import Embedder, Store
from thinkback.presets import Preset
from thinkback.text.safety.quarantine import indexable
from thinkback.text.tokens import terms
from thinkback.types import Entry, Hashing, ItemKind, Plan, Stamp, Unindexed

if TYPE_CHECKING:
    from thinkback.types import Terms, Vector

BATCH = 64
SEED = 20231114  # of R; stored with it, so a space keeps the groups it has
_CALIBRATION_QUERIES = 200

Progress = Callable[[int, int], None]  # done, total


class Upkeep:
    """Keeps the index of every space of a tenant in step with its rows."""

    def __init__(self, store: Store, embedder: Embedder, preset: Preset, views: Views | None = None) -> None:
        self._store = store
        self._embedder = embedder
        self._preset = preset
        self._views = Views() if views is None else views

    def view(self, space: str) -> View:
        """The space as last committed by anyone."""
        return self._synced(space, self._store.stamp(space))

    def fresh(self, space: str) -> View:
        """The same, with everything indexed that was remembered before: a reader sees its own writes."""
        stamp = self._store.stamp(space)
        if stamp.behind:
            self.catch_up(space)
            stamp = self._store.stamp(space)
        return self._synced(space, stamp)

    def _synced(self, space: str, stamp: Stamp) -> View:
        place = (self._store.tenant, space)
        view = self._views.of(place)
        with view.lock:
            if stamp == view.stamp:
                return view
            while stamp != view.stamp:  # again, if R was exchanged between two reads
                delta = self._store.delta(space, view.stamp)
                if delta.stamp.epoch != view.stamp.epoch:
                    self._store.adopt(self._embedder.name)  # another process may have re-embedded
                    view.shelf, view.kept = Shelf(), Kept()
                    view.hashing = self._store.hashing(space)
                view.shelf.apply(delta)
                view.kept.follow(delta)
                view.stamp = delta.stamp
                stamp = self._store.stamp(space)
            self._views.weigh(place, view)
        return view

    def drop(self, space: str) -> None:
        """Let go of all that is in memory of a space."""
        self._views.drop((self._store.tenant, space))

    def embed(self, text: str) -> tuple[Vector, Terms]:
        return self._embedder.embed([text])[0], hash_terms(terms(text))

    def catch_up(self, space: str, progress: Progress | None = None, total: int = 0) -> int:
        """Index whatever is not yet; how many items that were."""
        done = 0
        while items := self._store.unindexed(space, BATCH):
            try:
                view = self._with_hashing(space)
                self._store.index(space, *self._entries(view, items))
            except Outdated:  # regrouped meanwhile: again
                continue
            except NotFound:  # the user was erased meanwhile: there is nothing left to index
                break
            done += len(items)
            if progress:
                progress(done, max(total, done))
            if len(items) < BATCH:
                break
        return done

    def entries_for(self, space: str, plan: Plan) -> tuple[list[Entry], int | None]:
        """The entries of a plan's new thoughts, whose turns are indexed, and the epoch of their groups."""
        new = [Unindexed("thought", 0, draft.searched, plan.turn or draft.last_turn) for draft in plan.drafts]
        return self._entries(self.view(space), new) if new else ([], None)

    def group_sizes(self, space: str) -> dict[int, int]:
        """How many thoughts every group has had so far, by its number."""
        view = self.view(space)
        with view.lock:
            return dict(enumerate(view.shelf.groups_sizes("thought").tolist()))

    def regroup_if_outgrown(self, space: str) -> bool:
        """Give the space more (and, by default, learned) groups once it is too large for those it has."""
        view = self.view(space)
        with view.lock:
            size = max(len(view.shelf.items("thought")), len(view.shelf.items("turn")))
            if size == 0 or (view.hashing is not None and not lsh.needs_regroup(size, view.hashing)):
                return False
        return self.regroup(space)

    def regroup(self, space: str) -> bool:
        """Remake R and every group; False if others wrote meanwhile (then it is tried again later)."""
        delta = self._store.delta(space, Stamp())
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
        hashing = self._new_hashing(vectors[deciding], size)
        groups = lsh.group(hashing, vectors)[deciding]
        if self._preset.target and size > min(self._preset.scan_below, SCAN_BELOW):  # others may probe them
            hashing = self._calibrated(hashing, vectors, groups, is_thought)
        assigned = {key: int(group) for key, group in zip(keys, groups, strict=True)}
        return self._store.regroup(space, hashing, assigned, delta.stamp)

    def reembed(self, progress: Progress | None = None) -> int:
        """Convert every vector of the database, of all tenants; what was done stays done if it stops."""
        target = self._embedder.name
        total = self._store.reembed_begin(target)
        done = 0
        while batch := self._store.reembed_next(target, BATCH):
            vectors = self._embedded(_texts([item for _, item in batch]))
            converted = [
                (place, Entry(item.kind, item.id, vector, hash_terms(())))
                for (place, item), vector in zip(batch, vectors, strict=True)
            ]
            self._store.reembed_write(target, converted)
            done += len(batch)
            if progress:
                progress(done, total)
        self._store.reembed_finish(target)
        for tenant, space in self._store.spaces():
            owner = Upkeep(self._store.of_tenant(tenant), self._embedder, self._preset, self._views)
            owner.regroup(space)
        return done

    def _entries(self, view: View, items: Sequence[Unindexed]) -> tuple[list[Entry], int]:
        """The entries as of this view, and its epoch: where that has passed, the store refuses them."""
        texts = _texts(items)
        vectors = self._embedded(texts)
        with view.lock:
            groups, epoch = self._groups(view, items, vectors), view.stamp.epoch
        entries = [
            Entry(item.kind, item.id, vector, hash_terms(terms(text)), int(group))
            for item, text, vector, group in zip(items, texts, vectors, groups, strict=True)
        ]
        return entries, epoch

    def _embedded(self, texts: Sequence[str]) -> Vector:
        """One row a text; what has no text is near nothing."""
        vectors = np.zeros((len(texts), self._embedder.dim), dtype=np.float32)
        said = [row for row, text in enumerate(texts) if text]
        if said:
            vectors[said] = self._embedder.embed([texts[row] for row in said])
        return vectors

    def _groups(self, view: View, items: Sequence[Unindexed], vectors: Vector) -> Sequence[int]:
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
                    deciding[row] = beside.get(
                        item.turn, _turn_vector(view, item.turn, otherwise=vectors[row])
                    )
        return [int(group) for group in lsh.group(view.hashing, deciding)]

    def _with_hashing(self, space: str) -> View:
        """A new space starts with a random R; a large one that lost its R waits for `regroup`."""
        view = self.view(space)
        if view.hashing is None and not view.shelf.size("turn"):
            hashing = lsh.random_hashing(self._embedder.dim, lsh.choose_width(0), SEED)
            self._store.regroup(space, hashing, {}, view.stamp)
            return self.view(space)
        return view

    def _new_hashing(self, vectors: Vector, size: int) -> Hashing:
        width = lsh.choose_width(size)
        if self._preset.learned and size > lsh.GROUP_TARGET:
            return lsh.learned_hashing(vectors, width, SEED)
        return lsh.random_hashing(vectors.shape[1], width, SEED, size=size)

    def _calibrated(
        self,
        hashing: Hashing,
        vectors: Vector,
        groups: lsh.Groups,
        is_thought: np.ndarray[tuple[int], np.dtype[np.bool_]],
    ) -> Hashing:
        """A sample of what is searched asks for its own neighbours: short sentences, as queries are."""
        searched = np.flatnonzero(is_thought) if is_thought.any() else np.arange(len(groups))
        sample = np.random.default_rng(SEED).permutation(searched)[:_CALIBRATION_QUERIES]
        return lsh.calibrate(
            hashing, vectors[sample], vectors[searched], groups[searched], target=self._preset.target
        )


def _texts(items: Sequence[Unindexed]) -> list[str]:
    """What is embedded and indexed of them: nothing that may not be recalled."""
    return [indexable(item.text) for item in items]


def _turn_vector(view: View, turn: int, otherwise: Vector) -> Vector:
    try:
        return view.shelf.vector_of("turn", turn)
    except NotFound:
        return otherwise
