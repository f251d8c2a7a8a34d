"""A process that works on a store until it is killed, and prints the acknowledged turns.

    python -m tests.faults.crash_child DATABASE SEED FAILPOINT

A failpoint is `never`, `statement:N` (right before the N-th SQL statement), `before:NAME:N` or `after:NAME:N`
(around the N-th run of a named query, or of `commit`); between two rows of a bulk statement it is `within`.
Each line on standard output is a turn that the store has acknowledged.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import numpy as np
from tests.factories import (
    EMBEDDER,
    forget_operation,
    index_entry,
    insert_operation,
    merge_operation,
    minute,
    new_turn,
    supersede_operation,
    thought_draft,
)

from thinkback.errors import Conflict
from thinkback.index.lsh import assign_groups, random_hashing
from thinkback.storage.sqlite import SqliteStore, connection
from thinkback.storage.sqlite.connection import Connection
from thinkback.types import ClaimedTurn, IndexEntry, Operation, Plan, Turn, VersionStamp

SPACES = ("ann", "bob")
STEPS = 600


class Failpoint:
    """Counts events and kills its own process at the chosen one."""

    def __init__(self, text: str) -> None:
        self.where, _, rest = text.partition(":")
        self.name, _, number = rest.rpartition(":")
        self.left = int(number or 0)

    def pass_by(self, where: str, name: str = "") -> None:
        if (where, name) == (self.where, self.name):
            self.left -= 1
            if self.left == 0:
                os.kill(os.getpid(), signal.SIGKILL)

    def install(self) -> None:
        run, run_many, write, connect = (
            Connection.run,
            Connection.run_many,
            Connection.write,
            Connection._connect,
        )

        def watched_run(db: Connection, name: str, parameters: Sequence[Any] = ()) -> sqlite3.Cursor:
            self.pass_by("before", name)
            cursor = run(db, name, parameters)
            self.pass_by("after", name)
            return cursor

        def watched_rows(name: str, rows: Sequence[Sequence[Any]]) -> Iterator[Sequence[Any]]:
            for row in rows:
                yield row
                self.pass_by("within", name)

        def watched_run_many(db: Connection, name: str, rows: Sequence[Sequence[Any]]) -> None:
            self.pass_by("before", name)
            run_many(db, name, watched_rows(name, rows))  # type: ignore[arg-type]
            self.pass_by("after", name)

        @contextmanager
        def watched_write(db: Connection, **options: bool) -> Iterator[None]:
            with write(db, **options):
                yield
                self.pass_by("before", "commit")
            self.pass_by("after", "commit")

        def watched_connect(db: Connection) -> sqlite3.Connection:
            made = connect(db)
            made.set_trace_callback(lambda _: self.pass_by("statement"))
            return made

        Connection.run = watched_run  # type: ignore[method-assign, assignment]
        Connection.run_many = watched_run_many  # type: ignore[method-assign, assignment]
        Connection.write = watched_write  # type: ignore[method-assign, assignment]
        if self.where == "statement":
            Connection._connect = watched_connect  # type: ignore[method-assign, assignment]


class Life:
    """Random operations on a store; `acknowledge` is called for each stored turn."""

    def __init__(
        self, store: SqliteStore, seed: int, acknowledge: Callable[[str, Turn], None] | None = None
    ) -> None:
        self.store = store
        self.acknowledge = acknowledge
        self.seed = seed
        self.rng = random.Random(seed)
        self.clock = 0

    def step(self) -> None:
        self.clock += 1
        space = self.rng.choice(SPACES)
        if not self.store.turns(space, limit=1):
            return self.append(space)
        steps = (
            self.append,
            self.think,
            self.think,
            self.give_up,
            self.change_mind,
            self.index,
            self.regroup,
        )
        return self.rng.choice(steps)(space)

    def append(self, space: str) -> None:
        count = self.rng.choice((1, 1, 3))
        size = self.rng.choice((10, 10, 500, 9000))
        said = [new_turn(f"{self.seed}/{self.clock}/{n} " + "x" * size, key=None) for n in range(count)]
        for turn in self.store.append(space, said, minute(self.clock)):
            if self.acknowledge:
                self.acknowledge(space, turn)

    def claim(self, space: str) -> list[ClaimedTurn]:
        return self.store.claim(space, self.rng.choice((1, 4)), 0, minute(self.clock))

    def think(self, space: str) -> None:
        for claimed in self.claim(space):
            changes = self.changes(space, claimed.turn.id)
            plan = Plan(turn=claimed.turn.id, lease=claimed.lease, actor="child", operations=changes)
            entries = [index_entry("thought", 0, item.sentence) for item in plan.drafts]
            self.store.apply(space, plan, self.grouped(space, entries), minute(self.clock))

    def changes(self, space: str, turn: int) -> tuple[Operation, ...]:
        held = [thought.id for thought in self.store.thoughts(space, limit=50)]
        told = insert_operation(
            *(thought_draft(f"{turn} tells {n}", turn, subject=f"S{turn // 3}") for n in range(2))
        )
        if len(held) < 2:
            return (told,)
        first, second = self.rng.sample(held, 2)
        more = (
            supersede_operation(thought_draft(f"{turn} new", turn), first),
            merge_operation(thought_draft(f"{turn} both", turn), first, second),
        )
        return told, self.rng.choice((*more, forget_operation(second)))

    def give_up(self, space: str) -> None:
        for claimed in self.claim(space):
            retry_at = None if self.rng.random() < 0.3 else minute(self.clock)
            self.store.release(space, claimed.turn.id, claimed.lease, reason="tired", retry_at=retry_at)
        if self.store.failures(space):
            self.store.retry_failures(space)

    def change_mind(self, space: str) -> None:
        held = self.store.thoughts(space, limit=50)
        if held:
            self.store.retire(space, self.rng.choice(held).id, "mind changed", "child", minute(self.clock))
        for action in self.store.journal(space)[-3:]:
            with suppress(Conflict):
                self.store.undo(space, action.id, "child", minute(self.clock))

    def index(self, space: str) -> None:
        found = self.store.unindexed(space, 20).items
        if found:
            self.store.index(
                space, self.grouped(space, [index_entry(item.kind, item.id, item.text) for item in found])
            )

    def grouped(self, space: str, entries: list[IndexEntry]) -> list[IndexEntry]:
        hashing = self.store.hashing(space)
        if hashing is None or not entries:
            return entries
        groups = assign_groups(hashing, np.stack([item.vector for item in entries]))
        return [
            IndexEntry(e.kind, e.id, e.vector, e.terms, int(g)) for e, g in zip(entries, groups, strict=True)
        ]

    def regroup(self, space: str) -> None:
        delta = self.store.delta(space, VersionStamp())
        if delta.entries:
            vectors = np.stack([item.vector for item in delta.entries])
            hashing = random_hashing(vectors.shape[1], self.rng.choice((2, 4, 8, 16)), self.clock)
            keys = [(item.kind, item.id) for item in delta.entries]
            groups = dict(zip(keys, assign_groups(hashing, vectors).tolist(), strict=True))
            self.store.regroup(space, hashing, groups, delta.stamp)


def say_so(space: str, turn: Turn) -> None:
    os.write(1, (json.dumps([space, turn.id, turn.query[:40]]) + "\n").encode())


def main(path: str, seed: int, failpoint: str) -> None:
    Failpoint(failpoint).install()
    connection.CHECKPOINT_INTERVAL_COMMITS, connection.CHECKPOINT_WAL_BYTES = 7, 1 << 14
    store = SqliteStore(path)
    store.bind_embedder(EMBEDDER)
    os.write(1, b"open\n")
    life = Life(store, seed, say_so)
    for _ in range(STEPS):
        life.step()
    store.close()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3])
