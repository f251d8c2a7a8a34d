"""The ASGI application: all routes behind the security middleware."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from fastapi import FastAPI
from starlette.applications import Starlette
from starlette.routing import Mount, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from thinkback import __version__, api_keys
from thinkback.protocols import Store
from thinkback.server import proxy, routes, web_page
from thinkback.server.mcp.server import mount_http
from thinkback.server.middleware.security import SecurityMiddleware
from thinkback.server.routes import errors, health, mem0
from thinkback.server.services import Services
from thinkback.server.thread_pool import ThreadPool
from thinkback.server.web_sessions import verify_session
from thinkback.times import utc_now
from thinkback.types import ApiKey


def create_app(services: Services) -> ASGIApp:
    """Create the ASGI application. The caller owns `services` and closes them."""
    upstream, recall_client = proxy.choose_upstream(services), proxy.create_recall_client(services)
    key_pool = ThreadPool(threads=2)  # separate, so that slow recalls do not delay authentication
    mcp_routes, mcp_lifespan = mount_http(services)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with mcp_lifespan:
            try:
                yield
            finally:
                await upstream.close()
                await recall_client.close()
                key_pool.close()

    chat_routes = proxy.create_routes(services, upstream, recall_client)
    all_routes = [
        *chat_routes,
        *health.create_routes(services),
        *web_page.create_routes(),
        *mcp_routes,
        Mount("/", create_api(services)),
    ]
    return SecurityMiddleware(
        ChatFastPath(chat_routes, Starlette(routes=all_routes, lifespan=lifespan)),
        options=services.options,
        keys=StoredKeys(services.memories.root.store),
        pool=key_pool,
        telemetry=services.telemetry,
        limits=services.memories.root.store if services.options.shared_limits else None,
    )


class ChatFastPath:
    """Sends chat requests straight to their route, without Starlette's router and middleware."""

    def __init__(self, chat_routes: Sequence[Route], app: ASGIApp) -> None:
        self._routes = {
            (method, route.path): route
            for route in chat_routes
            for method in route.methods or ()
            if "{" not in route.path
        }
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        route = self._routes.get((scope.get("method", ""), scope.get("path", "")))
        if route is None:
            await self.app(scope, receive, send)
            return
        scope["route"] = route
        await route.app(scope, receive, send)


def create_api(services: Services) -> FastAPI:
    """Create the REST and mem0 API, documented at /openapi.json.

    The HTML documentation pages are off because they load scripts from other servers.
    """
    api = FastAPI(
        title="thinkback",
        version=__version__,
        summary="Long-term memory for any LLM",
        description="If the server has keys, send one as `Authorization: Bearer KEY` or as `X-API-Key`.",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    api.include_router(routes.create_router(services))
    for router in routes.create_page_routers(services):
        api.include_router(router)
    api.include_router(
        mem0.create_router(services), responses={**errors.ALL_ERRORS, **errors.UNSUPPORTED_ERRORS}
    )
    errors.register_error_handlers(api)
    return api


class StoredKeys:
    """The API keys in the database, as a `KeyStore` for the security middleware."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def has_keys(self) -> bool:
        return self._store.requires_keys()

    def is_active(self, key_id: str) -> bool:
        return api_keys.is_stored_key_active(key_id, self._store.key, utc_now())

    def verify(self, credential: str) -> ApiKey | None:
        return api_keys.verify_key(credential, self._store.key, utc_now())

    def verify_session(self, token: str) -> ApiKey | None:
        session = verify_session(token, self._store.key, utc_now())
        return None if session is None else session.key
