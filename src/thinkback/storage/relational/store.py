"""`RelationalStore`: the mixins put together, and what concerns a whole space or database."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from copy import copy
from datetime import datetime
from typing import Any, Self

from thinkback import errors
from thinkback.storage.relational import rows
from thinkback.storage.relational.api_keys import ApiKeysMixin
from thinkback.storage.relational.erase import EraseMixin
from thinkback.storage.relational.index_rows import IndexMixin
from thinkback.storage.relational.journal import JournalWriter
from thinkback.storage.relational.metadata import MetadataMixin
from thinkback.storage.relational.request_limits import RequestLimitsMixin
from thinkback.storage.relational.space_rows import SpaceRowsMixin
from thinkback.storage.relational.summaries import SummariesMixin
from thinkback.storage.relational.thoughts import ThoughtsMixin
from thinkback.storage.relational.turns import QueueMixin, TurnsMixin
from thinkback.storage.relational.verify import verify
from thinkback.types import Action, Entity, EraseResult, SpaceKey, SpaceStats, Summary, SummaryUpdate, Turn


class RelationalStore(
    TurnsMixin,
    MetadataMixin,
    QueueMixin,
    ThoughtsMixin,
    SummariesMixin,
    IndexMixin,
    EraseMixin,
    SpaceRowsMixin,
    ApiKeysMixin,
    RequestLimitsMixin,
):
    """A `Store` on a `Database`."""

    _shared_connection = False

    @property
    def tenant(self) -> str:
        return self._tenant

    def for_tenant(self, tenant: str) -> Self:
        """A view of another tenant. It shares the connection and does not close it."""
        store = copy(self)
        store._tenant, store._shared_connection = tenant, True
        store._db = self._db.for_tenant(tenant)
        return store

    def for_recall(self) -> Self:
        """A view that reads from the replica, if there is one."""
        db = self._db.for_recall()
        if db is self._db:
            return self
        store = self.for_tenant(self._tenant)
        store._db = db
        return store

    def spaces(self) -> list[SpaceKey]:
        return [(tenant, name) for tenant, name in self._db.read("space.keys")]

    def load(
        self,
        space: str,
        turns: Sequence[Turn],
        actions: Sequence[Action],
        entities: Sequence[Entity],
        summaries: Sequence[Summary] = (),
        updates: Sequence[SummaryUpdate] = (),
        metadata: Mapping[int, Mapping[str, Any]] | None = None,
    ) -> None:
        """Replay the journal of an exported space into a new one. Indexing follows later."""
        with self._db.write():
            if self._db.run("space.find", self._space_key(space)).fetchone() is not None:
                raise errors.Conflict(
                    f"user {space!r} already has memories: import into another user or database"
                )
            thought_ids = [thought.id for action in actions for thought in action.after]
            counters = (_last_id(turns), max(thought_ids, default=0), _last_id(actions), _last_id(entities))
            space_id = self._db.run("space.load", (*self._space_key(space), *counters)).fetchone()[0]
            for entity in entities:
                self._db.run("entities.insert", (space_id, entity.id, entity.name))
                for alias in entity.aliases:
                    self._db.run("aliases.insert", (space_id, alias, entity.id))
            self._db.run_many("turns.insert", [rows.turn_to_row(space_id, turn) for turn in turns])
            for turn_id, values in (metadata or {}).items():
                body = json.dumps(values, ensure_ascii=False)
                self._db.run("metadata.write", (space_id, rows.ids_to_json([turn_id]), body))
            journal = JournalWriter(self._db, space_id, self.normalise_name)
            for action in actions:
                journal.write(action)
            journal.close()
            for summary in summaries:
                self._db.run("summaries.write", rows.summary_to_row(space_id, summary))
            for update in updates:
                self._db.run("updates.insert", rows.summary_update_to_row(space_id, update))

    def stats(self, space: str) -> SpaceStats:
        space_id = self._find_space(space)
        embedder = self.embedder() or ""
        counts = self._db.read("stats.counts", (space_id,))[0]
        sizes = [row[0] for row in self._db.read("entries.sizes", (space_id,))]
        turns, thoughts, retired, entities, actions, pending, failed = counts
        return SpaceStats(
            user=space,
            turns=turns,
            thoughts=thoughts,
            retired=retired,
            entities=entities,
            actions=actions,
            pending=pending,
            failed=failed,
            groups=len(sizes),
            largest_group=max(sizes, default=0),
            embedder=embedder,
        )

    def erase_tenant(self, tenant: str, now: datetime) -> EraseResult:
        view = self.for_tenant(tenant)
        with view._db.write():
            erased = view._erase_all_spaces()
        return self._scrubbed(erased)

    def check(self) -> list[str]:
        return self._db.check()

    def verify(self) -> list[str]:
        return verify(self._db)


def _last_id(items: Sequence[Turn] | Sequence[Action] | Sequence[Entity]) -> int:
    return max((item.id for item in items), default=0)
