"""Keys as rows: of a secret there is only a digest."""

from __future__ import annotations

from datetime import datetime

from thinkback import errors
from thinkback.storage.sqlite import rows
from thinkback.storage.sqlite.base import SqliteBase
from thinkback.times import to_micros
from thinkback.types import ApiKey

KEYS_REQUIRED = "keyed"  # in meta from the first key on, whatever becomes of it


class ApiKeysMixin(SqliteBase):
    def add_key(self, key: ApiKey) -> None:
        with self._db.write():
            if not self._db.run("keys.insert", rows.key_to_row(key)).rowcount:
                raise errors.Conflict(f"there is a key {key.id!r} already: make another")
            self._db.run("meta.set", (KEYS_REQUIRED, "yes"))

    def requires_keys(self) -> bool:
        return bool(self._db.read("meta.get", (KEYS_REQUIRED,)))

    def key(self, id_: str) -> ApiKey | None:
        found = self._db.read("keys.find", (id_,))
        return rows.key_from_row(found[0]) if found else None

    def keys(self, tenant: str | None = None) -> list[ApiKey]:
        return [rows.key_from_row(row) for row in self._db.read("keys.select", (tenant,))]

    def revoke_key(self, id_: str, now: datetime) -> ApiKey:
        with self._db.write():
            found = self._db.run("keys.revoke", (id_, to_micros(now))).fetchall()
        if not found:
            raise errors.NotFound(f"no key {id_!r}: thinkback keys list shows them")
        return rows.key_from_row(found[0])
