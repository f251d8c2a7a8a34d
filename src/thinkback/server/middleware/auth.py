"""Authentication by API key, and the table of scopes that each route requires.

A verified credential is cached for two seconds: a revoked key stops working within that time, and a busy key
costs one database query in two seconds. Only a keyed hash of the credential is kept in memory. While the
database cannot be read, recently verified keys stay valid, so that chats continue when memory is broken.
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
from typing import Literal, Protocol

from thinkback.errors import ThinkbackError
from thinkback.server.errors import RequestRefused
from thinkback.server.identity import Principal
from thinkback.server.thread_pool import ThreadPool
from thinkback.types import ApiKey
from thinkback.validation import checked_name

RequiredAccess = Literal["nothing", "optional", "operator", "any", "read", "write", "change", "admin"]
"""Access that a route requires.

`optional`: no key, but the route learns who calls if a valid credential is sent. `operator`: the scope
`admin`, or no key if the server is only reachable from this machine. `any`: any valid key; the route checks
scopes itself. `change`: the scopes `read` and `write`, because the answer shows what was stored.
"""

# The first matching rule applies; a path without a rule does not exist. `{name}` matches one path segment,
# `/**` the path and everything below it. tests/auth_matrix.py checks every route.
ACCESS_RULES: tuple[tuple[str, str, RequiredAccess], ...] = (
    ("GET", "/health", "nothing"),
    ("GET", "/ready", "nothing"),
    ("GET", "/metrics", "operator"),
    ("GET", "/openapi.json", "any"),
    # The web page, which contains no data, and its session.
    ("GET", "/", "nothing"),
    ("GET", "/index.html", "nothing"),
    ("GET", "/favicon.svg", "nothing"),
    ("GET", "/assets/{name}", "nothing"),
    ("*", "/v1/web/session", "optional"),
    ("*", "/v1/web/keys/**", "admin"),
    ("*", "/v1/lab/**", "admin"),
    ("GET", "/v1/clinic/patients", "admin"),
    ("GET", "/v1/clinic/**", "read"),
    ("*", "/v1/clinic/**", "change"),
    # Chats recall only if the key may read, and remember only if it may write.
    ("POST", "/v1/chat/completions", "any"),
    ("POST", "/v1/completions", "any"),
    ("POST", "/v1/embeddings", "any"),
    ("GET", "/v1/models/**", "any"),
    ("*", "/mcp/**", "any"),  # each tool checks its own scope
    # Queries that are too long for a URL.
    ("POST", "/v1/memory/recall", "read"),
    ("POST", "/v1/memory/ask", "read"),
    ("POST", "/v1/memory/context", "read"),
    ("POST", "/v1/memory/kinds", "read"),
    ("POST", "/v1/memory/check", "read"),
    ("POST", "/v1/memory/explain", "read"),
    ("POST", "/search", "read"),
    # All users of a tenant.
    ("*", "/v1/memory/users/**", "admin"),
    # Changes whose answers show the memories as they were before.
    ("DELETE", "/v1/memory/turns/{id}", "change"),
    ("DELETE", "/v1/memory/thoughts/{id}", "change"),
    ("PATCH", "/v1/memory/thoughts/{id}", "change"),
    ("POST", "/v1/memory/journal/{id}/undo", "change"),
    ("POST", "/v1/memory/think", "change"),
    ("POST", "/v1/memory/organise", "change"),
    ("PUT", "/v1/memory/summary", "change"),
    ("POST", "/v1/memory/summary/undo", "change"),
    # Everything else: GET reads, other methods write.
    ("GET", "/v1/memory/**", "read"),
    ("*", "/v1/memory/**", "write"),
    ("GET", "/memories/**", "read"),
    ("*", "/memories/**", "write"),
    # Paths of mem0's servers that are answered with 501.
    *(
        ("*", f"{path}/**", "any")
        for path in (
            *("/configure", "/reset", "/entities", "/v1/memories", "/v2/memories", "/v3/memories"),
            *("/v1/entities", "/v1/events", "/v1/exports", "/v1/feedback", "/v1/batch", "/v1/ping"),
        )
    ),
)


class AccessTable:
    """Looks up the access rule of a request."""

    def __init__(self, rules: tuple[tuple[str, str, RequiredAccess], ...] = ACCESS_RULES) -> None:
        self._rules = tuple((method, _compile_path(path), access) for method, path, access in rules)

    def required_access(self, method: str, path: str) -> RequiredAccess | None:
        """The access a request requires, or None if there is no such route."""
        method = "GET" if method == "HEAD" else method
        for rule_method, matches, access in self._rules:
            if rule_method in ("*", method) and matches(path):
                return access
        return None

    def allowed_methods(self, path: str) -> list[str]:
        """The methods of a path; empty if there is no such path."""
        return sorted({method for method, matches, _ in self._rules if matches(path)})


def _compile_path(path: str) -> Callable[[str], object]:
    with_subpaths = path.endswith("/**")
    parts = re.split(r"\{\w+\}", path.removesuffix("/**"))
    return re.compile(
        "[^/]+".join(map(re.escape, parts)) + ("(?:/.*)?" if with_subpaths else "/?"), re.DOTALL
    ).fullmatch


KEY_CACHE_SECONDS = 2.0
MAX_CACHED_CREDENTIALS = 4096  # valid and invalid ones; least recently used are dropped
OUTAGE_TRUST_SECONDS = 60.0  # how long the last verification counts while the database cannot be read
MAX_CONCURRENT_VERIFICATIONS = 8  # so that wrong credentials cannot fill the thread pool

_log = logging.getLogger(__name__)
_CREDENTIAL = re.compile(rb"[!-~]{1,512}")
_AUTH_SCHEMES = (b"bearer", b"token")  # mem0's client sends `Token`


class KeyStore(Protocol):
    """The API keys of a server. All methods read the database."""

    def verify(self, credential: str) -> ApiKey | None:
        """The key of a credential, or None if it is wrong, revoked or expired."""
        ...

    def verify_session(self, token: str) -> ApiKey | None:
        """The key of a web session's credential, or None if the session or its key is not valid."""
        ...

    def has_keys(self) -> bool:
        """Whether a key has ever been created."""
        ...

    def is_active(self, key_id: str) -> bool:
        """Whether a key is neither revoked nor expired."""
        ...


def unauthorized(message: str) -> RequestRefused:
    return RequestRefused(401, message, "invalid_api_key", {"WWW-Authenticate": 'Bearer realm="thinkback"'})


def read_credential(headers: Mapping[bytes, list[bytes]]) -> tuple[bytes, bytes]:
    """Return the name of the header that holds the credential, and the credential.

    `X-API-Key` has priority; then `Authorization` is left for the upstream, which may need another key.
    """
    for name in (b"x-api-key", b"authorization"):
        values = headers.get(name)
        if not values:
            continue
        credential = values[0].strip() if name == b"x-api-key" else _strip_scheme(values[0])
        if len(values) > 1 or not _CREDENTIAL.fullmatch(credential):
            raise unauthorized("the credential of this request cannot be read")
        return name, credential
    raise unauthorized("this server needs a key: send it as `Authorization: Bearer KEY`")


@dataclass(frozen=True, slots=True)
class _Verification:
    """The principal of a credential (None: invalid), and when the database was asked."""

    principal: Principal | None
    at: float


class Authenticator:
    """Verifies credentials with a short cache. Concurrent requests share one verification."""

    def __init__(self, keys: KeyStore, pool: ThreadPool, clock: Callable[[], float]) -> None:
        self._keys = keys
        self._pool = pool
        self._clock = clock
        self._salt = secrets.token_bytes(32)
        self._cache: OrderedDict[bytes, tuple[float, asyncio.Future[_Verification]]] = OrderedDict()
        self._verifying = asyncio.Semaphore(MAX_CONCURRENT_VERIFICATIONS)
        self._keys_exist = False
        self._key_check: asyncio.Future[bool] | None = None
        self._next_key_check = 0.0
        self._last_seen_open = float("-inf")

    async def requires_key(self) -> bool:
        """Whether requests need a key: from the first key on, always."""
        if self._keys_exist:
            return True
        if self._key_check is None or self._clock() >= self._next_key_check:
            self._next_key_check = self._clock() + KEY_CACHE_SECONDS
            self._key_check = asyncio.ensure_future(self._pool.run(self._keys.has_keys))
        check = self._key_check
        try:
            if await asyncio.shield(check):
                self._keys_exist = True
        except Exception as error:
            if self._key_check is check:
                self._key_check = None
            if self._clock() - self._last_seen_open > OUTAGE_TRUST_SECONDS:
                raise
            _log.warning("cannot read keys (%s): the server stays open without keys", type(error).__name__)
        else:
            self._last_seen_open = self._clock()
        return self._keys_exist

    async def authenticate(self, credential: bytes, *, session: bool = False) -> Principal | None:
        """The principal of a key, or of the credential of a web session; None if it is not valid."""
        person = b"session" if session else b"key"
        digest = hashlib.blake2b(credential, digest_size=16, key=self._salt, person=person).digest()
        now = self._clock()
        expires_at, verification = self._cache.get(digest, (0.0, None))
        if verification is None or now >= expires_at:
            previous = verification.result() if verification is not None and verification.done() else None
            verify = self._keys.verify_session if session else self._keys.verify
            verification = asyncio.ensure_future(self._verify(credential, previous, verify))
            verification.add_done_callback(lambda done: self._drop_failed(digest, done))
            # Expiry counts from the start of the verification, so that a later revocation is not missed.
            self._cache[digest] = (now + KEY_CACHE_SECONDS, verification)
            if len(self._cache) > MAX_CACHED_CREDENTIALS:
                self._cache.popitem(last=False)
        self._cache.move_to_end(digest)
        if verification.done():
            return verification.result().principal
        # Shielded: a cancelled request must not cancel the verification for the others.
        return (await asyncio.shield(verification)).principal

    async def is_active(self, key_id: str) -> bool:
        """Whether a key can still be used. While the database cannot be read, it can."""
        try:
            return await self._pool.run(lambda: self._keys.is_active(key_id))
        except ThinkbackError as error:
            _log.warning("cannot verify key %s again (%s)", key_id, type(error).__name__)
            return True

    async def _verify(
        self, credential: bytes, previous: _Verification | None, verify: Callable[[str], ApiKey | None]
    ) -> _Verification:
        now = self._clock()
        try:
            async with self._verifying:
                key = await self._pool.run(lambda: verify(credential.decode("latin-1")))
        except ThinkbackError as error:
            if previous is None or previous.principal is None or now - previous.at > OUTAGE_TRUST_SECONDS:
                raise
            _log.warning(
                "cannot verify key %s (%s): using the previous verification",
                previous.principal.key,
                type(error).__name__,
            )
            return previous
        if key is None:
            return _Verification(None, now)
        user = None if key.user is None else checked_name(key.user, "the user of this key")
        return _Verification(Principal(key.tenant, key.scopes, key.id, user), now)

    def _drop_failed(self, digest: bytes, verification: asyncio.Future[_Verification]) -> None:
        """Remove a verification that failed, so that the next request tries again."""
        if verification.cancelled() or verification.exception() is not None:
            cached = self._cache.get(digest)
            if cached is not None and cached[1] is verification:
                del self._cache[digest]


def _strip_scheme(value: bytes) -> bytes:
    scheme, _, credential = value.strip().partition(b" ")
    return credential.strip() if scheme.lower() in _AUTH_SCHEMES else b""
