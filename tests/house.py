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
from tests.doors import Heard, ask

from thinkback import Memory, keys
from thinkback.apps.server.app import create
from thinkback.apps.server.desk import Desk
from thinkback.apps.server.options import Options
from thinkback.apps.server.services import Memories, Services
from thinkback.apps.server.telemetry import Telemetry
from thinkback.times import utc_now
from thinkback.types import SCOPES

TENANTS = ("acme", "globex", "initech")
_Result = TypeVar("_Result")


@dataclass
class House:
    app: ASGIApp
    services: Services
    keys: dict[str, str] = field(default_factory=dict)  # by tenant, with every scope

    def key(self, tenant: str, *scopes: str, user: str | None = None) -> str:
        text, key = keys.make(tenant, scopes or SCOPES, utc_now(), user=user)
        self.services.memories.root.store.add_key(key)
        return text

    async def ask(self, method: str, path: str, **given: Any) -> Heard:
        return await ask(self.app, method, path, **given)

    def run(self, work: Callable[[], Awaitable[_Result]]) -> _Result:
        """Something asked while the server runs."""

        async def served() -> _Result:
            async with running(self.app):
                return await work()

        return asyncio.run(served())


@contextmanager
def house(folder: Path, **options: Any) -> Iterator[House]:
    memory = Memory.open(folder / "house.db", embedder="hashing", background=False)
    desk = Desk(4)
    slow = {"recall_s": 30.0, "remember_s": 30.0}  # a busy machine is no reason to skip anything in a test
    services = Services(Options(**{**slow, **options}), Memories(memory), desk, Telemetry())
    try:
        home = House(create(services), services)
        home.keys = {tenant: home.key(tenant) for tenant in TENANTS}
        yield home
    finally:
        desk.close()
        memory.close()


@asynccontextmanager
async def running(app: ASGIApp) -> AsyncIterator[None]:
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
