"""Post-think work: the bank is the queue, with leases, attempts and dead letters on the turn's own row."""

from __future__ import annotations

import secrets
from datetime import datetime, timedelta

from thinkback.stores.sqlite import rows
from thinkback.stores.sqlite.base import Part
from thinkback.times import micros
from thinkback.types import Claimed, Failure


class Queue(Part):
    def claim(self, space: str | None, limit: int, lease_s: float, now: datetime) -> list[Claimed]:
        """Turns are taken from the head of a space, so a leased (or waiting) head holds the whole space."""
        if self.pending(space) == 0:
            return []
        with self._db.write():
            head = self._db.run("queue.head", (space, micros(now))).fetchone()
            if head is None:
                return []
            number, name = head
            lease = secrets.token_hex(8)
            until = micros(now + timedelta(seconds=lease_s))
            taken = self._db.run("queue.claim", (number, lease, until, limit)).fetchall()
        claimed = [Claimed(name, rows.turn(row), lease, attempts=row[-1]) for row in taken]
        return sorted(claimed, key=lambda item: item.turn.id)

    def release(
        self, space: str, turn: int, lease: str, *, reason: str, retry_at: datetime | None, spent: bool = True
    ) -> None:
        with self._db.write():
            number = self._require(space)
            if retry_at is None:
                self._db.run("queue.bury", (number, turn, lease, reason))
            else:
                self._db.run("queue.release", (number, turn, lease, micros(retry_at), spent))

    def pending(self, space: str | None) -> int:
        number = None if space is None else self._find(space)
        if space is not None and number is None:
            return 0
        return int(self._db.read("queue.pending", (number,))[0][0])

    def backlog(self) -> int:
        return int(self._db.read("queue.backlog")[0][0])

    def failures(self, space: str) -> list[Failure]:
        number = self._find(space)
        return [] if number is None else [Failure(*row) for row in self._db.read("queue.failures", (number,))]

    def retry_failures(self, space: str) -> int:
        with self._db.write():
            return self._db.run("queue.retry", (self._require(space),)).rowcount
