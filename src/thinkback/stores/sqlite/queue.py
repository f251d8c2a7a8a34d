"""Post-think work: the bank is the queue, with leases, attempts and dead letters on the turn's own row."""

from __future__ import annotations

import secrets
from datetime import datetime, timedelta

from thinkback.stores.sqlite import rows
from thinkback.stores.sqlite.base import Part
from thinkback.times import micros
from thinkback.types import Claimed, Failure, Place


class Queue(Part):
    def claim(self, space: str | None, limit: int, lease_s: float, now: datetime) -> list[Claimed]:
        """Turns are taken from the head of a space, so a leased (or waiting) head holds the whole space."""
        if self.pending(space) == 0:
            return []
        with self._db.write():
            name = self._longest_waiting(now) if space is None else space
            head = self._db.run("queue.head", (self._tenant, name, micros(now))).fetchone()
            if name is None or head is None:
                return []
            number = head[0]
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
        if space is None:
            return int(self._db.read("queue.pending_of_tenant", (self._tenant,))[0][0])
        return int(self._db.read("queue.pending", (self._find(space),))[0][0])

    def waiting(self, now: datetime) -> list[Place]:
        found = self._db.read("queue.waiting", (None, micros(now), rows.ALL))
        return [(tenant, name) for tenant, name in found]

    def backlog(self) -> int:
        return int(self._db.read("queue.backlog")[0][0])

    def failures(self, space: str) -> list[Failure]:
        number = self._find(space)
        return [] if number is None else [Failure(*row) for row in self._db.read("queue.failures", (number,))]

    def retry_failures(self, space: str) -> int:
        with self._db.write():
            return self._db.run("queue.retry", (self._require(space),)).rowcount

    def _longest_waiting(self, now: datetime) -> str | None:
        """The space of this tenant whose oldest turn has waited longest and may be taken now."""
        found = self._db.run("queue.waiting", (self._tenant, micros(now), 1)).fetchone()
        return None if found is None else found[1]
