"""The embedded store: one SQLite file of many spaces, of many tenants."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy

from thinkback import errors
from thinkback.storage.sqlite import rows
from thinkback.storage.sqlite.api_keys import ApiKeysMixin
from thinkback.storage.sqlite.connection import Connection
from thinkback.storage.sqlite.erase import EraseMixin
from thinkback.storage.sqlite.group_commit import GroupCommit
from thinkback.storage.sqlite.index_rows import IndexMixin
from thinkback.storage.sqlite.journal import JournalWriter
from thinkback.storage.sqlite.summaries import SummariesMixin
from thinkback.storage.sqlite.thoughts import ThoughtsMixin
from thinkback.storage.sqlite.turns import QueueMixin, TurnsMixin
from thinkback.types import Action, Entity, SpaceKey, SpaceStats, Summary, SummaryUpdate, Turn


class SqliteStore(
    TurnsMixin, QueueMixin, ThoughtsMixin, SummariesMixin, IndexMixin, EraseMixin, ApiKeysMixin
):
    """`path` is a file, or `:memory:` for a store that ends with the process."""

    def __init__(self, path: str) -> None:
        self._db = Connection(path)
        self._group_commit = GroupCommit(self._db)
        self._tenant = ""
        self._shared_connection = False

    @property
    def tenant(self) -> str:
        return self._tenant

    def for_tenant(self, tenant: str) -> SqliteStore:
        """Shares the connection, and leaves closing it to the one that opened it."""
        seen = copy(self)
        seen._tenant, seen._shared_connection = tenant, True
        return seen

    def spaces(self) -> list[SpaceKey]:
        return [(tenant, name) for tenant, name in self._db.read("space.places")]

    def load(
        self,
        space: str,
        turns: Sequence[Turn],
        actions: Sequence[Action],
        entities: Sequence[Entity],
        summaries: Sequence[Summary] = (),
        updates: Sequence[SummaryUpdate] = (),
    ) -> None:
        """Replay an exported space into an empty one. Its index follows like that of any new turn."""
        with self._db.write():
            if self._db.run("space.find", self._space_key(space)).fetchone() is not None:
                raise errors.Conflict(
                    f"user {space!r} already has memories here: import into another user or database"
                )
            thoughts = [thought.id for action in actions for thought in action.after]
            counters = (_last_id(turns), max(thoughts, default=0), _last_id(actions), _last_id(entities))
            number = self._db.run("space.load", (*self._space_key(space), *counters)).fetchone()[0]
            for entity in entities:
                self._db.run("entities.insert", (number, entity.id, entity.name))
                for alias in entity.aliases:
                    self._db.run("aliases.insert", (number, alias, entity.id))
            for turn in turns:
                self._db.run("turns.insert", rows.turn_to_row(number, turn))
            journal = JournalWriter(self._db, number, self.normalise_name)
            for action in actions:
                journal.write(action)
            journal.close()
            for summary in summaries:
                self._db.run("summaries.write", rows.summary_to_row(number, summary))
            for update in updates:
                self._db.run("updates.insert", rows.summary_update_to_row(number, update))

    def stats(self, space: str) -> SpaceStats:
        number = self._find_space(space)
        embedder = self.embedder() or ""
        counts = self._db.read("stats.counts", (number,))[0]
        sizes = [row[0] for row in self._db.read("entries.sizes", (number,))]
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

    def check(self) -> list[str]:
        return self._db.check()

    def close(self) -> None:
        if not self._shared_connection:
            self._db.close()


def _last_id(items: Sequence[Turn] | Sequence[Action] | Sequence[Entity]) -> int:
    return max((item.id for item in items), default=0)
