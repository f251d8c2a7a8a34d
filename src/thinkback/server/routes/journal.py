"""`/why`, `/journal`: explain memories, list journalled actions, and undo them."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Path, Query, Request
from pydantic import Field
from starlette.responses import Response, StreamingResponse

from thinkback.memory import Memory
from thinkback.schemas import to_json
from thinkback.server.routes.dependencies import (
    ChangeAccess,
    ReadAccess,
    json_reply,
    make_page,
    tagged_router,
)
from thinkback.server.routes.errors import WRITE_ERRORS
from thinkback.server.routes.journal_feed import (
    MAX_STREAM_SECONDS,
    ActionFilter,
    JournalEvents,
    read_recent,
)
from thinkback.server.routes.requests import MAX_INTEGER, After, Limit, PathId
from thinkback.server.routes.responses import ActionResponse, ExplanationResponse, Page
from thinkback.types import ActionKind, Ref

router = tagged_router("journal")

Reference = Annotated[
    str,
    Path(
        pattern="^((thought|turn):)?[1-9][0-9]{0,17}$",
        description="thought:7 (or just 7), or the turn of an answer: turn:3.",
    ),
]
ActorName = Annotated[str, Field(max_length=200)]
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


@router.get("/journal/recent", response_model=Page[ActionResponse])
async def recent_actions(
    ctx: ReadAccess,
    before: Annotated[int | None, Query(ge=1, le=MAX_INTEGER, description="Only older actions.")] = None,
    limit: Limit = 50,
    actions: Annotated[list[ActionKind] | None, Query(alias="action", max_length=6)] = None,
    actors: Annotated[list[ActorName] | None, Query(alias="actor", max_length=20)] = None,
    q: Annotated[str, Query(max_length=1000, description="Words in the reason or the thoughts.")] = "",
) -> Response:
    """List actions, newest first. Pass `next` as `before`; a page may be short while `next` is not null."""

    def make(memory: Memory) -> dict[str, Any]:
        wanted = ActionFilter(frozenset(actions or ()), frozenset(actors or ()), q)
        found, following = read_recent(memory, wanted, before, limit)
        return {"items": [to_json(action) for action in found], "next": following}

    return await json_reply(ctx, make)


@router.get("/journal/stream", response_class=StreamingResponse, include_in_schema=False)
async def stream_actions(
    request: Request,
    ctx: ReadAccess,
    after: Annotated[int | None, Query(ge=0, le=MAX_INTEGER)] = None,
    seconds: Annotated[float, Query(ge=0, le=MAX_STREAM_SECONDS)] = MAX_STREAM_SECONDS,
) -> Response:
    """New actions as server-sent events, for `seconds`. A browser's EventSource then connects again."""
    last_id = request.headers.get("last-event-id", "")
    if last_id.isascii() and last_id.isdigit():
        after = min(int(last_id), MAX_INTEGER)
    events = JournalEvents(ctx, after, seconds)
    return StreamingResponse(events.stream(), media_type="text/event-stream")


@router.post("/journal/{id}/undo", response_model=ActionResponse, responses=WRITE_ERRORS)
async def undo(ctx: ChangeAccess, id: PathId) -> Response:
    """Undo an action. Undoing the undo restores it."""
    return await json_reply(ctx, lambda memory: to_json(memory.undo(Ref("action", id))))
