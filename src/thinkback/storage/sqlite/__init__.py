"""`SqliteStore`: the embedded database, one SQLite file for all tenants and users."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from thinkback import errors
from thinkback.storage.relational.store import RelationalStore
from thinkback.storage.sqlite.backup import write_backup
from thinkback.storage.sqlite.connection import Connection
from thinkback.storage.sqlite.group_commit import GroupCommit
from thinkback.storage.sqlite.scrubber import Scrubber, pending_reason
from thinkback.types import EraseResult

_Result = TypeVar("_Result")


class SqliteStore(RelationalStore):
    """A store in the file `path`, or in memory for `:memory:`."""

    _db: Connection

    def __init__(self, path: str) -> None:
        self._db = Connection(path)
        self._group_commit = GroupCommit(self._db)
        self._scrubber = Scrubber(self._db)
        self._scrubber.resume()  # opening has tried once, without waiting
        self._tenant = ""

    def erasures_pending(self) -> bool:
        return self._db.needs_scrub()

    def finish_erasures(self) -> bool:
        return self._scrubber.resume()

    def backup(self, path: str) -> None:
        write_backup(self._db, Path(path))

    def close(self) -> None:
        if not self._shared_connection:
            self._scrubber.stop()
            self._db.close()

    def _write_shared(self, work: Callable[[], _Result]) -> _Result:
        return self._group_commit.write(work)

    def _scrubbed(self, erased: EraseResult) -> EraseResult:
        try:
            self._db.scrub()
        except errors.StoreError as error:
            self._scrubber.resume()
            return replace(erased, bytes_pending=True, pending_reason=pending_reason(error))
        return erased
