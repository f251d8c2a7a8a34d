"""`/why`, `/journal`: where something comes from, every action with its reason, and taking one back."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Path, Query
from starlette.responses import Response

from thinkback import json_output
from thinkback.memory import Memory
from thinkback.server.routes.dependencies import ReadAccess, WriteAccess, json_reply, make_page, tagged_router
from thinkback.server.routes.errors import WRITE_ERRORS
from thinkback.server.routes.requests import MAX_INTEGER, After, Limit, PathId
from thinkback.server.routes.responses import ActionResponse, ExplanationResponse, Page
from thinkback.types import Ref

router = tagged_router("journal")

Reference = Annotated[
    str,
    Path(
        pattern="^((thought|turn):)?[1-9][0-9]{0,17}$",
        description="thought:7 (or 7 alone), or the turn of an answer: turn:3.",
    ),
]
FilterId = Annotated[int | None, Query(ge=1, le=MAX_INTEGER)]


@router.get("/why/{ref}", response_model=ExplanationResponse)
async def why(asked: ReadAccess, ref: Reference) -> Response:
    """Why a thought is held (who said it when, what became of it), or what was recalled for an answer."""
    return await json_reply(asked, lambda memory: json_output.dump_explanation(memory.why(ref)))


@router.get("/journal", response_model=Page[ActionResponse])
async def list_actions(
    asked: ReadAccess,
    thought: FilterId = None,
    turn: FilterId = None,
    after: After = 0,
    limit: Limit = 100,
) -> Response:
    """Every action on the thoughts in sequence: all, those on one thought, or those a turn led to."""

    def make(memory: Memory) -> dict[str, Any]:
        found = memory.journal(thought=thought, turn=turn, after=after, limit=limit + 1)
        return make_page(found, limit, lambda action: action.id, json_output.dump_action)

    return await json_reply(asked, make)


@router.post("/journal/{id}/undo", response_model=ActionResponse, responses=WRITE_ERRORS)
async def undo(asked: WriteAccess, id: PathId) -> Response:
    """Take back one action; undoing the undo does it again."""
    return await json_reply(asked, lambda memory: json_output.dump_action(memory.undo(Ref("action", id))))
