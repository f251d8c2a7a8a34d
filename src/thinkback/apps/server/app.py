"""The server put together: every room's routes behind one gate."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from fastapi import FastAPI
from starlette.applications import Starlette
from starlette.routing import Mount, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from thinkback import __version__, keys
from thinkback.apps.server import health, mem0, proxy, rest
from thinkback.apps.server.desk import Desk
from thinkback.apps.server.gate.gate import Gate
from thinkback.apps.server.mcp.mounting import mount
from thinkback.apps.server.rest import refusals
from thinkback.apps.server.services import Services
from thinkback.ports import Store
from thinkback.times import utc_now
from thinkback.types import Key


def create(services: Services) -> ASGIApp:
    """The ASGI application; whoever made the services closes them."""
    upstream, clerk = proxy.chosen(services), proxy.clerk(services)
    keys_desk = Desk(threads=2)  # of its own: a slow recall keeps nobody at the gate
    tools, tools_running = mount(services)

    @asynccontextmanager
    async def running(_: Starlette) -> AsyncIterator[None]:
        async with tools_running:
            try:
                yield
            finally:
                await upstream.close()
                await clerk.close()
                keys_desk.close()

    chats = proxy.routes(services, upstream, clerk)
    rooms = [*chats, *health.routes(services), *tools, Mount("/", documented(services))]
    return Gate(
        Front(chats, Starlette(routes=rooms, lifespan=running)),
        options=services.options,
        keys=StoredKeys(services.memories.root.store),
        desk=keys_desk,
        telemetry=services.telemetry,
    )


class Front:
    """Chats by the shortest way: one asked for by its exact path passes no middleware of the rooms."""

    def __init__(self, chats: Sequence[Route], rooms: ASGIApp) -> None:
        self._chats = {
            (method, route.path): route
            for route in chats
            for method in route.methods or ()
            if "{" not in route.path
        }
        self.rooms = rooms

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        route = self._chats.get((scope.get("method", ""), scope.get("path", "")))
        if route is None:
            await self.rooms(scope, receive, send)
            return
        scope["route"] = route
        await route.app(scope, receive, send)


def documented(services: Services) -> FastAPI:
    """What OpenAPI tells of at /openapi.json. No page shows it: its scripts would come from elsewhere."""
    api = FastAPI(
        title="thinkback",
        version=__version__,
        summary="Long-term memory for any LLM",
        description="Where the server has keys, send one as `Authorization: Bearer KEY` or as `X-API-Key`.",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    api.include_router(rest.router(services))
    api.include_router(mem0.router(services), responses={**refusals.ANY})
    refusals.register(api)
    return api


class StoredKeys:
    """The keys of the database, as the gate asks for them."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def any(self) -> bool:
        return self._store.keyed()

    def verify(self, credential: str) -> Key | None:
        return keys.verify(credential, self._store.key, utc_now())
