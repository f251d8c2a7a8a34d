"""`/health` (the process is alive), `/ready` (it can serve) and `/metrics` (Prometheus)."""

from __future__ import annotations

from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from thinkback.errors import ThinkbackError
from thinkback.server.services import Services
from thinkback.server.telemetry.metrics import CONTENT_TYPE
from thinkback.server.thread_pool import DeadlineExceeded

CHECK_TIMEOUT_SECONDS = 1.0  # for each part


def create_routes(services: Services) -> list[BaseRoute]:
    checks = _HealthChecks(services)
    return [
        Route("/health", checks.health, methods=["GET"]),
        Route("/ready", checks.ready, methods=["GET"]),
        Route("/metrics", checks.metrics, methods=["GET"]),
    ]


class _HealthChecks:
    def __init__(self, services: Services) -> None:
        self._services = services
        self._embedder_ready = False  # stays true once the embedder is loaded

    async def health(self, request: Request) -> Response:
        return JSONResponse({"status": "ok"})

    async def ready(self, request: Request) -> Response:
        database = await self._succeeds(self._check_database)
        if not self._embedder_ready:
            self._embedder_ready = await self._succeeds(self._check_embedder)
        serving = not self._services.stopping.is_set()
        parts = {"database": database, "embedder": self._embedder_ready, "serving": serving}
        ready = all(parts.values())
        states = {name: "ok" if ok else "not ready" for name, ok in parts.items()}
        return JSONResponse(
            {"status": "ready" if ready else "not ready", "parts": states}, 200 if ready else 503
        )

    async def metrics(self, request: Request) -> Response:
        telemetry = self._services.telemetry
        try:
            pending = await self._services.pool.run_within(
                CHECK_TIMEOUT_SECONDS, self._services.backlog.pending
            )
            telemetry.set_gauge("thinkback_pending_turns", pending)
        except (DeadlineExceeded, ThinkbackError):
            pass  # the other metrics do not need the database
        return Response(await self._services.pool.run(telemetry.metrics.render), media_type=CONTENT_TYPE)

    async def _succeeds(self, check: Callable[[], object]) -> bool:
        try:
            await self._services.pool.run_within(CHECK_TIMEOUT_SECONDS, check)
        except (DeadlineExceeded, ThinkbackError):
            return False
        return True

    def _check_database(self) -> None:
        self._services.memories.root.store.embedder()

    def _check_embedder(self) -> None:
        self._services.memories.root.embedder.embed(["ready"])
