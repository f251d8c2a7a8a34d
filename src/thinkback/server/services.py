"""Options of the server, and the services that its routes share."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

from thinkback.memory import Memory
from thinkback.server.errors import busy, forbidden
from thinkback.server.identity import Principal
from thinkback.server.telemetry import Telemetry
from thinkback.server.thread_pool import ThreadPool
from thinkback.server.views.projection import MapCache
from thinkback.server.views.snapshot import SnapshotCache
from thinkback.validation import checked_name


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Options of one server. Limits "per key" apply to all clients that use the key together."""

    host: str = "127.0.0.1"
    port: int = 8765
    workers: int = 1  # processes that answer HTTP requests
    recallers: int = 1  # processes that recall for chats with an upstream; 0: the answering processes do it
    thinkers: int = 1  # processes that think; 0 leaves turns pending for `thinkback work` elsewhere

    upstream: str = ""  # base URL of the model server; empty: the local model answers, or memory alone
    upstream_key: str = field(default="", repr=False)  # empty: the client's own key is forwarded
    upstream_timeout_seconds: float = 600.0  # longest silence of the upstream
    max_tokens: int = 512  # of an answer of the local model to a request that names no limit

    recall_limit: int = 5  # most memories injected into a chat
    recall_token_budget: int = 600  # most tokens of all injected memories together
    recall_timeout_seconds: float = 0.25  # a slower recall is skipped, and the chat goes on without memories
    remember_timeout_seconds: float = 2.0  # longest time an answer waits for its turn to be stored

    # Pending turns beyond which writes are refused (chats never are); 0: no limit.
    backlog: int = 20_000

    allow_hosts: tuple[str, ...] = ()  # further host names of this server
    allow_origins: tuple[str, ...] = ()  # web origins that may call it from a browser
    max_body_bytes: int = 16 << 20
    max_json_depth: int = 64
    rate: float = 0.0  # requests per second per key; 0: no limit
    max_concurrent_requests: int = 256  # per key
    shared_limits: bool = False  # the two limits above hold for all processes on the database together
    request_timeout_seconds: float = 30.0  # for a client to send its request
    stall_timeout_seconds: float = 60.0  # for a client to continue reading the response
    recall_sockets: tuple[str, ...] = ()  # Unix sockets of the recall processes; set by the server itself
    grace_seconds: float = 20.0  # for running work after the server is asked to stop
    log_level: str = "info"
    runs: str = ""  # folder of finished runs of thinkback-lab, for the laboratory of the web page


COUNT_CACHE_SECONDS = 1.0  # the count is needed for every write, so it is cached
RETRY_AFTER_SECONDS = 10.0
MAX_CACHED_TENANTS = 1024
DEFAULT_USER = "default"


class Backlog:
    """Counts the turns of all tenants that are not yet thought over, and refuses writes beyond a limit.

    Only bulk writes are refused, never chats. `limit` 0 refuses nothing.
    """

    def __init__(
        self,
        count: Callable[[], int] = lambda: 0,
        limit: int = 0,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._count = count
        self._limit = limit
        self._clock = clock
        self._cached = 0
        self._cached_until = float("-inf")

    def pending(self) -> int:
        """The current number of pending turns. Reads the database: call it in the thread pool."""
        self._cached = self._count()
        self._cached_until = self._clock() + COUNT_CACHE_SECONDS
        return self._cached

    def check(self) -> None:
        """Raise `RequestRefused` (503, with Retry-After) while too many turns are pending.

        Uses a cached count if it is recent. May read the database: call it in the thread pool.
        """
        if not self._limit:
            return
        pending = self._cached if self._clock() < self._cached_until else self.pending()
        if pending > self._limit:
            raise busy(
                f"{pending:,} turns are waiting to be thought over (limit {self._limit:,}): try again later",
                RETRY_AFTER_SECONDS,
            )


class MemoryRegistry:
    """One `Memory` per tenant, created on first use. The root memory owns the database and the models."""

    def __init__(self, root: Memory) -> None:
        self.root = root
        self._tenants: OrderedDict[str, Memory] = OrderedDict()
        self._lock = threading.Lock()

    def for_principal(self, principal: Principal, user: str | None = None) -> Memory:
        """The memory of a user of the principal's tenant. A key bound to a user can reach no other user."""
        user = None if user is None else checked_name(user, "user")
        if principal.user is not None and user is not None and user != principal.user:
            raise forbidden(f"this key can only act for the user {principal.user!r}")
        return self.for_tenant(principal.tenant).for_user(principal.user or user or DEFAULT_USER)

    def for_tenant(self, name: str) -> Memory:
        if name == self.root.tenant:
            return self.root
        with self._lock:
            memory = self._tenants.pop(name, None) or self.root.for_space(self.root.user, tenant=name)
            self._tenants[name] = memory
            if len(self._tenants) > MAX_CACHED_TENANTS:
                self._tenants.popitem(last=False)
        return memory


@dataclass(frozen=True, slots=True)
class Services:
    """Dependencies of the routes; created once per process."""

    options: Options
    memories: MemoryRegistry
    pool: ThreadPool
    telemetry: Telemetry
    backlog: Backlog = field(default_factory=Backlog)
    snapshots: SnapshotCache = field(default_factory=SnapshotCache)
    maps: MapCache = field(default_factory=MapCache)
    # Set when the process is asked to stop; running requests are still finished.
    stopping: threading.Event = field(default_factory=threading.Event)
