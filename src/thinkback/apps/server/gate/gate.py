"""The gate: nobody reaches a room but by a known name, with a key that may, within the limits.

request -> Host, Origin (doorways) -> key (credentials) -> scope (access) -> rate, number, body (limits)

A pure ASGI middleware, because it stands in the way of every chat. Rooms find `caller` and `request_id` in
the scope's state; the credential itself goes no further than here.
"""

from __future__ import annotations

import logging
import re
import time
import traceback
from collections.abc import Callable

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Send
from starlette.types import Scope as AsgiScope

from thinkback.apps.server.caller import Caller, require
from thinkback.apps.server.desk import Desk
from thinkback.apps.server.faults import Refused, fault, told
from thinkback.apps.server.gate import credentials
from thinkback.apps.server.gate.access import Access, Need
from thinkback.apps.server.gate.answering import Answer, Stalled, request_id
from thinkback.apps.server.gate.credentials import Keys, Knowing
from thinkback.apps.server.gate.doorways import Doorways, is_loopback
from thinkback.apps.server.gate.limits import Bodies, ClientGone, InHand, Rates
from thinkback.apps.server.options import Options
from thinkback.apps.server.telemetry import Telemetry
from thinkback.errors import ThinkbackError

PREFLIGHT_S = 600
NOBODY = Caller(scopes=frozenset())
"""Who asks what needs no key."""

_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_TOKENS = re.compile(rb"[A-Za-z0-9!#$%&'*+.^_`|~, -]{0,1024}")
_log = logging.getLogger(__name__)

Head = dict[bytes, list[bytes]]


class Gate:
    """`app` behind the gate of one server process."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        options: Options,
        keys: Keys,
        desk: Desk,
        telemetry: Telemetry,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._app = app
        self._options = options
        self._telemetry = telemetry
        self._access = Access()
        self._doorways = Doorways(options)
        self._knowing = Knowing(keys, desk, clock)
        self._loopback = is_loopback(options.host)
        self._rates = Rates(options.rate, clock)
        self._in_hand = InHand(options.concurrency)
        self._bodies = Bodies(options.body_bytes, options.json_depth, options.request_s)

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            await self._guarded(scope, receive, send)
        else:
            await send({"type": "websocket.close", "code": 1008})

    async def _guarded(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        """Serve, and tell what goes wrong; an exception nobody foresaw is told without its words."""
        head: Head = {}
        for name, value in scope["headers"]:
            head.setdefault(name, []).append(value)
        state = scope.setdefault("state", {})
        if "request_id" not in state:  # the watch around us may have given one
            state["request_id"] = request_id(head.get(b"x-request-id"))
        answer = Answer(send, state, self._options.stall_s)
        try:
            await self._serve(scope, head, receive, answer)
        except (ClientGone, Stalled):
            pass
        except Exception as error:
            response = self._told(error, state["request_id"])
            if not answer.started:
                await response(scope, receive, answer)
        if answer.stalled:
            self._telemetry.count("thinkback_clients_cut_total", reason="stalled")

    def _told(self, error: Exception, request: str) -> Response:
        if isinstance(error, ThinkbackError):
            if isinstance(error, Refused):
                self._telemetry.count("thinkback_requests_refused_total", reason=error.code)
            return told(error)
        where = " < ".join(
            f"{at.name}:{at.lineno}" for at in reversed(traceback.extract_tb(error.__traceback__)[-4:])
        )
        _log.error("request %s failed: %s at %s", request, type(error).__name__, where)
        return fault(
            500, "something went wrong here; the server's log has it by the request's id", "internal"
        )

    async def _serve(self, scope: AsgiScope, head: Head, receive: Receive, answer: Answer) -> None:
        method, path = scope["method"], scope["path"]
        host = self._doorways.check_host(head.get(b"host", []))
        answer.vary = bool(self._options.allow_origins)
        answer.origin = self._doorways.check_origin(head.get(b"origin", []), host)
        if method == "OPTIONS" and answer.origin is not None and b"access-control-request-method" in head:
            await _preflight(head)(scope, receive, answer)
            return
        caller = await self._let_in(scope, head, self._access.need(method, path))
        scope["state"]["caller"] = caller
        if caller is NOBODY:
            await self._app(scope, receive, answer)
            return
        who = caller.key or _address(scope)
        self._rates.take(who)
        with self._in_hand.one(who):
            await self._with_body(scope, head, receive, answer)

    async def _let_in(self, scope: AsgiScope, head: Head, need: Need | None) -> Caller:
        if need == "operator":
            need = "nothing" if self._loopback else "admin"
        if need == "nothing":
            return NOBODY
        caller = Caller()
        if not self._loopback or await self._knowing.closed():
            caller = await self._identified(scope, head)
        if need is None or _CONTROL.search(scope["path"]):
            raise self._no_route(scope["path"])
        if need != "any":
            require(caller, need)
        return caller

    async def _identified(self, scope: AsgiScope, head: Head) -> Caller:
        """Who holds the credential, which is taken from the request: no room can pass it on."""
        name, credential = credentials.read(head)
        caller = await self._knowing.caller(credential)
        if caller is None:
            raise credentials.unauthorized("this key is not known here, or no longer")
        scope["headers"] = [header for header in scope["headers"] if header[0] != name]
        return caller

    def _no_route(self, path: str) -> Refused:
        methods = self._access.methods(path)
        if methods and not _CONTROL.search(path):
            return Refused(
                405, "this path is not asked that way", "method_not_allowed", {"Allow": ", ".join(methods)}
            )
        return Refused(404, "there is nothing at this path", "not_found")

    async def _with_body(self, scope: AsgiScope, head: Head, receive: Receive, answer: Answer) -> None:
        lengths = head.get(b"content-length", [])
        if not lengths and b"transfer-encoding" not in head:
            await self._app(scope, receive, answer)
            return
        if any(coding.lower() != b"identity" for coding in head.get(b"content-encoding", [])):
            raise Refused(415, "a request is not compressed", "compressed")
        if len(lengths) > 1 or not all(length.isdigit() for length in lengths):
            raise Refused(400, "the Content-Length of this request cannot be read", "bad_length")
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


def _preflight(head: Head) -> Response:
    """Only asked by pages that are named one by one, so they may send whatever headers they like."""
    asked = head.get(b"access-control-request-headers", [b""])[0]
    headers = {
        "Access-Control-Allow-Methods": "GET, POST, PUT, PATCH, DELETE",
        "Access-Control-Max-Age": str(PREFLIGHT_S),
    }
    if asked and _TOKENS.fullmatch(asked):
        headers["Access-Control-Allow-Headers"] = asked.decode()
    return Response(status_code=204, headers=headers)


def _address(scope: AsgiScope) -> str:
    client = scope.get("client")
    return client[0] if client else ""
