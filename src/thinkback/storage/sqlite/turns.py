"""The memory bank and the post-think queue: a pending turn is a row whose `thought_at` is empty."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import fields
from datetime import datetime, timedelta

from thinkback import errors
from thinkback.storage.sqlite import rows
from thinkback.storage.sqlite.base import SqliteBase
from thinkback.times import to_micros
from thinkback.types import ClaimedTurn, NewTurn, SpaceKey, ThinkFailure, Turn

_NEW_TURN_FIELDS = tuple(field.name for field in fields(NewTurn))


class TurnsMixin(SqliteBase):
    def append(self, space: str, new_turns: Sequence[NewTurn], now: datetime) -> list[Turn]:
        """Turns that several threads append at once are made durable at once."""
        return self._group_commit.write(
            lambda: [self._find_by_key(space, item) or self._insert(space, item, now) for item in new_turns]
        )

    def turns(
        self,
        space: str,
        *,
        ids: Sequence[int] | None = None,
        session: str | None = None,
        after: int = 0,
        limit: int | None = None,
        newest: bool = False,
    ) -> list[Turn]:
        if ids is not None:
            return [
                rows.turn_from_row(row)
                for row in self._db.read("turns.of_user", (*self._space_key(space), rows.ids_to_json(ids)))
            ]
        number = self._find_space(space)
        if number is None:
            return []
        most = rows.NO_LIMIT if limit is None else limit
        if session is None:
            found = self._db.read("turns.newest" if newest else "turns.select", (number, after, most))
        else:
            query = "turns.newest_in_session" if newest else "turns.select_in_session"
            found = self._db.read(query, (number, after, most, session))
        return [rows.turn_from_row(row) for row in (reversed(found) if newest else found)]

    def sessions(self, space: str) -> list[str]:
        number = self._find_space(space)
        return [] if number is None else [row[0] for row in self._db.read("turns.sessions", (number,))]

    def _insert(self, space: str, item: NewTurn, now: datetime) -> Turn:
        number, id_ = self._db.run("space.next_turn", self._space_key(space)).fetchone()
        turn = Turn(id=id_, recorded_at=now, **{name: getattr(item, name) for name in _NEW_TURN_FIELDS})
        self._db.run("turns.insert", rows.turn_to_row(number, turn))
        return turn

    def _find_by_key(self, space: str, item: NewTurn) -> Turn | None:
        """The turn this key made before; the same key with other words is a mistake that must not pass."""
        if item.key is None:
            return None
        row = self._db.run("turns.by_key", (*self._space_key(space), item.key)).fetchone()
        if row is None:
            return None
        turn = rows.turn_from_row(row)
        if (turn.query, turn.response) != (item.query, item.response):
            raise errors.Conflict(
                f"key {item.key!r} already names {turn.ref} with other text: use a new key for a new turn"
            )
        return turn


class QueueMixin(SqliteBase):
    def claim(self, space: str | None, limit: int, lease_seconds: float, now: datetime) -> list[ClaimedTurn]:
        """Turns are taken from the head of a space, so a leased (or waiting) head holds the whole space."""
        if self.pending(space) == 0:
            return []
        with self._db.write():
            name = self._next_pending_space(now) if space is None else space
            head = self._db.run("queue.head", (self._tenant, name, to_micros(now))).fetchone()
            if name is None or head is None:
                return []
            number = head[0]
            lease = secrets.token_hex(8)
            until = to_micros(now + timedelta(seconds=lease_seconds))
            taken = self._db.run("queue.claim", (number, lease, until, limit)).fetchall()
        claimed = [ClaimedTurn(name, rows.turn_from_row(row), lease, attempts=row[-1]) for row in taken]
        return sorted(claimed, key=lambda item: item.turn.id)

    def release(
        self,
        space: str,
        turn: int,
        lease: str,
        *,
        reason: str,
        retry_at: datetime | None,
        count_attempt: bool = True,
    ) -> None:
        with self._db.write():
            number = self._require_space(space)
            if retry_at is None:
                self._db.run("queue.bury", (number, turn, lease, reason))
            else:
                self._db.run("queue.release", (number, turn, lease, to_micros(retry_at), count_attempt))

    def pending(self, space: str | None) -> int:
        if space is None:
            return int(self._db.read("queue.pending_of_tenant", (self._tenant,))[0][0])
        return int(self._db.read("queue.pending", (self._find_space(space),))[0][0])

    def pending_spaces(self, now: datetime) -> list[SpaceKey]:
        found = self._db.read("queue.waiting", (None, to_micros(now), rows.NO_LIMIT))
        return [(tenant, name) for tenant, name in found]

    def backlog(self) -> int:
        return int(self._db.read("queue.backlog")[0][0])

    def failures(self, space: str) -> list[ThinkFailure]:
        number = self._find_space(space)
        return (
            []
            if number is None
            else [ThinkFailure(*row) for row in self._db.read("queue.failures", (number,))]
        )

    def retry_failures(self, space: str) -> int:
        with self._db.write():
            return self._db.run("queue.retry", (self._require_space(space),)).rowcount

    def _next_pending_space(self, now: datetime) -> str | None:
        """The space of this tenant whose oldest turn has waited longest and may be taken now."""
        found = self._db.run("queue.waiting", (self._tenant, to_micros(now), 1)).fetchone()
        return None if found is None else found[1]
