"""The proxy alone, served in this process: its routes, one caller, a memory without a model."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from tests.serving import As, Serving

from thinkback.apps.server.caller import Caller
from thinkback.apps.server.desk import Desk
from thinkback.apps.server.options import Options
from thinkback.apps.server.proxy import Remote, Upstream, routes
from thinkback.apps.server.proxy.clerks.clerk import AtTheDesk
from thinkback.apps.server.services import Memories, Services
from thinkback.apps.server.telemetry import Telemetry
from thinkback.memory import Memory


@dataclass(frozen=True)
class Proxy:
    url: str
    memory: Memory


@contextmanager
def proxying(
    path: str | Path,
    upstream: str | Upstream,
    *,
    caller: Caller | None = None,
    memory: Memory | None = None,
    telemetry: Telemetry | None = None,
    **options: Any,
) -> Iterator[Proxy]:
    """`url` is the base URL for clients of OpenAI."""
    chosen = Options(**{"recall_s": 5.0, "remember_s": 10.0, **options})  # seconds of a busy machine
    behind = Remote(upstream, chosen.upstream_s) if isinstance(upstream, str) else upstream
    root = memory or Memory.open(path, embedder="hashing", background=False)
    desk = Desk(4)
    services = Services(chosen, Memories(root), desk, telemetry or Telemetry())
    clerk = AtTheDesk(chosen, desk)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> Any:
        yield
        await behind.close()
        await clerk.close()

    app = As(Starlette(routes=routes(services, behind, clerk), lifespan=lifespan), caller)
    try:
        with Serving(app) as server:
            yield Proxy(f"{server.url}/v1", root)
    finally:
        desk.close()
        root.close()
