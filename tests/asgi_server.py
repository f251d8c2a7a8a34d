"""Serves an ASGI application on a free loopback port in a thread, for tests over a real connection.

with AsgiServer(app) as server:
    requests go to server.url
"""

from __future__ import annotations

import threading
from types import TracebackType
from typing import Self

import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send

from thinkback.server.identity import Principal


class AsgiServer:
    """Starts on entering the context, and has ended on leaving it."""

    def __init__(self, app: ASGIApp) -> None:
        config = uvicorn.Config(
            app, host="127.0.0.1", port=0, log_config=None, access_log=False, lifespan="auto"
        )
        config.timeout_graceful_shutdown = 5
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._run, name="test-server", daemon=True)
        self._error: BaseException | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> Self:
        self._thread.start()
        while not self._server.started:
            self._thread.join(0.005)
            if not self._thread.is_alive():
                raise RuntimeError("the server did not start") from self._error
        self.port = int(self._server.servers[0].sockets[0].getsockname()[1])
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.should_exit = True
        self._thread.join(20)
        if self._thread.is_alive():
            raise RuntimeError("the server does not stop")

    def _run(self) -> None:
        try:
            self._server.run()
        except BaseException as error:
            self._error = error


class AuthenticateAs:
    """Middleware that authenticates every request as one principal, without the security middleware."""

    def __init__(self, app: ASGIApp, principal: Principal | None = None) -> None:
        self._app = app
        self._caller = principal or Principal()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            scope.setdefault("state", {})["principal"] = self._caller
        await self._app(scope, receive, send)
