"""ASGI middleware in front of every route: who may call it, and how much.

request -> Host, Origin (hosts) -> key or session, scope (auth) -> rate, concurrency, body (limits) -> route

Written as plain ASGI because every chat passes through it. Routes find `principal` and `request_id` in the
scope's state; the credential itself is removed from the request.
"""

from __future__ import annotations

import asyncio
import logging
import re
import time
import traceback
from collections.abc import Callable
from types import TracebackType
from typing import Any, Protocol

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Send
from starlette.types import Scope as AsgiScope

from thinkback.errors import ThinkbackError
from thinkback.protocols import RequestLimitStore
from thinkback.server.errors import RequestRefused, error_response, forbidden, json_error
from thinkback.server.identity import IDENTITY_HEADERS, Principal, decode_name, require_scope
from thinkback.server.middleware import auth
from thinkback.server.middleware.auth import AccessTable, Authenticator, KeyStore, RequiredAccess
from thinkback.server.middleware.hosts import HostPolicy, is_loopback
from thinkback.server.middleware.limits import (
    BodyReader,
    ConcurrencyLimiter,
    IncompleteRequest,
    RateLimiter,
)
from thinkback.server.middleware.shared_limits import SharedLimits
from thinkback.server.services import Options
from thinkback.server.telemetry import Telemetry, new_request_id
from thinkback.server.thread_pool import ThreadPool
from thinkback.server.web_sessions import CSRF_HEADER, read_session_cookie

DISCONNECT_GRACE_SECONDS = 0.5  # for a route to notice the disconnect itself
PREFLIGHT_MAX_AGE_SECONDS = 600
ANONYMOUS = Principal(scopes=frozenset())
"""The principal of requests that need no key."""

_REQUEST_ID = re.compile(rb"[!-~]{1,64}")
_EXPOSED_HEADERS = (
    b"X-Request-Id, Retry-After, Mcp-Session-Id, X-Thinkback-Memory, X-Thinkback-Recalled, X-Thinkback-Turn"
)
_DEFAULT_HEADERS = ((b"x-content-type-options", b"nosniff"), (b"cache-control", b"no-store"))
_IDENTITY_HEADERS = tuple((header.lower().encode(), header) for header in IDENTITY_HEADERS)
_SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_HEADER_NAMES = re.compile(rb"[A-Za-z0-9!#$%&'*+.^_`|~, -]{0,1024}")
_log = logging.getLogger(__name__)

HeaderMap = dict[bytes, list[bytes]]


class ClientStalled(ConnectionError):
    """The client has stopped reading; the rest of the response is dropped."""


class RevokedWhileRunning(RequestRefused):
    """The key of a running request was revoked or has expired."""

    def __init__(self) -> None:
        super().__init__(401, "this key was revoked or has expired", "invalid_api_key")


class CancelOnRevocation:
    """`async with CancelOnRevocation(key_id, authenticator):` ends the block when the key is revoked.

    The key is checked every `KEY_CACHE_SECONDS`. The block is cancelled, and then raises
    `RevokedWhileRunning`. Short requests cost one timer.
    """

    def __init__(self, key_id: str, authenticator: Authenticator) -> None:
        self._key_id = key_id
        self._authenticator = authenticator
        self._revoked = False
        self._watch: asyncio.Task[None] | None = None

    async def __aenter__(self) -> None:
        task = asyncio.current_task()
        if task is None:
            raise RuntimeError("CancelOnRevocation needs a running task")
        self._task = task
        self._timer = asyncio.get_running_loop().call_later(auth.KEY_CACHE_SECONDS, self._start)

    async def __aexit__(
        self,
        error_type: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._timer.cancel()
        if self._watch is not None:
            self._watch.cancel()
        if self._revoked and self._task.uncancel() == 0 and error_type is asyncio.CancelledError:
            raise RevokedWhileRunning from error

    def _start(self) -> None:
        self._watch = asyncio.ensure_future(self._check())

    async def _check(self) -> None:
        while await self._authenticator.is_active(self._key_id):
            await asyncio.sleep(auth.KEY_CACHE_SECONDS)
        self._revoked = True
        self._task.cancel()


class ClientConnection(Protocol):
    """The client's connection (see `http_server.TimedHttpProtocol`). Only blocked writes need a timer."""

    @property
    def write_blocked(self) -> bool:
        """Whether data that was sent has not been read by the client."""
        ...

    def abort(self) -> None:
        """Close the connection now and drop unread data."""
        ...


class ResponseSender:
    """The ASGI `send` of a request: adds default headers, and raises `ClientStalled` for stalled clients.

    Headers that a route sets itself (caching, request id) are kept.
    """

    def __init__(self, send: Send, state: dict[str, Any], stall_seconds: float) -> None:
        self._send = send
        self._connection: ClientConnection | None = state.get("connection")
        self._stall_seconds = stall_seconds
        self._request_id: str = state["request_id"]
        self.vary = False  # whether the response depends on the Origin
        self.origin: str | None = None  # the allowed cross-origin caller
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
            await self._send_with_timeout(message)

    def abort(self) -> None:
        """End the response here: the client sees that it is incomplete."""
        if self._connection is not None:
            self._connection.abort()

    async def _send_with_timeout(self, message: Message) -> None:
        try:
            async with asyncio.timeout(self._stall_seconds):
                await self._send(message)
            return
        except TimeoutError:
            self.stalled = True
        if self._connection is not None:
            self._connection.abort()
        await asyncio.sleep(DISCONNECT_GRACE_SECONDS)  # routes that watch for disconnects end by themselves
        raise ClientStalled

    def _headers(self, route_headers: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
        headers = list(route_headers)
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
    """The client's request id if it is short and printable, otherwise a new one."""
    if given and _REQUEST_ID.fullmatch(given[0]):
        return given[0].decode()
    return new_request_id()


class SecurityMiddleware:
    """Checks every request of one server process before it reaches `app`."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        options: Options,
        keys: KeyStore,
        pool: ThreadPool,
        telemetry: Telemetry,
        limits: RequestLimitStore | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._app = app
        self._options = options
        self._telemetry = telemetry
        self._access = AccessTable()
        self._host_policy = HostPolicy(options)
        self._authenticator = Authenticator(keys, pool, clock)
        self._loopback = is_loopback(options.host)
        self._limits = SharedLimits(
            RateLimiter(options.rate, clock),
            ConcurrencyLimiter(options.max_concurrent_requests),
            limits,
            pool,
            clock,
        )
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
        """Serve the request. Unexpected exceptions are logged and answered without their message."""
        headers: HeaderMap = {}
        for name, value in scope["headers"]:
            headers.setdefault(name, []).append(value)
        state = scope.setdefault("state", {})
        if "request_id" not in state:  # TelemetryMiddleware may have set it
            state["request_id"] = choose_request_id(headers.get(b"x-request-id"))
        sender = ResponseSender(send, state, self._options.stall_timeout_seconds)
        try:
            await self._serve(scope, headers, receive, sender)
        except (IncompleteRequest, ClientStalled):
            pass
        except RevokedWhileRunning as error:
            self._telemetry.count("thinkback_clients_cut_total", reason="revoked")
            if sender.started:
                sender.abort()
            else:
                await error_response(error)(scope, receive, sender)
        except Exception as error:
            response = self._error_response(error, state["request_id"])
            if not sender.started:
                await response(scope, receive, sender)
        if sender.stalled:
            self._telemetry.count("thinkback_clients_cut_total", reason="stalled")

    def _error_response(self, error: Exception, request_id: str) -> Response:
        if isinstance(error, ThinkbackError):
            if isinstance(error, RequestRefused):
                self._telemetry.count("thinkback_requests_refused_total", reason=error.code)
            return error_response(error)
        location = " < ".join(
            f"{frame.name}:{frame.lineno}"
            for frame in reversed(traceback.extract_tb(error.__traceback__)[-4:])
        )
        _log.error("request %s failed: %s at %s", request_id, type(error).__name__, location)
        return json_error(500, "internal error; see the server's log for this request id", "internal")

    async def _serve(
        self, scope: AsgiScope, headers: HeaderMap, receive: Receive, sender: ResponseSender
    ) -> None:
        method, path = scope["method"], scope["path"]
        host = self._host_policy.check_host(headers.get(b"host", []))
        sender.vary = bool(self._options.allow_origins)
        sender.origin = self._host_policy.check_origin(headers.get(b"origin", []), host)
        if method == "OPTIONS" and sender.origin is not None and b"access-control-request-method" in headers:
            await _preflight_response(headers)(scope, receive, sender)
            return
        access = self._access.required_access(method, path)
        principal = await self._authorize(scope, headers, access, sender.origin)
        scope["state"]["principal"] = principal
        if principal is ANONYMOUS:
            await self._app(scope, receive, sender)
            return
        if not scope["query_string"].isascii():  # it would be decoded as Latin-1
            raise RequestRefused(400, "encode the query of the URL as percent-encoded UTF-8", "bad_query")
        for name, header in _IDENTITY_HEADERS:
            decode_name(headers.get(name, ()), header)
        client = principal.key or _client_address(scope)
        await self._limits.acquire(client)
        async with self._limits.slot(client):
            if not principal.key:
                await self._call_with_body(scope, headers, receive, sender)
                return
            async with CancelOnRevocation(principal.key, self._authenticator):
                await self._call_with_body(scope, headers, receive, sender)

    async def _authorize(
        self, scope: AsgiScope, headers: HeaderMap, access: RequiredAccess | None, origin: str | None
    ) -> Principal:
        if access == "operator":
            access = "nothing" if self._loopback else "admin"
        if access == "nothing":
            return ANONYMOUS
        principal = Principal()
        if not self._loopback or await self._authenticator.requires_key():
            if access == "optional":
                return await self._identify(scope, headers, origin)
            principal = await self._authenticate_session(scope, headers, origin) or (
                await self._authenticate(scope, headers)
            )
        elif access == "optional":
            return principal
        if access is None or _CONTROL.search(scope["path"]):
            raise self._no_route(scope["path"])
        if access != "any":
            require_scope(principal, access)
        return principal

    async def _identify(self, scope: AsgiScope, headers: HeaderMap, origin: str | None) -> Principal:
        """The principal of the credential or session of a request; without scopes if there is none."""
        try:
            session = await self._authenticate_session(scope, headers, origin)
            return session or await self._authenticate(scope, headers)
        except RequestRefused as error:
            if error.status == 401:
                return Principal(scopes=frozenset())
            raise

    async def _authenticate_session(
        self, scope: AsgiScope, headers: HeaderMap, origin: str | None
    ) -> Principal | None:
        """The principal of the session cookie; None if a key is sent, or the session is not valid.

        A browser sends the cookie by itself, so a request that changes something must have a header that
        other sites cannot send, and pages of other origins cannot use the cookie at all.
        """
        if b"cookie" not in headers or b"authorization" in headers or b"x-api-key" in headers:
            return None
        token = read_session_cookie(headers[b"cookie"])
        site = headers.get(b"sec-fetch-site", [b"same-origin"])
        if not token or origin is not None or site not in ([b"same-origin"], [b"none"]):
            return None
        principal = await self._authenticator.authenticate(token.encode("latin-1"), session=True)
        if principal is None:
            return None
        if scope["method"] not in _SAFE_METHODS and CSRF_HEADER.lower().encode() not in headers:
            raise forbidden(f"a request with a session cookie needs the header {CSRF_HEADER}")
        scope["state"]["session"] = token
        return principal

    async def _authenticate(self, scope: AsgiScope, headers: HeaderMap) -> Principal:
        """The principal of the credential. Removes the credential, so that no route can forward it."""
        name, credential = auth.read_credential(headers)
        principal = await self._authenticator.authenticate(credential)
        if principal is None:
            raise auth.unauthorized("this key is unknown, expired or revoked")
        scope["headers"] = [header for header in scope["headers"] if header[0] != name]
        return principal

    def _no_route(self, path: str) -> RequestRefused:
        methods = self._access.allowed_methods(path)
        if methods and not _CONTROL.search(path):
            return RequestRefused(
                405, "this path has no such method", "method_not_allowed", {"Allow": ", ".join(methods)}
            )
        return RequestRefused(404, "there is nothing at this path", "not_found")

    async def _call_with_body(
        self, scope: AsgiScope, headers: HeaderMap, receive: Receive, sender: ResponseSender
    ) -> None:
        lengths = headers.get(b"content-length", [])
        if not lengths and b"transfer-encoding" not in headers:
            await self._app(scope, receive, sender)
            return
        if any(coding.lower() != b"identity" for coding in headers.get(b"content-encoding", [])):
            raise RequestRefused(415, "compressed requests are not supported", "compressed")
        if len(lengths) > 1 or not all(length.isdigit() for length in lengths):
            raise RequestRefused(400, "the Content-Length header cannot be parsed", "bad_length")
        body = await self._bodies.read(receive, int(lengths[0]) if lengths else 0)
        try:
            await self._app(scope, _replay(body, receive), sender)
        finally:
            self._bodies.release(body)


def _replay(body: bytes, receive: Receive) -> Receive:
    """A `receive` that returns the body in one message, then whatever follows (the disconnect)."""
    sent = False

    async def replay() -> Message:
        nonlocal sent
        if sent:
            return await receive()
        sent = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replay


def _preflight_response(headers: HeaderMap) -> Response:
    """Answer a CORS preflight. Its origin is explicitly allowed, so it may send any headers."""
    requested = headers.get(b"access-control-request-headers", [b""])[0]
    response_headers = {
        "Access-Control-Allow-Methods": "GET, POST, PUT, PATCH, DELETE",
        "Access-Control-Max-Age": str(PREFLIGHT_MAX_AGE_SECONDS),
    }
    if requested and _HEADER_NAMES.fullmatch(requested):
        response_headers["Access-Control-Allow-Headers"] = requested.decode()
    return Response(status_code=204, headers=response_headers)


def _client_address(scope: AsgiScope) -> str:
    client = scope.get("client")
    return client[0] if client else ""
