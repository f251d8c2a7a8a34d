"""A FastAPI application served on loopback for tests, and a minimal HTTP client."""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from urllib.parse import quote, urlencode

import uvicorn
from fastapi import FastAPI
from starlette.types import ASGIApp, Receive, Scope, Send

from thinkback.memory import Memory
from thinkback.server.identity import Principal
from thinkback.server.routes import create_router, errors
from thinkback.server.services import MemoryRegistry, Options, Services
from thinkback.server.telemetry import Telemetry
from thinkback.server.thread_pool import ThreadPool


@dataclass
class AuthenticateAs:
    """Replaces the security middleware: every request comes from `principal`."""

    app: ASGIApp
    principal: Principal = field(default_factory=Principal)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            scope.setdefault("state", {})["principal"] = self.principal
        await self.app(scope, receive, send)


@contextmanager
def open_app(
    make: Callable[[Services], FastAPI], memory: Memory, options: Options | None = None
) -> Iterator[FastAPI]:
    """The application that `make` creates for a memory."""
    pool = ThreadPool(threads=4)
    try:
        yield make(Services(options or Options(), MemoryRegistry(memory), pool, Telemetry()))
    finally:
        pool.close()


def create_rest_app(services: Services) -> FastAPI:
    app = FastAPI(title="thinkback")
    app.include_router(create_router(services))
    errors.register_error_handlers(app)
    return app


open_rest_app = partial(open_app, create_rest_app)


@dataclass(frozen=True)
class HttpResponse:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Client:
    """HTTP client with one connection per request; `headers` are sent with each."""

    port: int
    headers: dict[str, str] = field(default_factory=dict)

    def request(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        headers: dict[str, str] | None = None,
        **query: Any,
    ) -> HttpResponse:
        """Send a request. A `body` that is not bytes is sent as JSON; `query` goes into the URL."""
        sent = {**self.headers, **(headers or {})}
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
            sent.setdefault("Content-Type", "application/json")
        target = quote(path, safe="/:") + (f"?{urlencode(query)}" if query else "")
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(method, target, body=body, headers=sent)
            response = connection.getresponse()
            names = {name.lower(): value for name, value in response.getheaders()}
            return HttpResponse(response.status, names, response.read())
        finally:
            connection.close()


@contextmanager
def serve_app(app: ASGIApp) -> Iterator[Client]:
    """Serve the application on a free loopback port in a thread."""
    config = uvicorn.Config(app, host="127.0.0.1", port=0, log_config=None, lifespan="off")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, name="server under test")
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive(), "the server did not start"
            thread.join(0.01)
        yield Client(server.servers[0].sockets[0].getsockname()[1])
    finally:
        server.should_exit = True
        thread.join()
