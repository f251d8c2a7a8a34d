"""MCP at /mcp: streamable HTTP without sessions, so that any worker process can answer any request."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager

from mcp.server.transport_security import TransportSecuritySettings
from starlette.routing import BaseRoute, Route

from thinkback.apps.server.mcp.hosts import ManyUsers
from thinkback.apps.server.mcp.server import create
from thinkback.apps.server.services import Services

PATH = "/mcp"


def mount(services: Services) -> tuple[list[BaseRoute], AbstractAsyncContextManager[None]]:
    """The routes, and what must be entered for as long as they are served.

    Only POST is routed: without sessions there is no stream to open (GET) and nothing to end (DELETE).
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
    return [Route(PATH, manager.asgi_app, methods=["POST"])], manager.run()
