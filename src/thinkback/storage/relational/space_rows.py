"""All rows of a space, as they are: to move it to another database with its index and journal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from thinkback import errors
from thinkback.storage.relational.base import RelationalBase
from thinkback.storage.relational.database import Row

COUNTERS = (
    "last_turn",
    "last_thought",
    "last_action",
    "last_entity",
    "indexed_turn",
    "indexed_thought",
    "version",
    "epoch",
)

# table -> its key within a space, and its other columns; without leases, which belong to running workers
TABLES: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "turns": (
        ("id",),
        (
            "thought_at",
            "attempts",
            "failure",
            "session",
            "key",
            "asker",
            "answerer",
            "at",
            "recorded_at",
            "recalled",
            "query",
            "response",
            "checks",
            "hidden_by",
            "stamp",
            "findings",
        ),
    ),
    "turn_metadata": (("turn",), ("body",)),
    "thoughts": (
        ("id",),
        (
            "entity",
            "subject",
            "relation",
            "objects",
            "sentence",
            "kind",
            "negated",
            "valid_from",
            "valid_to",
            "recorded_at",
            "retired_at",
            "sources",
            "stamp",
        ),
    ),
    "derived": (("turn", "thought"), ()),
    "entities": (("id",), ("name",)),
    "aliases": (("alias",), ("entity",)),
    "actions": (
        ("id",),
        ("action", "reason", "actor", "at", "turn", "undoes", "undone_by", "before", "after", "hides"),
    ),
    "touched": (("thought", "action"), ()),
    "recalls": (("thought",), ("times", "last")),
    "entries": (("kind", "id"), ("embedder", "grp", "vector", "terms", "stamp")),
    "hashings": ((), ("columns", "seed", "learned", "probes", "size", "matrix")),
    "summaries": (("session",), ("version", "turn", "body")),
    "summary_updates": (("session", "version"), ("body",)),
}


class SpaceRowsMixin(RelationalBase):
    """`read_space` and `write_space` of the store."""

    def read_space(self, space: str) -> dict[str, list[Row]]:
        with self._db.snapshot():
            found = self._db.read("space.counters", self._space_key(space))
            if not found:
                raise errors.NotFound(f"user {space!r} has no memories")
            space_id, *counters = found[0]
            tables: dict[str, list[Row]] = {"spaces": [tuple(counters)]}
            for table, (key, columns) in TABLES.items():
                tables[table] = self._db.read_table(table, (*key, *columns), space_id, key)
        return tables

    def write_space(self, space: str, tables: Mapping[str, Sequence[Row]]) -> None:
        with self._db.write():
            if self._db.run("space.find", self._space_key(space)).fetchone() is not None:
                raise errors.Conflict(f"user {space!r} already has memories in {self._db.path}")
            (counters,) = tables["spaces"]
            space_id = self._db.run("space.restore", (*self._space_key(space), *counters)).fetchone()[0]
            for table, (key, columns) in TABLES.items():
                self._db.write_table(table, (*key, *columns), space_id, tables[table])
