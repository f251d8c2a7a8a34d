"""Authentication and authorization: the table of required scopes per route, and the verification of API keys with a two-second cache."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import re
import secrets
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

from thinkback.errors import ThinkbackError
from thinkback.server.errors import RequestRefused
from thinkback.server.principal import Principal
from thinkback.server.thread_pool import ThreadPool
from thinkback.types import ApiKey

RequiredAccess = Literal["nothing", "operator", "any", "read", "write", "admin"]
"""`operator`: admin, or nothing where only this machine can ask. `any`: a key; the room does what it may."""

ACCESS_RULES: tuple[tuple[str, str, RequiredAccess], ...] = (
    ("GET", "/health", "nothing"),
    ("GET", "/ready", "nothing"),
    ("GET", "/metrics", "operator"),
    ("GET", "/openapi.json", "any"),
    # chats: recalled for who may read, remembered for who may write
    ("POST", "/v1/chat/completions", "any"),
    ("POST", "/v1/completions", "any"),
    ("POST", "/v1/embeddings", "any"),
    ("GET", "/v1/models/**", "any"),
    ("*", "/mcp/**", "any"),  # the tools ask `require`
    # questions too long for an address
    ("POST", "/v1/memory/recall", "read"),
    ("POST", "/v1/memory/ask", "read"),
    ("POST", "/v1/memory/context", "read"),
    ("POST", "/v1/memory/kinds", "read"),
    ("POST", "/search", "read"),
    # what is about all users of a tenant
    ("*", "/v1/memory/users/**", "admin"),
    # whatever else: to look is to read, the rest is to write
    ("GET", "/v1/memory/**", "read"),
    ("*", "/v1/memory/**", "write"),
    ("GET", "/memories/**", "read"),
    ("*", "/memories/**", "write"),
)


class AccessTable:
    """The table, quick to ask."""

    def __init__(self, rules: tuple[tuple[str, str, RequiredAccess], ...] = ACCESS_RULES) -> None:
        self._rules = tuple((method, _compile_path(path), need) for method, path, need in rules)

    def required_access(self, method: str, path: str) -> RequiredAccess | None:
        """What a request asks of its key; None where there is no such route."""
        asked = "GET" if method == "HEAD" else method
        for verb, pattern, need in self._rules:
            if verb in ("*", asked) and pattern(path):
                return need
        return None

    def allowed_methods(self, path: str) -> list[str]:
        """Those a path can be asked by; none where there is no such path."""
        return sorted({verb for verb, pattern, _ in self._rules if pattern(path)})


def _compile_path(path: str) -> Callable[[str], object]:
    below = path.endswith("/**")
    parts = re.split(r"\{\w+\}", path.removesuffix("/**"))
    return re.compile(
        "[^/]+".join(map(re.escape, parts)) + ("(?:/.*)?" if below else "/?"), re.DOTALL
    ).fullmatch


KEY_CACHE_SECONDS = 2.0
MAX_CACHED_CREDENTIALS = 4096  # credentials, right and wrong ones; the ones least asked for are forgotten
OUTAGE_TRUST_SECONDS = 60.0  # while the database cannot be asked
MAX_CONCURRENT_VERIFICATIONS = 8  # at once: wrong credentials must not fill the desk

_log = logging.getLogger(__name__)
_CREDENTIAL = re.compile(rb"[!-~]{1,512}")
_AUTH_SCHEMES = (b"bearer", b"token")  # `Token` is what mem0's client says


class KeyStore(Protocol):
    """The keys of a server; both methods ask the database."""

    def verify(self, credential: str) -> ApiKey | None:
        """The key of a credential if it is right, not revoked and not expired."""
        ...

    def has_keys(self) -> bool:
        """Whether there has ever been a key."""
        ...


def unauthorized(message: str) -> RequestRefused:
    return RequestRefused(401, message, "invalid_api_key", {"WWW-Authenticate": 'Bearer realm="thinkback"'})


def read_credential(head: Mapping[bytes, list[bytes]]) -> tuple[bytes, bytes]:
    """The header that has the credential, and the credential.

    `X-API-Key` comes first; then `Authorization` is left for the upstream, which may want another key.
    """
    for name in (b"x-api-key", b"authorization"):
        values = head.get(name)
        if not values:
            continue
        credential = values[0].strip() if name == b"x-api-key" else _strip_scheme(values[0])
        if len(values) > 1 or not _CREDENTIAL.fullmatch(credential):
            raise unauthorized("the credential of this request cannot be read")
        return name, credential
    raise unauthorized("this server needs a key: send it as `Authorization: Bearer KEY`")


@dataclass(frozen=True, slots=True)
class _Verification:
    """Whose credential it is, if anybody's, and when the database said so."""

    principal: Principal | None
    at: float


class Authenticator:
    """Callers by credential, for a moment; requests with the same credential wait for one verification."""

    def __init__(self, keys: KeyStore, desk: ThreadPool, clock: Callable[[], float]) -> None:
        self._keys = keys
        self._desk = desk
        self._clock = clock
        self._salt = secrets.token_bytes(32)
        self._known: OrderedDict[bytes, tuple[float, asyncio.Future[_Verification]]] = OrderedDict()
        self._verifying = asyncio.Semaphore(MAX_CONCURRENT_VERIFICATIONS)
        self._closed = False
        self._looking: asyncio.Future[bool] | None = None
        self._look_again = 0.0
        self._seen_open = float("-inf")

    async def requires_key(self) -> bool:
        """Whether keys are asked for: once there was one, always."""
        if self._closed:
            return True
        if self._looking is None or self._clock() >= self._look_again:
            self._look_again = self._clock() + KEY_CACHE_SECONDS
            self._looking = asyncio.ensure_future(self._desk.run(self._keys.has_keys))
        looking = self._looking
        try:
            if await asyncio.shield(looking):
                self._closed = True
        except Exception as error:
            if self._looking is looking:
                self._looking = None
            if self._clock() - self._seen_open > OUTAGE_TRUST_SECONDS:
                raise
            _log.warning("keys cannot be read now (%s): open still", type(error).__name__)
        else:
            self._seen_open = self._clock()
        return self._closed

    async def authenticate(self, credential: bytes) -> Principal | None:
        mark = hashlib.blake2b(credential, digest_size=16, key=self._salt).digest()
        now = self._clock()
        until, asked = self._known.get(mark, (0.0, None))
        if asked is None or now >= until:
            before = asked.result() if asked is not None and asked.done() else None
            asked = asyncio.ensure_future(self._verify(credential, before))
            asked.add_done_callback(lambda done: self._forget_failure(mark, done))
            self._known[mark] = (
                now + KEY_CACHE_SECONDS,
                asked,
            )  # from the asking: what is revoked later is seen later
            if len(self._known) > MAX_CACHED_CREDENTIALS:
                self._known.popitem(last=False)
        self._known.move_to_end(mark)
        # shielded: one request that ends early does not end it for the others
        return (asked.result() if asked.done() else await asyncio.shield(asked)).principal

    async def _verify(self, credential: bytes, before: _Verification | None) -> _Verification:
        now = self._clock()
        try:
            async with self._verifying:
                key = await self._desk.run(lambda: self._keys.verify(credential.decode("ascii")))
        except ThinkbackError as error:
            if before is None or before.principal is None or now - before.at > OUTAGE_TRUST_SECONDS:
                raise
            _log.warning(
                "key %s cannot be verified now (%s): trusted still",
                before.principal.key,
                type(error).__name__,
            )
            return before
        return _Verification(
            None if key is None else Principal(key.tenant, key.scopes, key.id, key.user), now
        )

    def _forget_failure(self, mark: bytes, done: asyncio.Future[_Verification]) -> None:
        """A database that does not answer is asked again by the next request."""
        if done.cancelled() or done.exception() is not None:
            kept = self._known.get(mark)
            if kept is not None and kept[1] is done:
                del self._known[mark]


def _strip_scheme(value: bytes) -> bytes:
    scheme, _, credential = value.strip().partition(b" ")
    return credential.strip() if scheme.lower() in _AUTH_SCHEMES else b""
