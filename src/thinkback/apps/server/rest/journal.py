"""`/why`, `/journal`: where something comes from, every action with its reason, and taking one back."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Path, Query
from starlette.responses import Response

from thinkback.apps import values
from thinkback.apps.server.rest.asked import LARGEST, After, Id, Limit
from thinkback.apps.server.rest.refusals import DISK_FAULTS
from thinkback.apps.server.rest.replies import page, reply, theme
from thinkback.apps.server.rest.told import ActionTold, Page, WhyTold
from thinkback.apps.server.who import Reading, Writing
from thinkback.memory import Memory
from thinkback.types import Ref

router = theme("journal")

Reference = Annotated[
    str,
    Path(
        pattern="^((thought|turn):)?[1-9][0-9]{0,17}$",
        description="thought:7 (or 7 alone), or the turn of an answer: turn:3.",
    ),
]
Touched = Annotated[int | None, Query(ge=1, le=LARGEST)]


@router.get("/why/{ref}", response_model=WhyTold)
async def why(asked: Reading, ref: Reference) -> Response:
    """Why a thought is held (who said it when, what became of it), or what was recalled for an answer."""
    return await reply(asked, lambda memory: values.why(memory.why(ref)))


@router.get("/journal", response_model=Page[ActionTold])
async def list_actions(
    asked: Reading,
    thought: Touched = None,
    turn: Touched = None,
    after: After = 0,
    limit: Limit = 100,
) -> Response:
    """Every action on the thoughts in sequence: all, those on one thought, or those a turn led to."""

    def make(memory: Memory) -> dict[str, Any]:
        found = memory.journal(thought=thought, turn=turn, after=after, limit=limit + 1)
        return page(found, limit, lambda action: action.id, values.action)

    return await reply(asked, make)


@router.post("/journal/{id}/undo", response_model=ActionTold, responses=DISK_FAULTS)
async def undo(asked: Writing, id: Id) -> Response:
    """Take back one action; undoing the undo does it again."""
    return await reply(asked, lambda memory: values.action(memory.undo(Ref("action", id))))
