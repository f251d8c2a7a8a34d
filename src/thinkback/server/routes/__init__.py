"""REST API under `/v1/memory`: everything the library can do for one user, one module per resource.

app.include_router(create_router(services))
errors.register_error_handlers(app)

`requests` and `responses` are the pydantic models; `dependencies` gives each route its memory. mem0's API is
in the package `mem0`.
"""

from __future__ import annotations

from fastapi import APIRouter, Depends

from thinkback.server.routes import (
    clinic,
    explain,
    journal,
    laboratory,
    memory_health,
    overview,
    recall,
    summary,
    think,
    thoughts,
    transfer,
    turns,
    views,
    web,
)
from thinkback.server.routes.dependencies import ProvideServices
from thinkback.server.routes.errors import COMMON_ERRORS
from thinkback.server.services import Services

PREFIX = "/v1/memory"
WEB_PREFIX, CLINIC_PREFIX, LABORATORY_PREFIX = "/v1/web", "/v1/clinic", "/v1/lab"
_ROUTERS = (
    turns.router,
    views.router,
    thoughts.router,
    recall.router,
    explain.router,
    journal.router,
    summary.router,
    think.router,
    overview.router,
    memory_health.router,
    transfer.router,
    turns.erase_router,
)


def create_router(services: Services) -> APIRouter:
    """Create the router of all resources of a memory."""
    return _collect(services, PREFIX, *_ROUTERS)


def create_page_routers(services: Services) -> list[APIRouter]:
    """Create the routers of what the web page adds: its session and keys, the clinic, the laboratory."""
    return [
        _collect(services, WEB_PREFIX, web.router),
        _collect(services, CLINIC_PREFIX, clinic.router),
        _collect(services, LABORATORY_PREFIX, laboratory.router),
    ]


def _collect(services: Services, prefix: str, *resources: APIRouter) -> APIRouter:
    router = APIRouter(
        prefix=prefix, dependencies=[Depends(ProvideServices(services))], responses={**COMMON_ERRORS}
    )
    for resource in resources:
        router.include_router(resource)
    return router
