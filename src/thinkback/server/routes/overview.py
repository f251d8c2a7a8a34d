"""`/stats`, `/audit`, `/sessions`, `/entities`, `/users`: overviews of a memory."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from starlette.responses import Response

from thinkback.memory import Memory
from thinkback.schemas import to_json
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
async def stats(ctx: ReadAccess) -> Response:
    """Statistics of one user's memory."""
    return await json_reply(ctx, lambda memory: asdict(memory.stats()))


@router.get("/audit", response_model=AuditResponse)
async def audit(ctx: ReadAccess) -> Response:
    """Find duplicates, loops, quarantined turns, stale and unsupported thoughts. Shows no secrets."""
    return await json_reply(ctx, lambda memory: to_json(memory.audit()))


@router.get("/sessions", response_model=Page[str])
async def list_sessions(ctx: ReadAccess, after: After = 0, limit: Limit = 100) -> Response:
    """List sessions by name."""
    return await json_reply(
        ctx,
        lambda memory: make_offset_page(memory.store.sessions(memory.user), after, limit, lambda name: name),
    )


@router.get("/entities", response_model=Page[EntityResponse])
async def list_entities(ctx: ReadAccess, after: After = 0, limit: Limit = 100) -> Response:
    """List entities with all their names, and the thoughts that identify them."""

    def make(memory: Memory) -> dict[str, Any]:
        entities = (entity for entity in memory.entities() if entity.id > after)
        later = sorted(entities, key=lambda entity: entity.id)
        return make_page(later, limit, lambda entity: entity.id, to_json)

    return await json_reply(ctx, make)


@router.get("/users", response_model=Page[StatsResponse])
async def list_users(ctx: AdminAccess, after: After = 0, limit: Limit = 100) -> Response:
    """List the users of the key's tenant with their statistics. Needs the scope `admin`."""

    def make(memory: Memory) -> dict[str, Any]:
        users = memory.store.users() if ctx.principal.user is None else [memory.user]
        return make_offset_page(users, after, limit, lambda user: asdict(memory.store.stats(user)))

    return await json_reply(ctx, make)
