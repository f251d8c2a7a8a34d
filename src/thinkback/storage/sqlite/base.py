"""What every part of the SQLite store shares: the connection, whose spaces it sees, and how one is found."""

from __future__ import annotations

from typing import Any

from thinkback import errors
from thinkback.language.names import normalise_name
from thinkback.storage.sqlite.connection import Connection
from thinkback.storage.sqlite.group_commit import GroupCommit

_EPOCHS_PER_SPACE = 1 << 24


def global_epoch(number: int, epoch: int) -> int:
    """The epoch readers see: a space erased and made anew has another number, so another epoch."""
    return number * _EPOCHS_PER_SPACE + epoch


class SqliteBase:
    """Holds the connection and the tenant; the store is the sum of its parts.

    A space is found by tenant and name together, and only here are they joined: everything else goes by the
    number of the space or by `_space_key`.
    """

    _db: Connection
    _group_commit: GroupCommit
    _tenant: str
    normalise_name = staticmethod(normalise_name)

    def _space_key(self, space: str) -> tuple[str, str]:
        return (self._tenant, space)

    def _find_space(self, space: str) -> int | None:
        """The number of a space, None for a user we have not met."""
        rows = self._db.read("space.find", self._space_key(space))
        return rows[0][0] if rows else None

    def _require_space(self, space: str, epoch: int | None = None) -> int:
        """The number of a space, inside a write transaction; NotFound for an unknown user.

        With `epoch`: Outdated if the space has another by now, for then its groups, too, are others.
        """
        row: tuple[Any, ...] | None = self._db.run("space.stamp", self._space_key(space)).fetchone()
        if row is None:
            raise errors.NotFound(f"no memories of user {space!r}")
        number, current, *_ = row
        if epoch is not None and epoch != global_epoch(number, current):
            raise errors.ConcurrentUpdate(
                f"the index of user {space!r} was rebuilt meanwhile: compute it again"
            )
        return int(number)

    def _require_embedder(self) -> None:
        """Inside a write transaction: another process may have converted the database meanwhile."""
        row = self._db.run("meta.get", ("embedder",)).fetchone()
        adopted = self._db.bound_embedder
        if adopted is not None and (row is None or row[0] != adopted):
            raise errors.EmbedderMismatch(
                f"{self._db.path} was converted from the embedder {adopted!r} to another: open it anew"
            )
