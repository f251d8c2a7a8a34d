"""REST under `/v1/memory`: whatever the library can do for one user, one small file a theme.

app.include_router(router(services)); refusals.register(app)

Requests are pydantic models (`asked`); replies are the JSON that `--json` prints (`replies`), and `told` says
in pydantic what they look like, so that OpenAPI can say it too.
"""

from __future__ import annotations

from fastapi import APIRouter, Depends

from thinkback.server.routes import (
    erase,
    journal,
    overview,
    recall,
    summary,
    think,
    thoughts,
    transfer,
    turns,
)
from thinkback.server.routes.dependencies import ProvideServices
from thinkback.server.routes.errors import COMMON_ERRORS
from thinkback.server.services import Services

PREFIX = "/v1/memory"
_ROUTE_MODULES = (turns, thoughts, recall, journal, summary, think, overview, transfer, erase)


def create_router(services: Services) -> APIRouter:
    """Every operation; what is refused stands in `refusals`."""
    whole = APIRouter(
        prefix=PREFIX, dependencies=[Depends(ProvideServices(services))], responses={**COMMON_ERRORS}
    )
    for theme in _ROUTE_MODULES:
        whole.include_router(theme.router)
    return whole
