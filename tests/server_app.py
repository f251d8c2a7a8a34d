"""The whole server in this process: three tenants with keys, one database, no model.

with open_server_app(folder) as server:
    response = await server.request("GET", "/v1/memory/stats", key=server.keys["acme"])
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from starlette.types import ASGIApp, Message
from tests.auth_matrix import AppResponse, send_request

from thinkback import Memory, api_keys
from thinkback.server.app import create_app
from thinkback.server.services import MemoryRegistry, Options, Services
from thinkback.server.telemetry import Telemetry
from thinkback.server.thread_pool import ThreadPool
from thinkback.times import utc_now
from thinkback.types import KEY_SCOPES

TENANTS = ("acme", "globex", "initech")
_Result = TypeVar("_Result")


@dataclass
class ServerApp:
    app: ASGIApp
    services: Services
    keys: dict[str, str] = field(default_factory=dict)  # by tenant, with every scope

    def key(self, tenant: str, *scopes: str, user: str | None = None) -> str:
        text, key = api_keys.create_key(tenant, scopes or KEY_SCOPES, utc_now(), user=user)
        self.services.memories.root.store.add_key(key)
        return text

    async def request(self, method: str, path: str, **given: Any) -> AppResponse:
        return await send_request(self.app, method, path, **given)

    def run(self, work: Callable[[], Awaitable[_Result]]) -> _Result:
        """Run `work` while the server runs."""

        async def served() -> _Result:
            async with run_lifespan(self.app):
                return await work()

        return asyncio.run(served())


@contextmanager
def open_server_app(folder: Path, **options: Any) -> Iterator[ServerApp]:
    memory = Memory.open(folder / "server.db", embedder="hashing", background=False)
    pool = ThreadPool(4)
    # Long timeouts: a test must not skip recall because the machine is busy.
    timeouts = {"recall_timeout_seconds": 30.0, "remember_timeout_seconds": 30.0}
    services = Services(Options(**{**timeouts, **options}), MemoryRegistry(memory), pool, Telemetry())
    try:
        server = ServerApp(create_app(services), services)
        server.keys = {tenant: server.key(tenant) for tenant in TENANTS}
        yield server
    finally:
        pool.close()
        memory.close()


@asynccontextmanager
async def run_lifespan(app: ASGIApp) -> AsyncIterator[None]:
    """Run the application's lifespan like a server."""
    requests: asyncio.Queue[Message] = asyncio.Queue()
    replies: asyncio.Queue[Message] = asyncio.Queue()
    scope = {"type": "lifespan", "asgi": {"version": "3.0"}, "state": {}}
    life = asyncio.ensure_future(app(scope, requests.get, replies.put))
    await requests.put({"type": "lifespan.startup"})
    assert (await replies.get())["type"] == "lifespan.startup.complete"
    try:
        yield
    finally:
        await requests.put({"type": "lifespan.shutdown"})
        assert (await replies.get())["type"] == "lifespan.shutdown.complete"
        await life
