"""The proxy alone, served in this process: its routes, one caller, a memory without a model."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from tests.asgi_server import AsgiServer, AuthenticateAs

from thinkback.memory import Memory
from thinkback.server.options import Options
from thinkback.server.principal import Principal
from thinkback.server.proxy import RemoteUpstream, Upstream, create_routes
from thinkback.server.proxy.recall_client import LocalRecallClient
from thinkback.server.services import MemoryRegistry, Services
from thinkback.server.telemetry import Telemetry
from thinkback.server.thread_pool import ThreadPool


@dataclass(frozen=True)
class RunningProxy:
    url: str
    memory: Memory


@contextmanager
def run_proxy(
    path: str | Path,
    upstream: str | Upstream,
    *,
    caller: Principal | None = None,
    memory: Memory | None = None,
    telemetry: Telemetry | None = None,
    **options: Any,
) -> Iterator[RunningProxy]:
    """`url` is the base URL for clients of OpenAI."""
    chosen = Options(**{"recall_s": 5.0, "remember_s": 10.0, **options})  # seconds of a busy machine
    behind = (
        RemoteUpstream(upstream, chosen.upstream_timeout_seconds) if isinstance(upstream, str) else upstream
    )
    root = memory or Memory.open(path, embedder="hashing", background=False)
    desk = ThreadPool(4)
    services = Services(chosen, MemoryRegistry(root), desk, telemetry or Telemetry())
    clerk = LocalRecallClient(chosen, desk)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> Any:
        yield
        await behind.close()
        await clerk.close()

    app = AuthenticateAs(Starlette(routes=create_routes(services, behind, clerk), lifespan=lifespan), caller)
    try:
        with AsgiServer(app) as server:
            yield RunningProxy(f"{server.url}/v1", root)
    finally:
        desk.close()
        root.close()
