"""REST under `/v1/memory`: whatever the library can do for one user, one small file a theme.

app.include_router(router(services)); refusals.register(app)

Requests are pydantic models (`asked`); replies are the JSON that `--json` prints (`replies`), and `told` says
in pydantic what they look like, so that OpenAPI can say it too.
"""

from __future__ import annotations

from fastapi import APIRouter, Depends

from thinkback.apps.server.rest import (
    erasing,
    journal,
    moving,
    overview,
    recalling,
    summary,
    thinking,
    thoughts,
    turns,
)
from thinkback.apps.server.rest.refusals import FAULTS
from thinkback.apps.server.services import Services
from thinkback.apps.server.who import Bring

PREFIX = "/v1/memory"
_THEMES = (turns, thoughts, recalling, journal, summary, thinking, overview, moving, erasing)


def router(services: Services) -> APIRouter:
    """Every operation; what is refused stands in `refusals`."""
    whole = APIRouter(prefix=PREFIX, dependencies=[Depends(Bring(services))], responses={**FAULTS})
    for theme in _THEMES:
        whole.include_router(theme.router)
    return whole
