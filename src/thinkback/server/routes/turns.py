"""`/turns`: what was said, kept once and listed."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

from fastapi import Query
from starlette.responses import Response

from thinkback import json_output
from thinkback.errors import NotFound
from thinkback.memory import Memory
from thinkback.server.routes.dependencies import (
    CREATE_MEMORY,
    JSON_MEDIA_TYPE,
    ReadAccess,
    WriteAccess,
    encode_json,
    json_reply,
    make_page,
    tagged_router,
)
from thinkback.server.routes.errors import WRITE_ERRORS
from thinkback.server.routes.requests import (
    After,
    Limit,
    MessagesRequest,
    PathId,
    SessionName,
    TurnRequest,
)
from thinkback.server.routes.responses import Page, RememberResponse, TurnResponse
from thinkback.types import Ref, Turn

router = tagged_router("turns")


@router.post(
    "/turns",
    status_code=201,
    response_model=RememberResponse,
    responses={200: {"model": RememberResponse, "description": "All of it was kept before"}, **WRITE_ERRORS},
)
async def remember(asked: WriteAccess, body: TurnRequest | MessagesRequest) -> Response:
    """Keep one turn, or messages as turns: durable when this answers, and thought over by a thinker."""
    content, new = await asked.run(partial(_remember, body=body), CREATE_MEMORY)
    return Response(content, 201 if new else 200, media_type=JSON_MEDIA_TYPE)


@router.get("/turns", response_model=Page[TurnResponse])
async def list_turns(
    asked: ReadAccess,
    session: SessionName | None = None,
    after: After = 0,
    limit: Limit = 100,
    newest: Annotated[bool, Query(description="The last ones instead of the first.")] = False,
) -> Response:
    """What was said, in sequence."""

    def make(memory: Memory) -> dict[str, Any]:
        most = limit if newest else limit + 1
        found = memory.turns(session=session, after=after, limit=most, newest=newest)
        return make_page(found, limit, lambda turn: turn.id, json_output.dump_turn)

    return await json_reply(asked, make)


@router.get("/turns/{id}", response_model=TurnResponse)
async def get_turn(asked: ReadAccess, id: PathId) -> Response:
    """One turn."""
    return await json_reply(asked, lambda memory: json_output.dump_turn(get_turn_or_404(memory, id)))


def get_turn_or_404(memory: Memory, id_: int) -> Turn:
    found = memory.store.turns(memory.user, ids=[id_])
    if not found:
        raise NotFound(f"no {Ref('turn', id_)} of user {memory.user!r}")
    return found[0]


def _remember(memory: Memory, body: TurnRequest | MessagesRequest) -> tuple[bytes, bool]:
    """The reply, and whether any turn is new: one that was there before has a number seen before."""
    before = memory.turns(limit=1, newest=True) if body.key is not None else []
    if isinstance(body, TurnRequest):
        kept = [memory.remember(body.query, body.response, at=body.at, session=body.session, key=body.key)]
    else:
        messages = [{"role": each.role, "content": each.content} for each in body.messages]
        kept = memory.remember_messages(messages, at=body.at, session=body.session, key=body.key)
    last = before[0].id if before else 0
    told = {
        "turns": [json_output.dump_turn(turn) for turn in kept],
        "pending": memory.store.pending(memory.user),
    }
    return encode_json(told), any(turn.id > last for turn in kept)
