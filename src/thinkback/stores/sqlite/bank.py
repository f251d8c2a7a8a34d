"""The memory bank: immutable turns in sequence, durable before they are acknowledged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from datetime import datetime

from thinkback import errors
from thinkback.stores.sqlite import rows
from thinkback.stores.sqlite.base import Part
from thinkback.types import Said, Turn

_SAID = tuple(field.name for field in fields(Said))


class Bank(Part):
    def append(self, space: str, said: Sequence[Said], now: datetime) -> list[Turn]:
        """Turns that several threads append at once are made durable at once."""
        return self._together.write(
            lambda: [self._earlier(space, item) or self._insert(space, item, now) for item in said]
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
                rows.turn(row)
                for row in self._db.read("turns.of_user", (*self._place(space), rows.ids_json(ids)))
            ]
        number = self._find(space)
        if number is None:
            return []
        most = rows.ALL if limit is None else limit
        if session is None:
            found = self._db.read("turns.newest" if newest else "turns.select", (number, after, most))
        else:
            query = "turns.newest_in_session" if newest else "turns.select_in_session"
            found = self._db.read(query, (number, after, most, session))
        return [rows.turn(row) for row in (reversed(found) if newest else found)]

    def sessions(self, space: str) -> list[str]:
        number = self._find(space)
        return [] if number is None else [row[0] for row in self._db.read("turns.sessions", (number,))]

    def _insert(self, space: str, item: Said, now: datetime) -> Turn:
        number, id_ = self._db.run("space.next_turn", self._place(space)).fetchone()
        turn = Turn(id=id_, recorded_at=now, **{name: getattr(item, name) for name in _SAID})
        self._db.run("turns.insert", rows.turn_row(number, turn))
        return turn

    def _earlier(self, space: str, item: Said) -> Turn | None:
        """The turn this key made before; the same key with other words is a mistake that must not pass."""
        if item.key is None:
            return None
        row = self._db.run("turns.by_key", (*self._place(space), item.key)).fetchone()
        if row is None:
            return None
        turn = rows.turn(row)
        if (turn.query, turn.response) != (item.query, item.response):
            raise errors.Conflict(
                f"key {item.key!r} already names {turn.ref} with other text: use a new key for a new turn"
            )
        return turn
