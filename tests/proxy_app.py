"""The proxy alone, served in this process: its routes, one principal, a memory without a model."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from tests.asgi_server import AsgiServer, AuthenticateAs

from thinkback.memory import Memory
from thinkback.server.identity import Principal
from thinkback.server.proxy import RemoteUpstream, Upstream, create_routes
from thinkback.server.proxy.recall_client import LocalRecallClient
from thinkback.server.services import MemoryRegistry, Options, Services
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
    principal: Principal | None = None,
    memory: Memory | None = None,
    telemetry: Telemetry | None = None,
    **options: Any,
) -> Iterator[RunningProxy]:
    """Serve the proxy; `url` is the base URL for OpenAI clients."""
    # Long timeouts, because the machine may be busy.
    chosen = Options(**{"recall_timeout_seconds": 5.0, "remember_timeout_seconds": 10.0, **options})
    behind = (
        RemoteUpstream(upstream, chosen.upstream_timeout_seconds) if isinstance(upstream, str) else upstream
    )
    root = memory or Memory.open(path, embedder="hashing", background=False)
    pool = ThreadPool(4)
    services = Services(chosen, MemoryRegistry(root), pool, telemetry or Telemetry())
    recall_client = LocalRecallClient(chosen, pool)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> Any:
        yield
        await behind.close()
        await recall_client.close()

    app = AuthenticateAs(
        Starlette(routes=create_routes(services, behind, recall_client), lifespan=lifespan), principal
    )
    try:
        with AsgiServer(app) as server:
            yield RunningProxy(f"{server.url}/v1", root)
    finally:
        pool.close()
        root.close()
