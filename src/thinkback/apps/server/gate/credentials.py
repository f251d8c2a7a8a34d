"""Who holds which key: a credential is read from the request, verified at the desk, known for two seconds.

So a revoked key stops within two seconds, and a busy one asks the database once in two seconds. What is kept
is a keyed hash of the credential, never the credential. A chat passes though memory is broken: while the
database cannot be asked, who was let in a moment ago stays in.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import re
import secrets
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from thinkback.apps.server.caller import Caller
from thinkback.apps.server.desk import Desk
from thinkback.apps.server.faults import Refused
from thinkback.errors import ThinkbackError
from thinkback.types import Key

KNOWN_S = 2.0
KNOWN = 4096  # credentials, right and wrong ones; the ones least asked for are forgotten
TRUSTED_S = 60.0  # while the database cannot be asked
VERIFYING = 8  # at once: wrong credentials must not fill the desk

_log = logging.getLogger(__name__)
_CREDENTIAL = re.compile(rb"[!-~]{1,512}")
_SCHEMES = (b"bearer", b"token")  # `Token` is what mem0's client says


class Keys(Protocol):
    """The keys of a server; both methods ask the database."""

    def verify(self, credential: str) -> Key | None:
        """The key of a credential if it is right, not revoked and not expired."""
        ...

    def any(self) -> bool:
        """Whether there has ever been a key."""
        ...


def unauthorized(message: str) -> Refused:
    return Refused(401, message, "invalid_api_key", {"WWW-Authenticate": 'Bearer realm="thinkback"'})


def read(head: Mapping[bytes, list[bytes]]) -> tuple[bytes, bytes]:
    """The header that has the credential, and the credential.

    `X-API-Key` comes first; then `Authorization` is left for the upstream, which may want another key.
    """
    for name in (b"x-api-key", b"authorization"):
        values = head.get(name)
        if not values:
            continue
        credential = values[0].strip() if name == b"x-api-key" else _after_scheme(values[0])
        if len(values) > 1 or not _CREDENTIAL.fullmatch(credential):
            raise unauthorized("the credential of this request cannot be read")
        return name, credential
    raise unauthorized("this server needs a key: send it as `Authorization: Bearer KEY`")


@dataclass(frozen=True, slots=True)
class _Seen:
    """Whose credential it is, if anybody's, and when the database said so."""

    caller: Caller | None
    at: float


class Knowing:
    """Callers by credential, for a moment; requests with the same credential wait for one verification."""

    def __init__(self, keys: Keys, desk: Desk, clock: Callable[[], float]) -> None:
        self._keys = keys
        self._desk = desk
        self._clock = clock
        self._salt = secrets.token_bytes(32)
        self._known: OrderedDict[bytes, tuple[float, asyncio.Future[_Seen]]] = OrderedDict()
        self._verifying = asyncio.Semaphore(VERIFYING)
        self._closed = False
        self._looking: asyncio.Future[bool] | None = None
        self._look_again = 0.0
        self._seen_open = float("-inf")

    async def closed(self) -> bool:
        """Whether keys are asked for: once there was one, always."""
        if self._closed:
            return True
        if self._looking is None or self._clock() >= self._look_again:
            self._look_again = self._clock() + KNOWN_S
            self._looking = asyncio.ensure_future(self._desk.do(self._keys.any))
        looking = self._looking
        try:
            if await asyncio.shield(looking):
                self._closed = True
        except Exception as error:
            if self._looking is looking:
                self._looking = None
            if self._clock() - self._seen_open > TRUSTED_S:
                raise
            _log.warning("keys cannot be read now (%s): open still", type(error).__name__)
        else:
            self._seen_open = self._clock()
        return self._closed

    async def caller(self, credential: bytes) -> Caller | None:
        mark = hashlib.blake2b(credential, digest_size=16, key=self._salt).digest()
        now = self._clock()
        until, asked = self._known.get(mark, (0.0, None))
        if asked is None or now >= until:
            before = asked.result() if asked is not None and asked.done() else None
            asked = asyncio.ensure_future(self._verified(credential, before))
            asked.add_done_callback(lambda done: self._forget_failure(mark, done))
            self._known[mark] = (now + KNOWN_S, asked)  # from the asking: what is revoked later is seen later
            if len(self._known) > KNOWN:
                self._known.popitem(last=False)
        self._known.move_to_end(mark)
        # shielded: one request that ends early does not end it for the others
        return (asked.result() if asked.done() else await asyncio.shield(asked)).caller

    async def _verified(self, credential: bytes, before: _Seen | None) -> _Seen:
        now = self._clock()
        try:
            async with self._verifying:
                key = await self._desk.do(lambda: self._keys.verify(credential.decode("ascii")))
        except ThinkbackError as error:
            if before is None or before.caller is None or now - before.at > TRUSTED_S:
                raise
            _log.warning(
                "key %s cannot be verified now (%s): trusted still", before.caller.key, type(error).__name__
            )
            return before
        return _Seen(None if key is None else Caller(key.tenant, key.scopes, key.id, key.user), now)

    def _forget_failure(self, mark: bytes, done: asyncio.Future[_Seen]) -> None:
        """A database that does not answer is asked again by the next request."""
        if done.cancelled() or done.exception() is not None:
            kept = self._known.get(mark)
            if kept is not None and kept[1] is done:
                del self._known[mark]


def _after_scheme(value: bytes) -> bytes:
    scheme, _, credential = value.strip().partition(b" ")
    return credential.strip() if scheme.lower() in _SCHEMES else b""
