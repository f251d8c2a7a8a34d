"""`/turns`: what was said, kept once and listed."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

from fastapi import Query
from starlette.responses import Response

from thinkback.apps import values
from thinkback.apps.server.rest.asked import After, Id, Limit, MessagesSaid, SessionName, TurnSaid
from thinkback.apps.server.rest.refusals import DISK_FAULTS
from thinkback.apps.server.rest.replies import JSON, encoded, page, reply, theme
from thinkback.apps.server.rest.told import Page, RememberedTold, TurnTold
from thinkback.apps.server.who import ADDS, Reading, Writing
from thinkback.errors import NotFound
from thinkback.memory import Memory
from thinkback.types import Ref, Turn

router = theme("turns")


@router.post(
    "/turns",
    status_code=201,
    response_model=RememberedTold,
    responses={200: {"model": RememberedTold, "description": "All of it was kept before"}, **DISK_FAULTS},
)
async def remember(asked: Writing, body: TurnSaid | MessagesSaid) -> Response:
    """Keep one turn, or messages as turns: durable when this answers, and thought over by a thinker."""
    content, new = await asked.do(partial(_kept, body=body), ADDS)
    return Response(content, 201 if new else 200, media_type=JSON)


@router.get("/turns", response_model=Page[TurnTold])
async def list_turns(
    asked: Reading,
    session: SessionName | None = None,
    after: After = 0,
    limit: Limit = 100,
    newest: Annotated[bool, Query(description="The last ones instead of the first.")] = False,
) -> Response:
    """What was said, in sequence."""

    def make(memory: Memory) -> dict[str, Any]:
        most = limit if newest else limit + 1
        found = memory.turns(session=session, after=after, limit=most, newest=newest)
        return page(found, limit, lambda turn: turn.id, values.turn)

    return await reply(asked, make)


@router.get("/turns/{id}", response_model=TurnTold)
async def get_turn(asked: Reading, id: Id) -> Response:
    """One turn."""
    return await reply(asked, lambda memory: values.turn(the_turn(memory, id)))


def the_turn(memory: Memory, id_: int) -> Turn:
    found = memory.store.turns(memory.user, ids=[id_])
    if not found:
        raise NotFound(f"no {Ref('turn', id_)} of user {memory.user!r}")
    return found[0]


def _kept(memory: Memory, body: TurnSaid | MessagesSaid) -> tuple[bytes, bool]:
    """The reply, and whether any turn is new: one that was there before has a number seen before."""
    before = memory.turns(limit=1, newest=True) if body.key is not None else []
    if isinstance(body, TurnSaid):
        kept = [memory.remember(body.query, body.response, at=body.at, session=body.session, key=body.key)]
    else:
        messages = [{"role": each.role, "content": each.content} for each in body.messages]
        kept = memory.remember_messages(messages, at=body.at, session=body.session, key=body.key)
    last = before[0].id if before else 0
    told = {"turns": [values.turn(turn) for turn in kept], "pending": memory.store.pending(memory.user)}
    return encoded(told), any(turn.id > last for turn in kept)
