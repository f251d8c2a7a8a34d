"""`/health` (it is alive), `/ready` (it can serve) and `/metrics`: for machines that watch."""

from __future__ import annotations

from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from thinkback.apps.server.desk import TooSlow
from thinkback.apps.server.services import Services
from thinkback.apps.server.telemetry.metrics import CONTENT_TYPE
from thinkback.errors import ThinkbackError

PATIENCE_S = 1.0  # for each part to answer


def routes(services: Services) -> list[BaseRoute]:
    watcher = _Watcher(services)
    return [
        Route("/health", watcher.health, methods=["GET"]),
        Route("/ready", watcher.ready, methods=["GET"]),
        Route("/metrics", watcher.metrics, methods=["GET"]),
    ]


class _Watcher:
    def __init__(self, services: Services) -> None:
        self._services = services
        self._embeds = False  # once loaded it stays

    async def health(self, request: Request) -> Response:
        return JSONResponse({"status": "ok"})

    async def ready(self, request: Request) -> Response:
        database = await self._answers(self._read)
        if not self._embeds:
            self._embeds = await self._answers(self._embed)
        serving = not self._services.stopping.is_set()
        parts = {"database": database, "embedder": self._embeds, "serving": serving}
        ready = all(parts.values())
        told = {name: "ok" if well else "not ready" for name, well in parts.items()}
        return JSONResponse(
            {"status": "ready" if ready else "not ready", "parts": told}, 200 if ready else 503
        )

    async def metrics(self, request: Request) -> Response:
        telemetry = self._services.telemetry
        try:
            pending = await self._services.desk.within(PATIENCE_S, self._services.backlog.pending)
            telemetry.level("thinkback_pending_turns", pending)
        except (TooSlow, ThinkbackError):
            pass  # what is known without the database is told all the same
        return Response(await self._services.desk.do(telemetry.metrics.text), media_type=CONTENT_TYPE)

    async def _answers(self, part: Callable[[], object]) -> bool:
        try:
            await self._services.desk.within(PATIENCE_S, part)
        except (TooSlow, ThinkbackError):
            return False
        return True

    def _read(self) -> None:
        self._services.memories.root.store.embedder()

    def _embed(self) -> None:
        self._services.memories.root.embedder.embed(["ready"])
