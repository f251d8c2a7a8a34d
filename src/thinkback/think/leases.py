"""Keeps the leases of claimed turns alive while this process works on them.

A lease is short, so that the turns of a process that died are taken over soon. A thread renews the leases of
all claims of a `Thinker`; it runs only while there are claims that take longer than one interval.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

from thinkback.errors import StoreError
from thinkback.protocols import Clock, Store
from thinkback.types import ClaimedTurn

LEASE_SECONDS = 8.0  # turns of a dead process are taken over after this time
RENEW_INTERVAL_SECONDS = 2.0


class LeaseKeeper:
    """Renews leases in a thread. Thread-safe."""

    def __init__(self, store: Store, clock: Clock, interval_seconds: float = RENEW_INTERVAL_SECONDS) -> None:
        self._store = store
        self._clock = clock
        self._interval_seconds = interval_seconds
        self._claims: dict[tuple[str, int], ClaimedTurn] = {}  # by lease and turn
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None

    def claims(self) -> list[ClaimedTurn]:
        """The turns that are being worked on."""
        with self._changed:
            return list(self._claims.values())

    @contextmanager
    def keep(self, claims: Sequence[ClaimedTurn]) -> Iterator[None]:
        """Renew the leases of these turns until the end of the block."""
        with self._changed:
            self._claims |= {(claim.lease, claim.turn.id): claim for claim in claims}
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="thinkback-leases", daemon=True)
                self._thread.start()
        try:
            yield
        finally:
            with self._changed:
                for claim in claims:
                    del self._claims[claim.lease, claim.turn.id]
                self._changed.notify_all()

    def _run(self) -> None:
        while self._wait_until_due():
            for lease, space in {claim.lease: claim.space for claim in self.claims()}.items():
                with suppress(StoreError):  # the database is busy or restarting: again after the interval
                    self._store.renew(space, lease, LEASE_SECONDS, self._clock())

    def _wait_until_due(self) -> bool:
        """Wait for the next renewal; False if there is no claim, and then the thread ends."""
        with self._changed:
            self._changed.wait_for(lambda: not self._claims, self._interval_seconds)
            if not self._claims and not self._changed.wait_for(
                lambda: bool(self._claims), self._interval_seconds
            ):
                self._thread = None
                return False
            return True
