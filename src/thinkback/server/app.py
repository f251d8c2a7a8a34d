"""The server put together: every room's routes behind one gate."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from fastapi import FastAPI
from starlette.applications import Starlette
from starlette.routing import Mount, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from thinkback import __version__, api_keys
from thinkback.protocols import Store
from thinkback.server import proxy, routes
from thinkback.server.mcp.server import mount_http
from thinkback.server.middleware.security import SecurityMiddleware
from thinkback.server.routes import errors, health, mem0
from thinkback.server.services import Services
from thinkback.server.thread_pool import ThreadPool
from thinkback.times import utc_now
from thinkback.types import ApiKey


def create_app(services: Services) -> ASGIApp:
    """The ASGI application; whoever made the services closes them."""
    upstream, clerk = proxy.choose_upstream(services), proxy.create_recall_client(services)
    keys_desk = ThreadPool(threads=2)  # of its own: a slow recall keeps nobody at the gate
    tools, tools_running = mount_http(services)

    @asynccontextmanager
    async def running(_: Starlette) -> AsyncIterator[None]:
        async with tools_running:
            try:
                yield
            finally:
                await upstream.close()
                await clerk.close()
                keys_desk.close()

    chats = proxy.create_routes(services, upstream, clerk)
    rooms = [*chats, *health.create_routes(services), *tools, Mount("/", create_api(services))]
    return SecurityMiddleware(
        ChatFastPath(chats, Starlette(routes=rooms, lifespan=running)),
        options=services.options,
        keys=StoredKeys(services.memories.root.store),
        pool=keys_desk,
        telemetry=services.telemetry,
    )


class ChatFastPath:
    """Chats by the shortest way: one asked for by its exact path passes no middleware of the rooms."""

    def __init__(self, chats: Sequence[Route], rooms: ASGIApp) -> None:
        self._chats = {
            (method, route.path): route
            for route in chats
            for method in route.methods or ()
            if "{" not in route.path
        }
        self.app = rooms

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        route = self._chats.get((scope.get("method", ""), scope.get("path", "")))
        if route is None:
            await self.app(scope, receive, send)
            return
        scope["route"] = route
        await route.app(scope, receive, send)


def create_api(services: Services) -> FastAPI:
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
    api.include_router(routes.create_router(services))
    api.include_router(mem0.create_router(services), responses={**errors.ALL_ERRORS})
    errors.register_error_handlers(api)
    return api


class StoredKeys:
    """The keys of the database, as the gate asks for them."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def has_keys(self) -> bool:
        return self._store.requires_keys()

    def verify(self, credential: str) -> ApiKey | None:
        return api_keys.verify_key(credential, self._store.key, utc_now())
