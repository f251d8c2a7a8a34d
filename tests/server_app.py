"""The whole server in this process: three tenants with keys, one database, no model behind it.

with house(folder) as home:
    heard = await home.ask("GET", "/v1/memory/stats", key=home.keys["acme"])
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
from thinkback.server.options import Options
from thinkback.server.services import MemoryRegistry, Services
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
        """Something asked while the server runs."""

        async def served() -> _Result:
            async with run_lifespan(self.app):
                return await work()

        return asyncio.run(served())


@contextmanager
def open_server_app(folder: Path, **options: Any) -> Iterator[ServerApp]:
    memory = Memory.open(folder / "house.db", embedder="hashing", background=False)
    desk = ThreadPool(4)
    slow = {"recall_s": 30.0, "remember_s": 30.0}  # a busy machine is no reason to skip anything in a test
    services = Services(Options(**{**slow, **options}), MemoryRegistry(memory), desk, Telemetry())
    try:
        home = ServerApp(create_app(services), services)
        home.keys = {tenant: home.key(tenant) for tenant in TENANTS}
        yield home
    finally:
        desk.close()
        memory.close()


@asynccontextmanager
async def run_lifespan(app: ASGIApp) -> AsyncIterator[None]:
    """The application's lifespan, as a server has it."""
    told: asyncio.Queue[Message] = asyncio.Queue()
    heard: asyncio.Queue[Message] = asyncio.Queue()
    scope = {"type": "lifespan", "asgi": {"version": "3.0"}, "state": {}}
    life = asyncio.ensure_future(app(scope, told.get, heard.put))
    await told.put({"type": "lifespan.startup"})
    assert (await heard.get())["type"] == "lifespan.startup.complete"
    try:
        yield
    finally:
        await told.put({"type": "lifespan.shutdown"})
        assert (await heard.get())["type"] == "lifespan.shutdown.complete"
        await life
