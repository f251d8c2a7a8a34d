"""What can be set of the server, with defaults that are safe on a laptop."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """One server. `_s` are seconds; a limit a key has is that of the tenant's callers together."""

    host: str = "127.0.0.1"
    port: int = 8765
    workers: int = 1  # processes that answer
    recallers: int = 1  # processes that recall for chats with an upstream; 0: who answers does
    thinkers: int = 1  # processes that think; 0 leaves turns pending for another machine

    upstream: str = ""  # the base URL of the models; without one the local model answers, or memory itself
    upstream_key: str = field(default="", repr=False)  # without one the client's own key is passed on
    upstream_timeout_seconds: float = 600.0  # the longest silence of the upstream

    recall_limit: int = 5  # memories a chat is given at most
    recall_token_budget: int = 600  # and how long they may be together
    recall_timeout_seconds: float = 0.25  # recall that takes longer is skipped, never waited for
    remember_timeout_seconds: float = 2.0  # an answer waits no longer for its turn to be kept

    backlog: int = (
        20_000  # turns not yet thought over; beyond them writing waits, but never a chat; 0: no bound
    )

    allow_hosts: tuple[str, ...] = ()  # further names this server goes by
    allow_origins: tuple[str, ...] = ()  # pages that may call it from a browser
    max_body_bytes: int = 16 << 20
    max_json_depth: int = 64
    rate: float = 0.0  # requests a second for one key; 0 is no limit
    max_concurrent_requests: int = 256  # requests in hand for one key
    request_timeout_seconds: float = 30.0  # a client has sent its request by then
    stall_timeout_seconds: float = 60.0  # or reads on within this
    recall_sockets: tuple[str, ...] = ()  # the sockets of those that recall; the server sets them
    grace_seconds: float = 20.0  # for what is in hand when the server is asked to stop
    log_level: str = "info"
