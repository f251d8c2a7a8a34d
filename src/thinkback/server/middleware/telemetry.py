"""What the server notes of every request: a line in the log, its metrics, its span. Pure ASGI: it is hot."""

from __future__ import annotations

import logging
import re
import secrets
import time
from typing import Any

from opentelemetry.trace import SpanKind
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from thinkback.server.telemetry import Telemetry, spans
from thinkback.server.telemetry.logs import TrustedText

METHODS = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"})
QUIET_ROUTES = frozenset({"/health", "/ready", "/metrics"})  # asked by machines every few seconds
UNMATCHED_ROUTE = "none"  # a path is the client's word, so it is no label
STATUS_CLIENT_CLOSED = 499  # the client was gone before an answer began
REQUEST_ID_HEADER = b"x-request-id"
MEMORY_HEADER = b"x-thinkback-memory"  # how memory took part in a chat
_CLIENT_REQUEST_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}")


class TelemetryMiddleware:
    """Around the whole application."""

    def __init__(self, app: ASGIApp, telemetry: Telemetry) -> None:
        self._app = app
        self._telemetry = telemetry

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        seen = _RequestRecord(scope)
        metrics = self._telemetry.metrics

        async def noted(message: Message) -> None:
            if message["type"] == "http.response.start":
                seen.on_response_start(message)
            await send(message)

        metrics.add_to_gauge("thinkback_requests_in_flight", 1)
        try:
            if seen.traced:
                with spans.continue_trace(scope["headers"]):
                    await self._call_traced(scope, receive, noted, seen)
            else:
                await self._call_traced(scope, receive, noted, seen)
        except Exception as error:
            seen.status = 500
            self._telemetry.logs.log_error("request_failed", error, request=seen.id)
            raise
        finally:
            metrics.add_to_gauge("thinkback_requests_in_flight", -1)
            self._record(scope, seen)

    async def _call_traced(self, scope: Scope, receive: Receive, send: Send, seen: _RequestRecord) -> None:
        if not spans.is_recording():
            await self._app(scope, receive, send)
            return
        told = {"http.request.method": _method(scope), "url.scheme": scope.get("scheme", "http")}
        with spans.start_span(_method(scope), SpanKind.SERVER, told) as span:
            await self._app(scope, receive, send)
            route = _route(scope)
            span.update_name(f"{_method(scope)} {route}")
            span.set_attribute("http.route", route)
            span.set_attribute("http.response.status_code", seen.status)

    def _record(self, scope: Scope, seen: _RequestRecord) -> None:
        seconds = time.perf_counter() - seen.started
        route, method = _route(scope), _method(scope)
        metrics, logs = self._telemetry.metrics, self._telemetry.logs
        of_all = {"route": route, "method": method}
        metrics.count("thinkback_requests_total", 1, {**of_all, "status": str(seen.status)})
        metrics.observe("thinkback_request_seconds", seconds, of_all)
        level = logging.DEBUG if route in QUIET_ROUTES else logging.INFO
        if not logs.is_enabled(level):
            return
        caller = scope["state"].get("caller")
        logs(
            level,
            "request",
            request=seen.id,
            method=method,
            route=route,
            status=seen.status,
            ms=round(seconds * 1000, 2),
            tenant=getattr(caller, "tenant", None),
            key=getattr(caller, "key", None) or None,
            memory=seen.memory,
        )


class _RequestRecord:
    """One request as it passes. Its id is the client's, if that is short and plain; else one of ours."""

    def __init__(self, scope: Scope) -> None:
        self.started = time.perf_counter()
        self.status = STATUS_CLIENT_CLOSED
        self.memory: str | None = None
        self.traced = False
        self.id: str = ""
        for name, value in scope["headers"]:
            if name == b"traceparent":
                self.traced = True
            elif name == b"x-request-id" and _CLIENT_REQUEST_ID.fullmatch(value):
                self.id = value.decode()
        self.id = self.id or TrustedText(secrets.token_hex(8))
        scope.setdefault("state", {})["request_id"] = self.id

    def on_response_start(self, message: Message) -> None:
        self.status = message["status"]
        headers: list[tuple[bytes, bytes]] = list(message.get("headers", ()))
        for name, value in headers:
            if name.lower() == MEMORY_HEADER:
                self.memory = value.decode("latin-1")
        if all(
            name.lower() != REQUEST_ID_HEADER for name, _ in headers
        ):  # the gate has said it, if it was reached
            headers.append((REQUEST_ID_HEADER, self.id.encode()))
        message["headers"] = headers


def _method(scope: Scope) -> str:
    method = str(scope["method"])
    return method if method in METHODS else "OTHER"


def _route(scope: Scope) -> str:
    """The template that the path fitted: `/v1/memory/turns/{id}`.

    A route of FastAPI may know only its own end of it; what comes before is fixed, so it is as in the path.
    """
    route: Any = scope.get("route")
    template: str = getattr(route, "path", None) or UNMATCHED_ROUTE
    missing = scope["path"].count("/") - template.count("/")
    if missing <= 0 or template[0] != "/" or ":path}" in template:
        return template
    return "/".join(scope["path"].split("/", missing + 1)[: missing + 1]) + template
