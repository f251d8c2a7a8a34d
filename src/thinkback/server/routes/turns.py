"""Routes `/turns` and `/erase`: store turns, list, hide and correct them, and delete them physically."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from typing import Annotated, Any

from fastapi import Query
from starlette.responses import Response

from thinkback.errors import NotFound
from thinkback.memory import Memory
from thinkback.schemas import to_json
from thinkback.server.routes.dependencies import (
    CREATE_MEMORY,
    JSON_MEDIA_TYPE,
    ChangeAccess,
    ReadAccess,
    WriteAccess,
    encode_json,
    json_reply,
    make_page,
    tagged_router,
    turn_to_json,
)
from thinkback.server.routes.errors import WRITE_ERRORS
from thinkback.server.routes.requests import (
    After,
    CorrectRequest,
    EraseAllRequest,
    EraseSessionRequest,
    EraseTurnRequest,
    Limit,
    MessagesRequest,
    PathId,
    SessionName,
    TurnRequest,
)
from thinkback.server.routes.responses import (
    ActionResponse,
    EraseResponse,
    Page,
    RememberResponse,
    TurnResponse,
)
from thinkback.server.routes.thoughts import Reason as ForgetReason
from thinkback.server.routes.thoughts import correct_memory
from thinkback.types import Ref, Turn

router = tagged_router("turns")


@router.post(
    "/turns",
    status_code=201,
    response_model=RememberResponse,
    responses={
        200: {"model": RememberResponse, "description": "Everything was already stored"},
        **WRITE_ERRORS,
    },
)
async def remember(ctx: WriteAccess, body: TurnRequest | MessagesRequest) -> Response:
    """Store one turn, or messages as turns. They are durable when this returns, and thought over later."""
    content, new = await ctx.run(partial(_remember, body=body), CREATE_MEMORY)
    return Response(content, 201 if new else 200, media_type=JSON_MEDIA_TYPE)


@router.get("/turns", response_model=Page[TurnResponse])
async def list_turns(
    ctx: ReadAccess,
    session: SessionName | None = None,
    after: After = 0,
    limit: Limit = 100,
    newest: Annotated[bool, Query(description="Return the last turns instead of the first.")] = False,
    hidden: Annotated[bool, Query(description="Include turns that were forgotten.")] = False,
) -> Response:
    """List turns in order. Secrets and instructions are redacted, as in recall; an export has them."""

    def make(memory: Memory) -> dict[str, Any]:
        count = limit if newest else limit + 1
        turns = memory.turns(session=session, after=after, limit=count, newest=newest, hidden=hidden)
        return make_page(turns, limit, lambda turn: turn.id, turn_to_json)

    return await json_reply(ctx, make)


@router.get("/turns/{id}", response_model=TurnResponse)
async def get_turn(ctx: ReadAccess, id: PathId) -> Response:
    """Get one turn, redacted as in a list."""
    return await json_reply(ctx, lambda memory: turn_to_json(get_turn_or_404(memory, id)))


@router.delete("/turns/{id}", response_model=ActionResponse, responses=WRITE_ERRORS)
async def hide_turn(ctx: ChangeAccess, id: PathId, reason: ForgetReason) -> Response:
    """Hide a turn: it is not recalled any more, nor what was drawn from it alone. It can be undone."""
    ref = Ref("turn", id)
    return await json_reply(ctx, lambda memory: to_json(memory.forget(ref, reason)), "delete_memory")


@router.post("/turns/{id}/correct", status_code=201, response_model=TurnResponse, responses=WRITE_ERRORS)
async def correct_turn(ctx: WriteAccess, id: PathId, body: CorrectRequest) -> Response:
    """Hide a turn and remember a new text instead. Returns the new turn."""
    return await correct_memory(ctx, Ref("turn", id), body)


def get_turn_or_404(memory: Memory, id_: int) -> Turn:
    turns = memory.store.turns(memory.user, ids=[id_])
    if not turns:
        raise NotFound(f"no {Ref('turn', id_)} of user {memory.user!r}")
    return turns[0]


def _remember(memory: Memory, body: TurnRequest | MessagesRequest) -> tuple[bytes, bool]:
    """The reply, and whether any turn is new: a turn that was already stored has an older id."""
    before = memory.turns(limit=1, newest=True) if body.key is not None else []
    if isinstance(body, TurnRequest):
        turns = [memory.remember(body.query, body.response, at=body.at, session=body.session, key=body.key)]
    else:
        messages = [{"role": message.role, "content": message.content} for message in body.messages]
        turns = memory.remember_messages(messages, at=body.at, session=body.session, key=body.key)
    last_id = before[0].id if before else 0
    reply = {
        "turns": [turn_to_json(turn) for turn in turns],
        "pending": memory.store.pending(memory.user),
    }
    return encode_json(reply), any(turn.id > last_id for turn in turns)


erase_router = tagged_router("erase")


@erase_router.post("/erase", response_model=EraseResponse, responses=WRITE_ERRORS)
async def erase(ctx: WriteAccess, body: EraseTurnRequest | EraseSessionRequest | EraseAllRequest) -> Response:
    """Erase a turn, a session or a whole user, with everything derived from it. This cannot be undone."""

    def make(memory: Memory) -> dict[str, Any]:
        if isinstance(body, EraseTurnRequest):
            result = memory.erase(turn=Ref("turn", body.turn))
        elif isinstance(body, EraseSessionRequest):
            result = memory.erase(session=body.session)
        else:
            result = memory.erase(user=memory.user)
        return asdict(result)

    return await json_reply(ctx, make, "delete_memory")
