"""`/stats`, `/audit`, `/sessions`, `/entities`, `/users`: a memory from above."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from starlette.responses import Response

from thinkback import json_output
from thinkback.memory import Memory
from thinkback.server.routes.dependencies import (
    AdminAccess,
    ReadAccess,
    json_reply,
    make_offset_page,
    make_page,
    tagged_router,
)
from thinkback.server.routes.requests import After, Limit
from thinkback.server.routes.responses import AuditResponse, EntityResponse, Page, StatsResponse

router = tagged_router("overview")


@router.get("/stats", response_model=StatsResponse)
async def stats(asked: ReadAccess) -> Response:
    """One user's memory in numbers."""
    return await json_reply(asked, lambda memory: asdict(memory.stats()))


@router.get("/audit", response_model=AuditResponse)
async def audit(asked: ReadAccess) -> Response:
    """Duplicates, loops, quarantined turns, stale and unsupported thoughts; it shows no secret."""
    return await json_reply(asked, lambda memory: json_output.dump_audit(memory.audit()))


@router.get("/sessions", response_model=Page[str])
async def list_sessions(asked: ReadAccess, after: After = 0, limit: Limit = 100) -> Response:
    """The conversations there are, by name."""
    return await json_reply(
        asked,
        lambda memory: make_offset_page(memory.store.sessions(memory.user), after, limit, lambda name: name),
    )


@router.get("/entities", response_model=Page[EntityResponse])
async def list_entities(asked: ReadAccess, after: After = 0, limit: Limit = 100) -> Response:
    """Who and what thoughts are about, all names of each, and the thoughts by which they are one."""

    def make(memory: Memory) -> dict[str, Any]:
        later = sorted((each for each in memory.entities() if each.id > after), key=lambda each: each.id)
        return make_page(later, limit, lambda entity: entity.id, json_output.dump_entity)

    return await json_reply(asked, make)


@router.get("/users", response_model=Page[StatsResponse])
async def list_users(asked: AdminAccess, after: After = 0, limit: Limit = 100) -> Response:
    """Whose memories the key's tenant holds, each in numbers. Needs the scope `admin`."""

    def make(memory: Memory) -> dict[str, Any]:
        users = memory.store.users() if asked.principal.user is None else [memory.user]
        return make_offset_page(users, after, limit, lambda user: asdict(memory.store.stats(user)))

    return await json_reply(asked, make)
