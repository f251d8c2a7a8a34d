"""Index entries (vectors, terms, groups) and the version stamps by which readers keep up with them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from thinkback import errors
from thinkback.storage.relational import rows
from thinkback.storage.relational.base import RelationalBase, stamp_from_row
from thinkback.storage.relational.database import Database, Row
from thinkback.times import from_micros
from thinkback.types import (
    Hashing,
    IndexDelta,
    IndexEntry,
    ItemKind,
    NearestRows,
    Source,
    SpaceKey,
    Turn,
    UnindexedItem,
    UnindexedPage,
    ValidityPeriod,
    VersionStamp,
)

if TYPE_CHECKING:
    from thinkback.types import Vector

_TURN_COLUMNS_FROM = 5  # of `entries.unindexed_turns`, after the stamp and whether thoughts wait


def entry_to_row(entry: IndexEntry) -> tuple[ItemKind, int, int, bytes, bytes]:
    """Kind, id, group, vector and terms of an entry as they are stored."""
    vector, terms = entry.vector.astype("<f4").tobytes(), entry.terms.astype("<u4").tobytes()
    return entry.kind, entry.id, entry.group, vector, terms


def write_entry(db: Database, space_id: int, entry: IndexEntry, version: int) -> None:
    """Insert or replace an entry. Nothing happens if its item was erased meanwhile."""
    db.run("entries.write", (space_id, *entry_to_row(entry), version))


class IndexMixin(RelationalBase):
    """`IndexStore`."""

    def unindexed(self, space: str, limit: int) -> UnindexedPage:
        key = self._space_key(space)
        records = self._db.read("entries.unindexed_turns", (*key, limit))
        if not records:
            return UnindexedPage([], VersionStamp())
        *stamp, thoughts_wait = records[0][:_TURN_COLUMNS_FROM]
        items = [_unindexed_turn(*row[_TURN_COLUMNS_FROM:]) for row in records if row[_TURN_COLUMNS_FROM]]
        if thoughts_wait:  # read after the stamp: what changes in between has a later one
            thoughts = self._db.read("entries.unindexed_thoughts", (*key, limit))
            items += [_unindexed_thought(*row) for row in thoughts]
        return UnindexedPage(items if limit < 0 else items[:limit], stamp_from_row(stamp))

    def index(self, space: str, entries: Sequence[IndexEntry], epoch: int | None = None) -> VersionStamp:
        last_turn = max((entry.id for entry in entries if entry.kind == "turn"), default=0)
        last_thought = max((entry.id for entry in entries if entry.kind == "thought"), default=0)
        with self._db.write(derived=True, pipelined=True):
            advanced = self._db.run("entries.advance", (*self._space_key(space), last_turn, last_thought))
            embedder = self._db.run("meta.lock", ("embedder",))
            space_id, stamp = self._checked_space(advanced, space, epoch)
            self._check_embedder(embedder)
            for entry in entries:
                write_entry(self._db, space_id, entry, stamp.version)
        return stamp

    def stamp(self, space: str) -> VersionStamp:
        return _stamp_from_rows(self._db.read("space.stamp", self._space_key(space)))

    def delta(self, space: str, since: VersionStamp) -> IndexDelta:
        key, after = self._space_key(space), since.version if since != VersionStamp() else -1
        stamps, entries, turn_periods, thought_periods = self._db.read_together(
            ("space.stamp", key),
            ("entries.changed", (*key, after)),
            ("entries.turn_periods", (*key, after)),
            ("entries.thought_periods", (*key, after)),
        )
        stamp = _stamp_from_rows(stamps)
        if stamp in (since, VersionStamp()):
            return IndexDelta(stamp)
        if stamp.epoch != since.epoch and after != -1:  # everything has to be read again
            return self.delta(space, VersionStamp())
        return IndexDelta(
            stamp,
            entries=rows.entries_from_rows(entries),
            periods=(
                *_turn_periods_from_rows(turn_periods),
                *(_thought_period_from_row(*row) for row in thought_periods),
            ),
        )

    def hashing(self, space: str) -> Hashing | None:
        records = self._db.read("hashings.find", self._space_key(space))
        if not records:
            return None
        return rows.hashing_from_row(records[0])

    def regroup(
        self, space: str, hashing: Hashing, groups: Mapping[tuple[ItemKind, int], int], expected: VersionStamp
    ) -> bool:
        with self._db.write():
            space_id = self._require_space(space)
            locked = self._db.run("space.lock", self._space_key(space)).fetchone()
            if stamp_from_row(rows.require_row("spaces", locked)) != expected:
                return False
            matrix = np.ascontiguousarray(hashing.matrix, dtype="<f4")
            metadata = (matrix.shape[1], hashing.seed, int(hashing.learned), hashing.probes, hashing.size)
            self._db.run("hashings.write", (space_id, *metadata, matrix.tobytes()))
            updates = [(space_id, kind, item, group) for (kind, item), group in groups.items()]
            self._db.run_many("entries.set_group", updates)
            self._db.run("space.new_epoch", (space_id,))
        return True

    def nearest(
        self, space: str, kind: ItemKind, vector: Vector, limit: int, size: int
    ) -> NearestRows | None:
        return None

    def extend_search_index(self, space: str, kind: ItemKind, size: int) -> None:
        """Nothing to do: all spaces are searched in memory."""

    def embedder(self) -> str | None:
        records = self._db.read("meta.get", ("embedder",))
        return records[0][0] if records else None

    def bind_embedder(self, embedder: str) -> None:
        target = self._db.read("meta.get", ("reembedding",))
        if target:
            raise errors.EmbedderMismatch(
                f"{self._db.path} is being converted to the embedder {target[0][0]!r}: "
                "run thinkback reembed to finish"
            )
        current = self.embedder()
        if current == embedder:
            self._db.bound_embedder = embedder
            return
        if current is not None and self._db.read("entries.exist")[0][0]:
            raise errors.EmbedderMismatch(
                f"{self._db.path} was written with the embedder {current!r}, not {embedder!r}: their vectors "
                "cannot be compared. Open it with the former, or convert it with thinkback reembed"
            )
        with self._db.write():
            self._db.run("meta.set", ("embedder", embedder))
        self._db.bound_embedder = embedder

    def reembed_begin(self, target: str) -> int:
        with self._db.write():
            self._db.run("meta.set", ("reembedding", target))
        return int(self._db.read("entries.not_by", (target,))[0][0])

    def reembed_next(self, target: str, limit: int) -> list[tuple[SpaceKey, UnindexedItem]]:
        batches: dict[tuple[SpaceKey, int, ItemKind], list[int]] = defaultdict(list)
        for tenant, name, space_id, kind, id_ in self._db.read("entries.next_not_by", (target, limit)):
            batches[(tenant, name), space_id, kind].append(id_)
        items: list[tuple[SpaceKey, UnindexedItem]] = []
        for (space_key, space_id, kind), ids in batches.items():
            db = self._db.for_tenant(space_key[0])
            if kind == "turn":
                turns: list[Turn] = [
                    rows.turn_from_row(row)
                    for row in db.read("turns.by_ids", (space_id, rows.ids_to_json(ids)))
                ]
                items += [(space_key, UnindexedItem("turn", turn.id, turn.texts, turn.id)) for turn in turns]
            else:
                thoughts = [
                    rows.thought_from_row(row)
                    for row in db.read("thoughts.by_ids", (space_id, rows.ids_to_json(ids)))
                ]
                for thought in thoughts:
                    turn = _first_source_turn(thought.sources)
                    items.append(
                        (space_key, UnindexedItem("thought", thought.id, (thought.search_text,), turn))
                    )
        return items

    def reembed_write(self, target: str, entries: Sequence[tuple[SpaceKey, IndexEntry]]) -> None:
        with self._db.write():
            for space_key, entry in entries:
                vector = entry.vector.astype("<f4").tobytes()
                self._db.run("entries.convert", (*space_key, entry.kind, entry.id, target, vector))

    def reembed_finish(self, target: str) -> None:
        with self._db.write():
            # Before counting, and in the order in which writers lock: this waits for those that have checked
            # the former embedder, so that their entries are counted.
            self._db.run("epochs.advance_all")
            self._db.run("meta.set", ("embedder", target))
            left = self._db.run("entries.not_by", (target,)).fetchone()[0]
            if left:
                raise errors.Conflict(f"{left} entries are not converted yet: run thinkback reembed again")
            self._db.run("hashings.delete_all")  # groups belong to the old vectors
            self._db.run("meta.delete", ("reembedding",))
        self._db.bound_embedder = target


def _stamp_from_rows(records: Sequence[Row]) -> VersionStamp:
    if not records:
        return VersionStamp()
    return stamp_from_row(records[0])


@rows.reads_rows_of("turns")
def _unindexed_turn(*row: Any) -> UnindexedItem:
    turn, hidden_at = rows.turn_from_row(row[:-1]), rows.optional_time(row[-1])
    period = _turn_period(turn.id, turn.at, turn.recorded_at, hidden_at)
    return UnindexedItem("turn", turn.id, turn.texts, turn.id, period, turn)


@rows.reads_rows_of("thoughts")
def _unindexed_thought(id_: int, text: str, sources: str, *times: Any) -> UnindexedItem:
    period = _thought_period_from_row(id_, sources, *times)
    return UnindexedItem("thought", id_, (text,), period.turn, period)


def _first_source_turn(sources: Sequence[Source]) -> int:
    return sources[0].turn if sources else 0


def _first_turn_in_json(sources: str) -> int:
    return _first_source_turn(rows.sources_from_json(sources))


@rows.reads_rows_of("turns")
def _turn_periods_from_rows(records: Iterable[Row]) -> list[ValidityPeriod]:
    """Checked as a whole: a user may have a hundred thousand turns."""
    return [_turn_period_from_row(*row) for row in records]


def _turn_period_from_row(id_: int, at: int, recorded_at: int, hidden_at: int | None) -> ValidityPeriod:
    said_at = from_micros(at)
    return _turn_period(
        id_,
        said_at,
        said_at if recorded_at == at else from_micros(recorded_at),
        rows.optional_time(hidden_at),
    )


def _turn_period(
    id_: int, said_at: datetime, recorded_at: datetime, hidden_at: datetime | None
) -> ValidityPeriod:
    """A hidden turn is retired, and valid at no time."""
    return ValidityPeriod(
        id=id_,
        turn=id_,
        valid_from=said_at,
        valid_to=None if hidden_at is None else said_at,
        recorded_at=recorded_at,
        retired_at=hidden_at,
        kind="turn",
    )


@rows.reads_rows_of("thoughts")
def _thought_period_from_row(
    id_: int,
    sources: str,
    valid_from: int | None,
    valid_to: int | None,
    recorded_at: int,
    retired_at: int | None,
) -> ValidityPeriod:
    return ValidityPeriod(
        id=id_,
        turn=_first_turn_in_json(sources),
        valid_from=rows.optional_time(valid_from),
        valid_to=rows.optional_time(valid_to),
        recorded_at=from_micros(recorded_at),
        retired_at=rows.optional_time(retired_at),
    )
