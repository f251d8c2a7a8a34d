"""ASGI middleware that logs, measures and traces every request."""

from __future__ import annotations

import logging
import re
import time
from typing import Any

from opentelemetry.trace import SpanKind
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from thinkback.server.telemetry import Telemetry, new_request_id, spans
from thinkback.server.telemetry.logs import TrustedText

METHODS = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"})
QUIET_ROUTES = frozenset({"/health", "/ready", "/metrics"})  # polled every few seconds
UNMATCHED_ROUTE = "none"  # unknown paths are not used as a label: clients could create any number of them
STATUS_CLIENT_CLOSED = 499  # the client disconnected before the response started
REQUEST_ID_HEADER = b"x-request-id"
MEMORY_HEADER = b"x-thinkback-memory"  # what memory did for a chat
_CLIENT_REQUEST_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}")


class TelemetryMiddleware:
    """Outermost middleware of the application. Plain ASGI, because every request passes through it."""

    def __init__(self, app: ASGIApp, telemetry: Telemetry) -> None:
        self._app = app
        self._telemetry = telemetry

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        record = _RequestRecord(scope)
        metrics = self._telemetry.metrics

        async def send_recorded(message: Message) -> None:
            if message["type"] == "http.response.start":
                record.on_response_start(message)
            await send(message)

        metrics.add_to_gauge("thinkback_requests_in_flight", 1)
        try:
            if record.traced:
                with spans.continue_trace(scope["headers"]):
                    await self._call_traced(scope, receive, send_recorded, record)
            else:
                await self._call_traced(scope, receive, send_recorded, record)
        except Exception as error:
            record.status = 500
            self._telemetry.logs.log_error("request_failed", error, request=record.id)
            raise
        finally:
            metrics.add_to_gauge("thinkback_requests_in_flight", -1)
            self._record(scope, record)

    async def _call_traced(self, scope: Scope, receive: Receive, send: Send, record: _RequestRecord) -> None:
        if not spans.is_recording():
            await self._app(scope, receive, send)
            return
        attributes = {"http.request.method": _method(scope), "url.scheme": scope.get("scheme", "http")}
        with spans.start_span(_method(scope), SpanKind.SERVER, attributes) as span:
            await self._app(scope, receive, send)
            route = _route(scope)
            span.update_name(f"{_method(scope)} {route}")
            span.set_attribute("http.route", route)
            span.set_attribute("http.response.status_code", record.status)

    def _record(self, scope: Scope, record: _RequestRecord) -> None:
        seconds = time.perf_counter() - record.started
        route, method = _route(scope), _method(scope)
        metrics, logs = self._telemetry.metrics, self._telemetry.logs
        labels = {"route": route, "method": method}
        metrics.count("thinkback_requests_total", 1, {**labels, "status": str(record.status)})
        metrics.observe("thinkback_request_seconds", seconds, labels)
        level = logging.DEBUG if route in QUIET_ROUTES else logging.INFO
        if not logs.is_enabled(level):
            return
        principal = scope["state"].get("principal")
        logs(
            level,
            "request",
            request=record.id,
            method=method,
            route=route,
            status=record.status,
            ms=round(seconds * 1000, 2),
            tenant=getattr(principal, "tenant", None),
            key=getattr(principal, "key", None) or None,
            memory=record.memory,
        )


class _RequestRecord:
    """What is recorded of one request. Its id is the client's, if that is short and plain, or a new one."""

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
        self.id = self.id or TrustedText(new_request_id())
        scope.setdefault("state", {})["request_id"] = self.id

    def on_response_start(self, message: Message) -> None:
        self.status = message["status"]
        headers: list[tuple[bytes, bytes]] = list(message.get("headers", ()))
        for name, value in headers:
            if name.lower() == MEMORY_HEADER:
                self.memory = value.decode("latin-1")
        # The security middleware sets the id, unless the request never reached it.
        if all(name.lower() != REQUEST_ID_HEADER for name, _ in headers):
            headers.append((REQUEST_ID_HEADER, self.id.encode()))
        message["headers"] = headers


def _method(scope: Scope) -> str:
    method = str(scope["method"])
    return method if method in METHODS else "OTHER"


def _route(scope: Scope) -> str:
    """The path template of the matched route: `/v1/memory/turns/{id}`.

    A FastAPI route may know its template without the prefix; the prefix is then taken from the path.
    """
    route: Any = scope.get("route")
    template: str = getattr(route, "path", None) or UNMATCHED_ROUTE
    missing = scope["path"].count("/") - template.count("/")
    if missing <= 0 or template[0] != "/" or ":path}" in template:
        return template
    return "/".join(scope["path"].split("/", missing + 1)[: missing + 1]) + template
