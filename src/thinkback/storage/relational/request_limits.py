"""What the server processes on one database have used of the limits of each client."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime, timedelta

from thinkback.storage.relational.base import RelationalBase
from thinkback.times import to_micros

_FORGET_AFTER = timedelta(hours=1)  # a client that sent nothing has its whole burst again long before


class RequestLimitsMixin(RelationalBase):
    """`RequestLimitStore`."""

    def take_requests(self, client: str, count: int, rate: float, burst: float, now: datetime) -> bool:
        with self._db.write(derived=True):
            taken = self._db.run(
                "limits.take_requests", (client, float(burst), float(rate), count, to_micros(now))
            ).fetchone()
            if taken is not None and taken[0] >= burst - count:  # a new client, or one that has paused
                self._db.run("limits.delete_rates", (to_micros(now - _FORGET_AFTER),))
            return taken is not None

    def lease_slots(
        self, client: str, process: str, wanted: int, limit: int, lease_seconds: float, now: datetime
    ) -> int:
        with self._db.write(derived=True):
            self._db.run("limits.lock", (client,)).fetchone()
            others = self._db.run("limits.slots_of_others", (client, process, to_micros(now))).fetchone()[0]
            granted = max(0, min(wanted, limit - int(others)))
            if granted:
                until = to_micros(now + timedelta(seconds=lease_seconds))
                self._db.run("limits.set_slots", (client, process, granted, until))
            else:
                self._db.run("limits.delete_slots", (client, process, to_micros(now)))
        return granted

    def renew_slots(
        self, process: str, wanted: Mapping[str, int], lease_seconds: float, now: datetime
    ) -> dict[str, int]:
        until = to_micros(now + timedelta(seconds=lease_seconds))
        with self._db.write(derived=True):
            kept = self._db.run(
                "limits.renew_slots", (process, json.dumps(dict(wanted)), to_micros(now), until)
            ).fetchall()
            if len(kept) < len(wanted) or not all(wanted.values()):
                self._db.run("limits.delete_ended_slots", (process, to_micros(now)))
        return {client: slots for client, slots in kept if slots}
