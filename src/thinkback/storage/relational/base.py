"""Base class of the mixins that make up a relational store: connection, tenant and lookup of spaces."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from thinkback import errors
from thinkback.language.names import normalise_name
from thinkback.storage.relational.database import Cursor, Database
from thinkback.types import VersionStamp

_EPOCHS_PER_SPACE = 1 << 24
_Result = TypeVar("_Result")


def global_epoch(space_id: int, epoch: int) -> int:
    """An epoch that is unique across spaces, so that a space erased and created again gets a new one."""
    return space_id * _EPOCHS_PER_SPACE + epoch


def split_epoch(epoch: int) -> tuple[int, int]:
    """The row id of the space and its own epoch, from the epoch that is unique across spaces."""
    return divmod(epoch, _EPOCHS_PER_SPACE)


def stamp_from_row(row: Sequence[Any]) -> VersionStamp:
    """The stamp of a space from its id, epoch, version, and whether anything is unindexed."""
    space_id, epoch, version, has_unindexed = row
    return VersionStamp(global_epoch(space_id, epoch), version, bool(has_unindexed))


class RelationalBase(ABC):
    """Connection, tenant and lookup of spaces.

    All queries identify a space by its row id (`space_id`) or by `_space_key`. Both include the tenant, so no
    query can reach the space of another tenant.
    """

    _db: Database
    _tenant: str
    normalise_name = staticmethod(normalise_name)

    @abstractmethod
    def _write_shared(self, work: Callable[[], _Result]) -> _Result:
        """Run `work` in a transaction that may be shared with other threads. Returns once it is durable."""

    def _space_key(self, space: str) -> tuple[str, str]:
        return (self._tenant, space)

    def _find_space(self, space: str) -> int | None:
        """The row id of a space, or None if it does not exist."""
        rows = self._db.read("space.find", self._space_key(space))
        return rows[0][0] if rows else None

    def _require_space(self, space: str, epoch: int | None = None) -> int:
        """The row id of a space, locked against other writers. Call it inside a write transaction.

        Raises:
            NotFound: the user has no memories.
            ConcurrentUpdate: the space is no longer at `epoch`, so computed groups are invalid.
        """
        return self._locked_space(self._db.run("space.lock", self._space_key(space)), space, epoch)

    def _locked_space(self, lock: Cursor, space: str, epoch: int | None) -> int:
        """The answer to the statement `space.lock`."""
        return self._checked_space(lock, space, epoch)[0]

    def _checked_space(self, locked: Cursor, space: str, epoch: int | None) -> tuple[int, VersionStamp]:
        """The row id and the stamp of a space, from the answer to a statement that locks it."""
        row: tuple[Any, ...] | None = locked.fetchone()
        if row is None:
            raise errors.NotFound(f"user {space!r} has no memories")
        stamp = stamp_from_row(row)
        if epoch is not None and epoch != stamp.epoch:
            raise errors.ConcurrentUpdate(
                f"the index of user {space!r} was rebuilt meanwhile: compute it again"
            )
        return int(row[0]), stamp

    def _check_embedder(self, lock: Cursor) -> None:
        """Check, inside a write transaction, that no process has converted the database meanwhile.

        `lock` is the answer to the statement `meta.lock`.
        """
        row = lock.fetchone()
        bound = self._db.bound_embedder
        if bound is not None and (row is None or row[0] != bound):
            raise errors.EmbedderMismatch(
                f"{self._db.path} was converted from embedder {bound!r} to another one: open it again"
            )
