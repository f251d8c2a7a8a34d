"""Index rows: vectors, terms and groups, with a stamp by which readers in any process keep up."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np

from thinkback import errors
from thinkback.storage.sqlite import rows
from thinkback.storage.sqlite.base import SqliteBase, global_epoch
from thinkback.storage.sqlite.connection import Connection
from thinkback.times import from_micros
from thinkback.types import (
    Hashing,
    IndexDelta,
    IndexEntry,
    ItemKind,
    Source,
    SpaceKey,
    Turn,
    UnindexedItem,
    ValidityPeriod,
    VersionStamp,
)


def write_entry(db: Connection, space: int, entry: IndexEntry, version: int) -> None:
    vector, terms = entry.vector.astype("<f4").tobytes(), entry.terms.astype("<u4").tobytes()
    db.run("entries.write", (space, entry.kind, entry.id, entry.group, vector, terms, version))


class IndexMixin(SqliteBase):
    def unindexed(self, space: str, limit: int) -> list[UnindexedItem]:
        number = self._find_space(space)
        if number is None:
            return []
        turns = self._db.read("entries.unindexed_turns", (number, limit))
        found = [
            UnindexedItem("turn", id_, _turn_text(query, response), id_) for id_, query, response in turns
        ]
        if len(found) < limit:
            thoughts = self._db.read("entries.unindexed_thoughts", (number, limit - len(found)))
            found += [
                UnindexedItem("thought", id_, text, _first_turn_in_json(source))
                for id_, text, source in thoughts
            ]
        return found

    def index(self, space: str, entries: Sequence[IndexEntry], epoch: int | None = None) -> None:
        with self._db.write(derived=True):
            number = self._require_space(space, epoch)
            self._require_embedder()
            newest = {
                kind: max((e.id for e in entries if e.kind == kind), default=0)
                for kind in ("turn", "thought")
            }
            advanced = self._db.run("entries.advance", (number, newest["turn"], newest["thought"])).fetchone()
            for entry in entries:
                write_entry(self._db, number, entry, advanced[0])

    def stamp(self, space: str) -> VersionStamp:
        found = self._db.read("space.stamp", self._space_key(space))
        if not found:
            return VersionStamp()
        number, epoch, version, behind = found[0]
        return VersionStamp(global_epoch(number, epoch), version, bool(behind))

    def delta(self, space: str, since: VersionStamp) -> IndexDelta:
        with self._db.snapshot():
            stamp = self.stamp(space)
            if stamp in (since, VersionStamp()):
                return IndexDelta(stamp)
            number, seen = self._find_space(space), since.version if stamp.epoch == since.epoch else -1
            entries = self._db.read("entries.changed", (number, seen))
            turn_periods = self._db.read("entries.turn_periods", (number, seen))
            thought_periods = self._db.read("entries.thought_periods", (number, seen))
        return IndexDelta(
            stamp,
            entries=tuple(_entry_from_row(row) for row in entries),
            periods=(
                *(_turn_period_from_row(*row) for row in turn_periods),
                *(_thought_period_from_row(*row) for row in thought_periods),
            ),
        )

    # --- groups -------------------------------------------------------------------------------

    def hashing(self, space: str) -> Hashing | None:
        number = self._find_space(space)
        found = self._db.read("hashings.find", (number,))
        if not found:
            return None
        columns, seed, learned, probes, size, matrix = found[0]
        values = np.frombuffer(matrix, dtype="<f4").reshape(-1, columns)
        return Hashing(values, seed, bool(learned), probes, size)

    def regroup(
        self, space: str, hashing: Hashing, groups: Mapping[tuple[ItemKind, int], int], expected: VersionStamp
    ) -> bool:
        with self._db.write():
            number = self._require_space(space)
            id_, epoch, version, _ = self._db.run("space.stamp", self._space_key(space)).fetchone()
            if VersionStamp(global_epoch(id_, epoch), version) != expected:
                return False
            matrix = np.ascontiguousarray(hashing.matrix, dtype="<f4")
            described = (matrix.shape[1], hashing.seed, int(hashing.learned), hashing.probes, hashing.size)
            self._db.run("hashings.write", (number, *described, matrix.tobytes()))
            updates = [(number, kind, item, group) for (kind, item), group in groups.items()]
            self._db.run_many("entries.set_group", updates)
            self._db.run("space.new_epoch", (number,))
        return True

    # --- embedders ----------------------------------------------------------------------------

    def embedder(self) -> str | None:
        found = self._db.read("meta.get", ("embedder",))
        return found[0][0] if found else None

    def bind_embedder(self, embedder: str) -> None:
        target = self._db.read("meta.get", ("reembedding",))
        if target:
            raise errors.EmbedderMismatch(
                f"{self._db.path} is on its way to the embedder {target[0][0]!r}: "
                "run thinkback reembed to finish"
            )
        current = self.embedder()
        if current == embedder:
            self._db.bound_embedder = embedder
            return
        if current is not None and self._db.read("entries.exist")[0][0]:
            raise errors.EmbedderMismatch(
                f"{self._db.path} was written with the embedder {current!r}, not {embedder!r}: their vectors "
                "cannot be compared. Open it with the first, or convert it with thinkback reembed"
            )
        with self._db.write():
            self._db.run("meta.set", ("embedder", embedder))
        self._db.bound_embedder = embedder

    def reembed_begin(self, target: str) -> int:
        with self._db.write():
            self._db.run("meta.set", ("reembedding", target))
        return int(self._db.read("entries.not_by", (target,))[0][0])

    def reembed_next(self, target: str, limit: int) -> list[tuple[SpaceKey, UnindexedItem]]:
        wanted: dict[tuple[SpaceKey, int, ItemKind], list[int]] = defaultdict(list)
        for tenant, name, number, kind, id_ in self._db.read("entries.next_not_by", (target, limit)):
            wanted[(tenant, name), number, kind].append(id_)
        found: list[tuple[SpaceKey, UnindexedItem]] = []
        for (place, number, kind), ids in wanted.items():
            if kind == "turn":
                turns: list[Turn] = [
                    rows.turn_from_row(row)
                    for row in self._db.read("turns.by_ids", (number, rows.ids_to_json(ids)))
                ]
                found += [(place, UnindexedItem("turn", turn.id, turn.text, turn.id)) for turn in turns]
            else:
                thoughts = [
                    rows.thought_from_row(row)
                    for row in self._db.read("thoughts.by_ids", (number, rows.ids_to_json(ids)))
                ]
                found += [
                    (place, UnindexedItem("thought", t.id, t.search_text, _first_source_turn(t.sources)))
                    for t in thoughts
                ]
        return found

    def reembed_write(self, target: str, entries: Sequence[tuple[SpaceKey, IndexEntry]]) -> None:
        with self._db.write():
            for place, entry in entries:
                vector = entry.vector.astype("<f4").tobytes()
                self._db.run("entries.convert", (*place, entry.kind, entry.id, target, vector))

    def reembed_finish(self, target: str) -> None:
        """Groups belong to the old vectors: they are made anew by the next reader that needs them."""
        with self._db.write():
            left = self._db.run("entries.not_by", (target,)).fetchone()[0]
            if left:
                raise errors.Conflict(f"{left} entries are not converted yet: run thinkback reembed again")
            self._db.run("hashings.delete_all")
            self._db.run("epochs.advance_all")
            self._db.run("meta.set", ("embedder", target))
            self._db.run("meta.delete", ("reembedding",))
        self._db.bound_embedder = target


def _turn_text(query: str, response: str) -> str:
    return "\n".join(side for side in (query, response) if side)


def _first_source_turn(sources: Sequence[Source]) -> int:
    return sources[0].turn if sources else 0


def _first_turn_in_json(sources: str) -> int:
    return _first_source_turn(rows.sources_from_json(sources))


def _entry_from_row(row: tuple[ItemKind, int, int, bytes, bytes]) -> IndexEntry:
    kind, id_, group, vector, terms = row
    return IndexEntry(kind, id_, np.frombuffer(vector, "<f4"), np.frombuffer(terms, "<u4"), group)


def _turn_period_from_row(id_: int, at: int, recorded_at: int) -> ValidityPeriod:
    return ValidityPeriod(id_, id_, from_micros(at), None, from_micros(recorded_at), None, "turn")


def _thought_period_from_row(
    id_: int,
    sources: str,
    valid_from: int | None,
    valid_to: int | None,
    recorded_at: int,
    retired_at: int | None,
) -> ValidityPeriod:
    since, until = rows.optional_time(valid_from), rows.optional_time(valid_to)
    return ValidityPeriod(
        id_,
        _first_turn_in_json(sources),
        since,
        until,
        from_micros(recorded_at),
        rows.optional_time(retired_at),
    )
