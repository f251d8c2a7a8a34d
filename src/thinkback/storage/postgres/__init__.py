"""`PostgresStore`: one PostgreSQL database for any number of servers and workers (docs/postgres.md)."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, TypeVar

from thinkback import errors
from thinkback.errors import MissingExtra

try:
    import psycopg  # noqa: F401  # the modules below need it
except ImportError as error:
    raise MissingExtra("PostgreSQL", "postgres") from error

from thinkback.storage.postgres.connection import PostgresDatabase
from thinkback.storage.postgres.hnsw import HnswIndexes
from thinkback.storage.postgres.migrate import migrate, require_server
from thinkback.storage.postgres.notifications import TurnListener, TurnNotifier
from thinkback.storage.postgres.scrub import Scrub
from thinkback.storage.postgres.url import parse_url
from thinkback.storage.relational import rows
from thinkback.storage.relational.base import split_epoch, stamp_from_row
from thinkback.storage.relational.index_rows import entry_to_row
from thinkback.storage.relational.store import RelationalStore
from thinkback.storage.relational.turns import stored_turn
from thinkback.types import (
    EraseResult,
    IndexEntry,
    ItemKind,
    NearestRows,
    NewTurn,
    Turn,
    VersionStamp,
)

if TYPE_CHECKING:
    from thinkback.types import Vector

_Result = TypeVar("_Result")


class PostgresStore(RelationalStore):
    """A store in the database `url`: a URL of libpq, with the options of `PostgresUrl`."""

    _db: PostgresDatabase

    def __init__(self, url: str) -> None:
        parsed = parse_url(url)
        self._db = PostgresDatabase(parsed)
        self._tenant = ""
        self._notifier = TurnNotifier()
        self._listener = TurnListener(parsed.conninfo)
        self._scrub = Scrub(self._db, parsed.vacuum_limit_mb << 20)
        self._hnsw = HnswIndexes(parsed.hnsw_min_rows)
        try:
            require_server(self._db.primary, self._db.path)
            migrate(self._db.primary, self._db.path)
        except BaseException:
            self._db.close()
            raise

    def erasures_pending(self) -> bool:
        return self._scrub.is_pending()

    def finish_erasures(self) -> bool:
        return self._scrub.resume()

    def wait_for_turns(self, seconds: float, stop: threading.Event) -> None:
        deadline = time.monotonic() + seconds
        while not stop.is_set() and (left := deadline - time.monotonic()) > 0:
            if self._listener.wait(min(left, 0.5), stop):
                return

    def backup(self, path: str) -> None:
        raise errors.InvalidInput(
            f"thinkback backup copies SQLite files. For {self._db.path} use pg_dump: "
            f"pg_dump --format=custom --file={path} URL; restore it with pg_restore"
        )

    def close(self) -> None:
        if not self._shared_connection:
            self._listener.close()
            self._db.close()

    def append(self, space: str, new_turns: Sequence[NewTurn], now: datetime) -> list[Turn]:
        """Store turns. A single one without a key needs one statement."""
        if len(new_turns) != 1 or new_turns[0].key is not None:
            return super().append(space, new_turns, now)
        turn = stored_turn(new_turns[0], 0, now)
        _, _, *values = rows.turn_to_row(0, turn)
        row = self._db.write_one("turns.append", (space, *values), self._notifier.due_channel())
        return [replace(turn, id=rows.require_row("turns", row)[0])]

    def index(self, space: str, entries: Sequence[IndexEntry], epoch: int | None = None) -> VersionStamp:
        """Write index entries. A single one of a known epoch needs one statement."""
        embedder = self._db.bound_embedder
        if len(entries) != 1 or epoch is None or embedder is None:
            return super().index(space, entries, epoch)
        key, (entry,) = (*self._space_key(space), *split_epoch(epoch), embedder), entries
        try:
            row = self._db.write_one("entries.add_one", (*key, *entry_to_row(entry)), None)
        except errors.IntegrityError:  # converted to another embedder
            row = None
        # What follows tells why it was refused.
        return super().index(space, entries, epoch) if row is None else stamp_from_row(row[:4])

    def _write_shared(self, work: Callable[[], _Result]) -> _Result:
        """Run `work` in its own transaction: PostgreSQL itself joins the commits of several connections."""
        try:
            return self._in_transaction(work)
        except errors.IntegrityError:  # two first turns with the same key: the second one finds it now
            return self._in_transaction(work)

    def _in_transaction(self, work: Callable[[], _Result]) -> _Result:
        with self._db.write_and_notify(self._notifier.due_channel()):
            return work()

    def nearest(
        self, space: str, kind: ItemKind, vector: Vector, limit: int, size: int
    ) -> NearestRows | None:
        return self._hnsw.nearest(self._db, self._space_key(space), kind, vector, limit, size)

    def extend_search_index(self, space: str, kind: ItemKind, size: int) -> None:
        self._hnsw.extend(self._db, self._space_key(space), kind, size)

    def _scrubbed(self, erased: EraseResult) -> EraseResult:
        self._hnsw.drop_unused(self._db)
        reason = self._scrub.run()
        return erased if reason is None else replace(erased, bytes_pending=True, pending_reason=reason)
