"""How much is still to be thought over, and when writing has to wait for it."""

from __future__ import annotations

import time
from collections.abc import Callable

from thinkback.apps.server.faults import busy

FRESH_S = 1.0  # a count is used for so long: it is asked for at every write
RETRY_S = 10.0  # when a client that was refused may try again


class Backlog:
    """The turns of all tenants that wait to be thought over; `bound` 0 refuses nothing.

    Who writes memories in bulk is told to wait once there are more than `bound`; a chat never is.
    """

    def __init__(
        self,
        count: Callable[[], int] = lambda: 0,
        bound: int = 0,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._count = count
        self._bound = bound
        self._clock = clock
        self._known = 0
        self._until = float("-inf")

    def pending(self) -> int:
        """As of now. It reads the database: ask at the desk."""
        self._known = self._count()
        self._until = self._clock() + FRESH_S
        return self._known

    def check(self) -> None:
        """Refused (503, with Retry-After) while too much waits, as of a moment ago. For the desk, too."""
        if not self._bound:
            return
        pending = self._known if self._clock() < self._until else self.pending()
        if pending > self._bound:
            raise busy(
                f"{pending:,} turns wait to be thought over and {self._bound:,} may: try again later", RETRY_S
            )
