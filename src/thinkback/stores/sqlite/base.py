"""What every part of the SQLite store shares: the connection, whose spaces it sees, and how one is found."""

from __future__ import annotations

from typing import Any

from thinkback import errors
from thinkback.stores.sqlite.connection import Connection
from thinkback.stores.sqlite.together import Together
from thinkback.text.people.names import normalise

_EPOCHS_A_SPACE = 1 << 24


def epoch_of(number: int, epoch: int) -> int:
    """The epoch readers see: a space erased and made anew has another number, so another epoch."""
    return number * _EPOCHS_A_SPACE + epoch


class Part:
    """Holds the connection and the tenant; the store is the sum of its parts.

    A space is found by tenant and name together, and only here are they joined: everything else goes by the
    number of the space or by `_place`.
    """

    _db: Connection
    _together: Together
    _tenant: str
    alias = staticmethod(normalise)

    def _place(self, space: str) -> tuple[str, str]:
        return (self._tenant, space)

    def _find(self, space: str) -> int | None:
        """The number of a space, None for a user we have not met."""
        rows = self._db.read("space.find", self._place(space))
        return rows[0][0] if rows else None

    def _require(self, space: str, epoch: int | None = None) -> int:
        """The number of a space, inside a write transaction; NotFound for an unknown user.

        With `epoch`: Outdated if the space has another by now, for then its groups, too, are others.
        """
        row: tuple[Any, ...] | None = self._db.run("space.stamp", self._place(space)).fetchone()
        if row is None:
            raise errors.NotFound(f"no memories of user {space!r}")
        number, current, *_ = row
        if epoch is not None and epoch != epoch_of(number, current):
            raise errors.Outdated(f"the index of user {space!r} was rebuilt meanwhile: compute it again")
        return int(number)

    def _require_embedder(self) -> None:
        """Inside a write transaction: another process may have converted the database meanwhile."""
        row = self._db.run("meta.get", ("embedder",)).fetchone()
        adopted = self._db.adopted
        if adopted is not None and (row is None or row[0] != adopted):
            raise errors.EmbedderMismatch(
                f"{self._db.path} was converted from the embedder {adopted!r} to another: open it anew"
            )
