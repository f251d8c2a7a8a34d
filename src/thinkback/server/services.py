"""What every route is given: the options, the memories by tenant, the thread pool, telemetry and the backlog of turns not yet thought over."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

from thinkback.memory import Memory
from thinkback.server.errors import busy, forbidden
from thinkback.server.options import Options
from thinkback.server.principal import Principal
from thinkback.server.telemetry import Telemetry
from thinkback.server.thread_pool import ThreadPool

COUNT_CACHE_SECONDS = 1.0  # a count is used for so long: it is asked for at every write
RETRY_AFTER_SECONDS = 10.0  # when a client that was refused may try again


class Backlog:
    """The turns of all tenants that wait to be thought over; `bound` 0 refuses nothing.

    Who writes memories in bulk is told to wait once there are more than `bound`; a chat never is.
    """

    def __init__(
        self,
        count: Callable[[], int] = lambda: 0,
        limit: int = 0,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._count = count
        self._bound = limit
        self._clock = clock
        self._known = 0
        self._until = float("-inf")

    def pending(self) -> int:
        """As of now. It reads the database: ask at the desk."""
        self._known = self._count()
        self._until = self._clock() + COUNT_CACHE_SECONDS
        return self._known

    def check(self) -> None:
        """Refused (503, with Retry-After) while too much waits, as of a moment ago. For the desk, too."""
        if not self._bound:
            return
        pending = self._known if self._clock() < self._until else self.pending()
        if pending > self._bound:
            raise busy(
                f"{pending:,} turns wait to be thought over and {self._bound:,} may: try again later",
                RETRY_AFTER_SECONDS,
            )


MAX_CACHED_TENANTS = 1024  # whose memories are kept at hand
DEFAULT_USER = "default"


class MemoryRegistry:
    """A Memory for every tenant, made when first asked for; the root one owns database and models."""

    def __init__(self, root: Memory) -> None:
        self.root = root
        self._tenants: OrderedDict[str, Memory] = OrderedDict()
        self._lock = threading.Lock()

    def for_principal(self, principal: Principal, user: str | None = None) -> Memory:
        """The memory of one user of the caller's tenant; a key bound to a user has no other."""
        if principal.user is not None and user is not None and user != principal.user:
            raise forbidden(f"this key speaks for the user {principal.user!r} alone")
        return self.for_tenant(principal.tenant).for_user(principal.user or user or DEFAULT_USER)

    def for_tenant(self, name: str) -> Memory:
        if name == self.root.tenant:
            return self.root
        with self._lock:
            memory = self._tenants.pop(name, None) or self.root.for_tenant(name)
            self._tenants[name] = memory
            if len(self._tenants) > MAX_CACHED_TENANTS:
                self._tenants.popitem(last=False)
        return memory


@dataclass(frozen=True, slots=True)
class Services:
    options: Options
    memories: MemoryRegistry
    pool: ThreadPool
    telemetry: Telemetry
    backlog: Backlog = field(default_factory=Backlog)
    stopping: threading.Event = field(default_factory=threading.Event)  # set: it ends after what is in hand
