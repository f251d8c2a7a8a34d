"""ASGI middleware in front of every route: Host and Origin, API key, scope, rate, concurrency and body limits; standard response headers; clients that stop reading are disconnected."""

from __future__ import annotations

import asyncio
import logging
import re
import secrets
import time
import traceback
from collections.abc import Callable
from typing import Any, Protocol

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Send
from starlette.types import Scope as AsgiScope

from thinkback.errors import ThinkbackError
from thinkback.server.errors import RequestRefused, error_response, json_error
from thinkback.server.middleware import auth
from thinkback.server.middleware.auth import AccessTable, Authenticator, KeyStore, RequiredAccess
from thinkback.server.middleware.hosts import HostPolicy, is_loopback
from thinkback.server.middleware.limits import (
    BodyReader,
    ConcurrencyLimiter,
    IncompleteRequest,
    RateLimiter,
)
from thinkback.server.options import Options
from thinkback.server.principal import Principal, require_scope
from thinkback.server.telemetry import Telemetry
from thinkback.server.thread_pool import ThreadPool

_REQUEST_ID = re.compile(rb"[!-~]{1,64}")
_EXPOSED_HEADERS = (
    b"X-Request-Id, Retry-After, Mcp-Session-Id, X-Thinkback-Memory, X-Thinkback-Recalled, X-Thinkback-Turn"
)
_DEFAULT_HEADERS = ((b"x-content-type-options", b"nosniff"), (b"cache-control", b"no-store"))


DISCONNECT_GRACE_SECONDS = 0.5  # for a room to notice by itself that the client has gone


class ClientStalled(ConnectionError):
    """The client has stopped reading; the response ends here."""


class ClientConnection(Protocol):
    """What `protocol` tells of a client, so that only who does not read costs a timer."""

    @property
    def write_blocked(self) -> bool:
        """Whether what was sent waits to be read."""
        ...

    def abort(self) -> None:
        """End it now, with whatever has not been read."""
        ...


class ResponseSender:
    """`send` for the rooms. What a room says of caching or of its request's id stays."""

    def __init__(self, send: Send, state: dict[str, Any], stall_s: float) -> None:
        self._send = send
        self._connection: ClientConnection | None = state.get("connection")
        self._stall_s = stall_s
        self._request_id: str = state["request_id"]
        self.vary = False  # by origin
        self.origin: str | None = None  # of the page that is to be answered
        self.started = False
        self.stalled = False

    async def __call__(self, message: Message) -> None:
        if self.stalled:
            raise ClientStalled
        if message["type"] == "http.response.start":
            self.started = True
            message = {**message, "headers": self._headers(message.get("headers", ()))}
        if self._connection is not None and not self._connection.write_blocked:
            await self._send(message)
        else:
            await self._send_in_time(message)

    async def _send_in_time(self, message: Message) -> None:
        try:
            async with asyncio.timeout(self._stall_s):
                await self._send(message)
            return
        except TimeoutError:
            self.stalled = True
        if self._connection is not None:
            self._connection.abort()
        await asyncio.sleep(
            DISCONNECT_GRACE_SECONDS
        )  # a room that watches for the client's going ends by itself meanwhile
        raise ClientStalled

    def _headers(self, said: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
        headers = list(said)
        names = {name.lower() for name, _ in headers}
        headers += [header for header in _DEFAULT_HEADERS if header[0] not in names]
        if b"x-request-id" not in names:
            headers.append((b"x-request-id", self._request_id.encode()))
        if self.vary:
            headers.append((b"vary", b"Origin"))
        if self.origin is not None:
            headers.append((b"access-control-allow-origin", self.origin.encode("latin-1")))
            headers.append((b"access-control-expose-headers", _EXPOSED_HEADERS))
        return headers


def choose_request_id(given: list[bytes] | None) -> str:
    """The client's own if it is short and printable, else a new one."""
    if given and _REQUEST_ID.fullmatch(given[0]):
        return given[0].decode()
    return secrets.token_hex(8)


PREFLIGHT_MAX_AGE_SECONDS = 600
ANONYMOUS = Principal(scopes=frozenset())
"""Who asks what needs no key."""

_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_TOKENS = re.compile(rb"[A-Za-z0-9!#$%&'*+.^_`|~, -]{0,1024}")
_log = logging.getLogger(__name__)

HeaderMap = dict[bytes, list[bytes]]


class SecurityMiddleware:
    """`app` behind the gate of one server process."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        options: Options,
        keys: KeyStore,
        pool: ThreadPool,
        telemetry: Telemetry,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._app = app
        self._options = options
        self._telemetry = telemetry
        self._access = AccessTable()
        self._host_policy = HostPolicy(options)
        self._authenticator = Authenticator(keys, pool, clock)
        self._loopback = is_loopback(options.host)
        self._rates = RateLimiter(options.rate, clock)
        self._concurrency = ConcurrencyLimiter(options.max_concurrent_requests)
        self._bodies = BodyReader(
            options.max_body_bytes, options.max_json_depth, options.request_timeout_seconds
        )

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            await self._handle(scope, receive, send)
        else:
            await send({"type": "websocket.close", "code": 1008})

    async def _handle(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        """Serve, and tell what goes wrong; an exception nobody foresaw is told without its words."""
        head: HeaderMap = {}
        for name, value in scope["headers"]:
            head.setdefault(name, []).append(value)
        state = scope.setdefault("state", {})
        if "request_id" not in state:  # the watch around us may have given one
            state["request_id"] = choose_request_id(head.get(b"x-request-id"))
        answer = ResponseSender(send, state, self._options.stall_timeout_seconds)
        try:
            await self._serve(scope, head, receive, answer)
        except (IncompleteRequest, ClientStalled):
            pass
        except Exception as error:
            response = self._error_response(error, state["request_id"])
            if not answer.started:
                await response(scope, receive, answer)
        if answer.stalled:
            self._telemetry.count("thinkback_clients_cut_total", reason="stalled")

    def _error_response(self, error: Exception, request: str) -> Response:
        if isinstance(error, ThinkbackError):
            if isinstance(error, RequestRefused):
                self._telemetry.count("thinkback_requests_refused_total", reason=error.code)
            return error_response(error)
        where = " < ".join(
            f"{at.name}:{at.lineno}" for at in reversed(traceback.extract_tb(error.__traceback__)[-4:])
        )
        _log.error("request %s failed: %s at %s", request, type(error).__name__, where)
        return json_error(
            500, "something went wrong here; the server's log has it by the request's id", "internal"
        )

    async def _serve(
        self, scope: AsgiScope, head: HeaderMap, receive: Receive, answer: ResponseSender
    ) -> None:
        method, path = scope["method"], scope["path"]
        host = self._host_policy.check_host(head.get(b"host", []))
        answer.vary = bool(self._options.allow_origins)
        answer.origin = self._host_policy.check_origin(head.get(b"origin", []), host)
        if method == "OPTIONS" and answer.origin is not None and b"access-control-request-method" in head:
            await _preflight(head)(scope, receive, answer)
            return
        caller = await self._authorize(scope, head, self._access.required_access(method, path))
        scope["state"]["caller"] = caller
        if caller is ANONYMOUS:
            await self._app(scope, receive, answer)
            return
        who = caller.key or _client_address(scope)
        self._rates.acquire(who)
        with self._concurrency.slot(who):
            await self._call_with_body(scope, head, receive, answer)

    async def _authorize(self, scope: AsgiScope, head: HeaderMap, need: RequiredAccess | None) -> Principal:
        if need == "operator":
            need = "nothing" if self._loopback else "admin"
        if need == "nothing":
            return ANONYMOUS
        caller = Principal()
        if not self._loopback or await self._authenticator.requires_key():
            caller = await self._authenticate(scope, head)
        if need is None or _CONTROL.search(scope["path"]):
            raise self._no_route(scope["path"])
        if need != "any":
            require_scope(caller, need)
        return caller

    async def _authenticate(self, scope: AsgiScope, head: HeaderMap) -> Principal:
        """Who holds the credential, which is taken from the request: no room can pass it on."""
        name, credential = auth.read_credential(head)
        caller = await self._authenticator.authenticate(credential)
        if caller is None:
            raise auth.unauthorized("this key is not known here, or no longer")
        scope["headers"] = [header for header in scope["headers"] if header[0] != name]
        return caller

    def _no_route(self, path: str) -> RequestRefused:
        methods = self._access.allowed_methods(path)
        if methods and not _CONTROL.search(path):
            return RequestRefused(
                405, "this path is not asked that way", "method_not_allowed", {"Allow": ", ".join(methods)}
            )
        return RequestRefused(404, "there is nothing at this path", "not_found")

    async def _call_with_body(
        self, scope: AsgiScope, head: HeaderMap, receive: Receive, answer: ResponseSender
    ) -> None:
        lengths = head.get(b"content-length", [])
        if not lengths and b"transfer-encoding" not in head:
            await self._app(scope, receive, answer)
            return
        if any(coding.lower() != b"identity" for coding in head.get(b"content-encoding", [])):
            raise RequestRefused(415, "a request is not compressed", "compressed")
        if len(lengths) > 1 or not all(length.isdigit() for length in lengths):
            raise RequestRefused(400, "the Content-Length of this request cannot be read", "bad_length")
        body = await self._bodies.read(receive, int(lengths[0]) if lengths else 0)
        try:
            await self._app(scope, _replay(body, receive), answer)
        finally:
            self._bodies.release(body)


def _replay(body: bytes, receive: Receive) -> Receive:
    """The body in one piece, then whatever comes after it: the client going away."""
    given = False

    async def again() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again


def _preflight(head: HeaderMap) -> Response:
    """Only asked by pages that are named one by one, so they may send whatever headers they like."""
    asked = head.get(b"access-control-request-headers", [b""])[0]
    headers = {
        "Access-Control-Allow-Methods": "GET, POST, PUT, PATCH, DELETE",
        "Access-Control-Max-Age": str(PREFLIGHT_MAX_AGE_SECONDS),
    }
    if asked and _TOKENS.fullmatch(asked):
        headers["Access-Control-Allow-Headers"] = asked.decode()
    return Response(status_code=204, headers=headers)


def _client_address(scope: AsgiScope) -> str:
    client = scope.get("client")
    return client[0] if client else ""
