"""`/why`, `/journal`: explain memories, list journalled actions, and undo them."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Path, Query
from starlette.responses import Response

from thinkback.memory import Memory
from thinkback.schemas import to_json
from thinkback.server.routes.dependencies import (
    ReadAccess,
    WriteAccess,
    json_reply,
    make_page,
    tagged_router,
)
from thinkback.server.routes.errors import WRITE_ERRORS
from thinkback.server.routes.requests import MAX_INTEGER, After, Limit, PathId
from thinkback.server.routes.responses import ActionResponse, ExplanationResponse, Page
from thinkback.types import Ref

router = tagged_router("journal")

Reference = Annotated[
    str,
    Path(
        pattern="^((thought|turn):)?[1-9][0-9]{0,17}$",
        description="thought:7 (or just 7), or the turn of an answer: turn:3.",
    ),
]
FilterId = Annotated[int | None, Query(ge=1, le=MAX_INTEGER)]


@router.get("/why/{ref}", response_model=ExplanationResponse)
async def why(ctx: ReadAccess, ref: Reference) -> Response:
    """Explain a thought (sources, changes), or which memories were recalled for an answer."""
    return await json_reply(ctx, lambda memory: to_json(memory.why(ref)))


@router.get("/journal", response_model=Page[ActionResponse])
async def list_actions(
    ctx: ReadAccess,
    thought: FilterId = None,
    turn: FilterId = None,
    after: After = 0,
    limit: Limit = 100,
) -> Response:
    """List actions in order: all, those on one thought, or those that a turn led to."""

    def make(memory: Memory) -> dict[str, Any]:
        actions = memory.journal(thought=thought, turn=turn, after=after, limit=limit + 1)
        return make_page(actions, limit, lambda action: action.id, to_json)

    return await json_reply(ctx, make)


@router.post("/journal/{id}/undo", response_model=ActionResponse, responses=WRITE_ERRORS)
async def undo(ctx: WriteAccess, id: PathId) -> Response:
    """Undo an action. Undoing the undo restores it."""
    return await json_reply(ctx, lambda memory: to_json(memory.undo(Ref("action", id))))
