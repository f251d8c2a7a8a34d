"""MCP at /mcp: streamable HTTP without sessions, so that any worker process can answer any request."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager

from mcp.server.transport_security import TransportSecuritySettings
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from thinkback.apps.server.faults import fault
from thinkback.apps.server.mcp.hosts import ManyUsers
from thinkback.apps.server.mcp.server import create
from thinkback.apps.server.services import Services

PATH = "/mcp"


def mount(services: Services) -> tuple[list[BaseRoute], AbstractAsyncContextManager[None]]:
    """The routes, and what must be entered for as long as they are served.

    Only POST does anything: without sessions there is no stream to open (GET) and nothing to end (DELETE).
    """
    server = create(ManyUsers(services))
    server.streamable_http_app(
        streamable_http_path=PATH,
        json_response=True,
        stateless_http=True,
        max_request_body_size=services.options.body_bytes,
        transport_security=TransportSecuritySettings(
            enable_dns_rebinding_protection=False
        ),  # the gate has it
    )
    manager = server.session_manager
    routes: list[BaseRoute] = [
        Route(PATH, manager.asgi_app, methods=["POST"]),
        Route(PATH, _no_stream, methods=["GET", "DELETE"]),
    ]
    return routes, manager.run()


async def _no_stream(request: Request) -> Response:
    message = "there are no sessions here: no stream to open, and none to end"
    return fault(405, message, "method_not_allowed", {"Allow": "POST"})
