"""What stands behind the proxy: a server of models, a model on this machine, or memory itself."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Protocol

from thinkback.apps.server.faults import Refused
from thinkback.memory import Memory
from thinkback.types import Recollection

Headers = list[tuple[bytes, bytes]]


class Broken(Exception):
    """The upstream ended in the middle of its answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outgoing:
    """A request on its way. `path` is ours, below `/v1`; no client names the host.

    Memory that answers for itself is given the `text` that asks, the `memory` it may read, and what was
    found there already.
    """

    method: str
    path: str
    headers: dict[str, str]
    body: bytes = b""
    memory: Memory | None = None
    text: str = ""
    found: Recollection | None = None


@dataclass(frozen=True, slots=True)
class Incoming:
    """An answer on its way: `chunks` ends with Broken if the upstream does not come to its end.

    `by_memory`: it tells what is remembered, and so it must not be remembered as news.
    """

    status: int
    headers: Headers
    chunks: AsyncGenerator[bytes, None]
    by_memory: bool = False


class Upstream(Protocol):
    async def send(self, request: Outgoing) -> Incoming:
        """The answer when it begins; ThinkbackError if there is none. Whoever closes its chunks ends it."""
        ...

    async def close(self) -> None: ...


def unreachable(why: str) -> Refused:
    return Refused(
        502, f"the upstream did not answer: {why}", "upstream_unreachable", {"X-Should-Retry": "true"}
    )


def late(seconds: float) -> Refused:
    return Refused(504, f"the upstream was silent for {seconds:g} s", "upstream_timeout")
