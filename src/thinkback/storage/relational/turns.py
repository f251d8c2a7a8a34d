"""The memory bank and the post-think queue: a pending turn is a row whose `thought_at` is empty."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Sequence
from dataclasses import fields
from datetime import datetime, timedelta

from thinkback import errors
from thinkback.storage.relational import rows
from thinkback.storage.relational.base import RelationalBase
from thinkback.times import to_micros
from thinkback.types import ClaimedTurn, NewTurn, SpaceKey, ThinkFailure, Turn

_CLAIM_CANDIDATES = 16  # spaces that a claim tries, because other workers may be claiming the first ones
_NEW_TURN_FIELDS = tuple(field.name for field in fields(NewTurn))


def stored_turn(item: NewTurn, id_: int, now: datetime) -> Turn:
    """A new turn with its id."""
    return Turn(id=id_, recorded_at=now, **{name: getattr(item, name) for name in _NEW_TURN_FIELDS})


class TurnsMixin(RelationalBase):
    """`TurnStore`."""

    def append(self, space: str, new_turns: Sequence[NewTurn], now: datetime) -> list[Turn]:
        """Store turns. Concurrent calls of several threads share one commit."""
        return self._write_shared(lambda: self._append(space, new_turns, now))

    def turns(
        self,
        space: str,
        *,
        ids: Sequence[int] | None = None,
        session: str | None = None,
        after: int = 0,
        limit: int | None = None,
        newest: bool = False,
        hidden: bool = False,
    ) -> list[Turn]:
        if ids is not None:
            return [
                rows.turn_from_row(row)
                for row in self._db.read("turns.of_user", (*self._space_key(space), rows.ids_to_json(ids)))
            ]
        space_id = self._find_space(space)
        if space_id is None:
            return []
        max_rows = rows.NO_LIMIT if limit is None else limit
        if session is None:
            records = self._db.read(
                "turns.newest" if newest else "turns.select", (space_id, after, max_rows, hidden)
            )
        else:
            query = "turns.newest_in_session" if newest else "turns.select_in_session"
            records = self._db.read(query, (space_id, after, max_rows, session, hidden))
        found = [rows.turn_from_row(row) for row in (reversed(records) if newest else records)]
        return rows.in_order("turns", found, after)

    def sessions(self, space: str) -> list[str]:
        space_id = self._find_space(space)
        return [] if space_id is None else [row[0] for row in self._db.read("turns.sessions", (space_id,))]

    def _append(self, space: str, new_turns: Sequence[NewTurn], now: datetime) -> list[Turn]:
        if any(item.key is not None for item in new_turns):
            self._db.run("space.lock", self._space_key(space))  # against another writer with the same key
        return [self._find_by_key(space, item) or self._insert(space, item, now) for item in new_turns]

    def _insert(self, space: str, item: NewTurn, now: datetime) -> Turn:
        counted = self._db.run("space.next_turn", self._space_key(space)).fetchone()
        space_id, id_ = rows.require_row("spaces", counted)
        turn = stored_turn(item, id_, now)
        self._db.run("turns.insert", rows.turn_to_row(space_id, turn))
        return turn

    def _find_by_key(self, space: str, item: NewTurn) -> Turn | None:
        """The turn stored before under the same key, if any.

        Raises:
            Conflict: it has another text.
        """
        if item.key is None:
            return None
        row = self._db.run("turns.by_key", (*self._space_key(space), item.key)).fetchone()
        if row is None:
            return None
        turn = rows.turn_from_row(row)
        if (turn.query, turn.response) != (item.query, item.response):
            raise errors.Conflict(
                f"key {item.key!r} is already used by {turn.ref} with another text: use a new key"
            )
        return turn


class QueueMixin(RelationalBase):
    """`ThinkQueue`."""

    def claim(self, space: str | None, limit: int, lease_seconds: float, now: datetime) -> list[ClaimedTurn]:
        """Turns are claimed in order, so a space is blocked while its first pending turn is leased."""
        if self.pending(space) == 0:
            return []
        with self._db.write():
            for name in self._claimable_spaces(now) if space is None else (space,):
                if space is None and self._db.run("queue.try_lock", self._space_key(name)).fetchone() is None:
                    continue  # another worker is claiming it
                if space is not None:
                    self._db.run("space.lock", self._space_key(name))
                head = self._db.run("queue.head", (self._tenant, name, to_micros(now))).fetchone()
                if head is not None:
                    return self._claim_from(head[0], name, limit, now + timedelta(seconds=lease_seconds))
        return []

    def _claim_from(self, space_id: int, space: str, limit: int, until: datetime) -> list[ClaimedTurn]:
        lease = secrets.token_hex(8)
        taken = self._db.run("queue.claim", (space_id, lease, to_micros(until), limit)).fetchall()
        claimed = [ClaimedTurn(space, rows.turn_from_row(row), lease, attempts=row[-1]) for row in taken]
        return sorted(claimed, key=lambda item: item.turn.id)

    def renew(self, space: str, lease: str, lease_seconds: float, now: datetime) -> bool:
        with self._db.write(derived=True):
            until = to_micros(now + timedelta(seconds=lease_seconds))
            return self._db.run("queue.renew", (*self._space_key(space), lease, until)).rowcount > 0

    def wait_for_turns(self, seconds: float, stop: threading.Event) -> None:
        stop.wait(seconds)

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
            space_id = self._require_space(space)
            if retry_at is None:
                self._db.run("queue.dead_letter", (space_id, turn, lease, reason))
            else:
                self._db.run("queue.release", (space_id, turn, lease, to_micros(retry_at), count_attempt))

    def pending(self, space: str | None) -> int:
        if space is None:
            return int(self._db.read("queue.pending_of_tenant", (self._tenant,))[0][0])
        return int(self._db.read("queue.pending", self._space_key(space))[0][0])

    def pending_spaces(self, now: datetime) -> list[SpaceKey]:
        records = self._db.read("queue.pending_spaces", (None, to_micros(now), rows.NO_LIMIT))
        return [(tenant, name) for tenant, name in records]

    def backlog(self) -> int:
        return int(self._db.read("queue.backlog")[0][0])

    def failures(self, space: str) -> list[ThinkFailure]:
        space_id = self._find_space(space)
        if space_id is None:
            return []
        return [ThinkFailure(*row) for row in self._db.read("queue.failures", (space_id,))]

    def retry_failures(self, space: str) -> int:
        with self._db.write():
            return self._db.run("queue.retry", (self._require_space(space),)).rowcount

    def _claimable_spaces(self, now: datetime) -> list[str]:
        """The spaces of this tenant whose first pending turn has waited longest and is not leased."""
        parameters = (self._tenant, to_micros(now), _CLAIM_CANDIDATES)
        return [name for _, name in self._db.run("queue.pending_spaces", parameters).fetchall()]
