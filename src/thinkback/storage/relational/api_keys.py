"""API keys. Only digests of the secrets are stored."""

from __future__ import annotations

from datetime import datetime

from thinkback import errors
from thinkback.storage.relational import rows
from thinkback.storage.relational.base import RelationalBase
from thinkback.times import to_micros
from thinkback.types import ApiKey

KEYS_REQUIRED = "keyed"  # flag in table meta, set with the first key and never removed


class ApiKeysMixin(RelationalBase):
    """`ApiKeyStore`."""

    def add_key(self, key: ApiKey) -> None:
        with self._db.write():
            if not self._db.run("keys.insert", rows.key_to_row(key)).rowcount:
                raise errors.Conflict(f"key {key.id!r} already exists: create another")
            self._db.run("meta.set", (KEYS_REQUIRED, "yes"))

    def requires_keys(self) -> bool:
        return bool(self._db.read("meta.get", (KEYS_REQUIRED,)))

    def require_keys(self) -> None:
        with self._db.write():
            self._db.run("meta.set", (KEYS_REQUIRED, "yes"))

    def key(self, id_: str) -> ApiKey | None:
        records = self._db.read("keys.find", (id_,))
        return rows.key_from_row(records[0]) if records else None

    def keys(self, tenant: str | None = None) -> list[ApiKey]:
        return [rows.key_from_row(row) for row in self._db.read("keys.select", (tenant,))]

    def delete_key(self, id_: str) -> None:
        with self._db.write():
            self._db.run("keys.delete", (id_,))

    def revoke_key(self, id_: str, now: datetime) -> ApiKey:
        with self._db.write():
            records = self._db.run("keys.revoke", (id_, to_micros(now))).fetchall()
        if not records:
            raise errors.NotFound(f"no key {id_!r}: see thinkback keys list")
        return rows.key_from_row(records[0])
