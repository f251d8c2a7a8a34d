"""Keys as rows: of a secret there is only a digest."""

from __future__ import annotations

from datetime import datetime

from thinkback import errors
from thinkback.stores.sqlite import rows
from thinkback.stores.sqlite.base import Part
from thinkback.times import micros
from thinkback.types import Key

KEYED = "keyed"  # in meta from the first key on, whatever becomes of it


class Keys(Part):
    def add_key(self, key: Key) -> None:
        with self._db.write():
            if not self._db.run("keys.insert", rows.key_row(key)).rowcount:
                raise errors.Conflict(f"there is a key {key.id!r} already: make another")
            self._db.run("meta.set", (KEYED, "yes"))

    def keyed(self) -> bool:
        return bool(self._db.read("meta.get", (KEYED,)))

    def key(self, id_: str) -> Key | None:
        found = self._db.read("keys.find", (id_,))
        return rows.key(found[0]) if found else None

    def keys(self, tenant: str | None = None) -> list[Key]:
        return [rows.key(row) for row in self._db.read("keys.select", (tenant,))]

    def revoke_key(self, id_: str, now: datetime) -> Key:
        with self._db.write():
            found = self._db.run("keys.revoke", (id_, micros(now))).fetchall()
        if not found:
            raise errors.NotFound(f"no key {id_!r}: thinkback keys list shows them")
        return rows.key(found[0])
