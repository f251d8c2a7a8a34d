"""`/stats`, `/audit`, `/sessions`, `/entities`, `/users`: a memory from above."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from starlette.responses import Response

from thinkback.apps import values
from thinkback.apps.server.rest.asked import After, Limit
from thinkback.apps.server.rest.replies import page, reply, slice_of, theme
from thinkback.apps.server.rest.told import AuditTold, EntityTold, Page, StatsTold
from thinkback.apps.server.who import Administering, Reading
from thinkback.memory import Memory

router = theme("overview")


@router.get("/stats", response_model=StatsTold)
async def stats(asked: Reading) -> Response:
    """One user's memory in numbers."""
    return await reply(asked, lambda memory: asdict(memory.stats()))


@router.get("/audit", response_model=AuditTold)
async def audit(asked: Reading) -> Response:
    """Duplicates, loops, quarantined turns, stale and unsupported thoughts; it shows no secret."""
    return await reply(asked, lambda memory: values.audit(memory.audit()))


@router.get("/sessions", response_model=Page[str])
async def list_sessions(asked: Reading, after: After = 0, limit: Limit = 100) -> Response:
    """The conversations there are, by name."""
    return await reply(
        asked, lambda memory: slice_of(memory.store.sessions(memory.user), after, limit, lambda name: name)
    )


@router.get("/entities", response_model=Page[EntityTold])
async def list_entities(asked: Reading, after: After = 0, limit: Limit = 100) -> Response:
    """Who and what thoughts are about, all names of each, and the thoughts by which they are one."""

    def make(memory: Memory) -> dict[str, Any]:
        later = sorted((each for each in memory.entities() if each.id > after), key=lambda each: each.id)
        return page(later, limit, lambda entity: entity.id, values.entity)

    return await reply(asked, make)


@router.get("/users", response_model=Page[StatsTold])
async def list_users(asked: Administering, after: After = 0, limit: Limit = 100) -> Response:
    """Whose memories the key's tenant holds, each in numbers. Needs the scope `admin`."""

    def make(memory: Memory) -> dict[str, Any]:
        users = memory.store.users() if asked.caller.user is None else [memory.user]
        return slice_of(users, after, limit, lambda user: asdict(memory.store.stats(user)))

    return await reply(asked, make)
