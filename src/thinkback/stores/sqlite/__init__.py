"""The embedded store: one SQLite file of many spaces, of many tenants."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy

from thinkback import errors
from thinkback.stores.sqlite import rows
from thinkback.stores.sqlite.bank import Bank
from thinkback.stores.sqlite.connection import Connection
from thinkback.stores.sqlite.entries import Entries
from thinkback.stores.sqlite.erase import Erasure
from thinkback.stores.sqlite.journal import Journal
from thinkback.stores.sqlite.keys import Keys
from thinkback.stores.sqlite.queue import Queue
from thinkback.stores.sqlite.space import Space
from thinkback.stores.sqlite.summaries import Summaries
from thinkback.stores.sqlite.together import Together
from thinkback.types import Action, Entity, Place, Stats, Summary, SummaryUpdate, Turn


class SqliteStore(Bank, Queue, Space, Summaries, Entries, Erasure, Keys):
    """`path` is a file, or `:memory:` for a store that ends with the process."""

    def __init__(self, path: str) -> None:
        self._db = Connection(path)
        self._together = Together(self._db)
        self._tenant = ""
        self._lent = False

    @property
    def tenant(self) -> str:
        return self._tenant

    def of_tenant(self, tenant: str) -> SqliteStore:
        """Shares the connection, and leaves closing it to the one that opened it."""
        seen = copy(self)
        seen._tenant, seen._lent = tenant, True
        return seen

    def spaces(self) -> list[Place]:
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
            if self._db.run("space.find", self._place(space)).fetchone() is not None:
                raise errors.Conflict(
                    f"user {space!r} already has memories here: import into another user or database"
                )
            thoughts = [thought.id for action in actions for thought in action.after]
            counters = (_last(turns), max(thoughts, default=0), _last(actions), _last(entities))
            number = self._db.run("space.load", (*self._place(space), *counters)).fetchone()[0]
            for entity in entities:
                self._db.run("entities.insert", (number, entity.id, entity.name))
                for alias in entity.aliases:
                    self._db.run("aliases.insert", (number, alias, entity.id))
            for turn in turns:
                self._db.run("turns.insert", rows.turn_row(number, turn))
            journal = Journal(self._db, number, self.alias)
            for action in actions:
                journal.write(action)
            journal.close()
            for summary in summaries:
                self._db.run("summaries.write", rows.summary_row(number, summary))
            for update in updates:
                self._db.run("updates.insert", rows.update_row(number, update))

    def stats(self, space: str) -> Stats:
        number = self._find(space)
        embedder = self.embedder() or ""
        counts = self._db.read("stats.counts", (number,))[0]
        sizes = [row[0] for row in self._db.read("entries.sizes", (number,))]
        turns, thoughts, retired, entities, actions, pending, failed = counts
        return Stats(
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
        if not self._lent:
            self._db.close()


def _last(items: Sequence[Turn] | Sequence[Action] | Sequence[Entity]) -> int:
    return max((item.id for item in items), default=0)
