"""`/summary`: what a conversation has come to, how, and putting it right."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from thinkback import codec
from thinkback.memory import Memory
from thinkback.server.routes.dependencies import ReadAccess, WriteAccess, json_reply, make_page, tagged_router
from thinkback.server.routes.errors import WRITE_ERRORS
from thinkback.server.routes.requests import After, Limit, ReviseSummaryRequest, SessionName
from thinkback.server.routes.responses import Page, SummaryResponse, SummaryUpdateResponse

router = tagged_router("summary")


@router.get("/summary", response_model=SummaryResponse)
async def get_summary(asked: ReadAccess, session: SessionName = "default") -> Response:
    """What a conversation has come to, as of its last turn."""
    return await json_reply(asked, lambda memory: codec.summary_to_json(memory.summary(session)))


@router.put("/summary", response_model=SummaryUpdateResponse, responses=WRITE_ERRORS)
async def revise_summary(asked: WriteAccess, body: ReviseSummaryRequest) -> Response:
    """Put a summary as a person wants it: send what was got, changed; another version meanwhile is a 409."""
    wanted = codec.summary_from_json(body.summary.model_dump())
    return await json_reply(
        asked,
        lambda memory: codec.summary_update_to_json(memory.revise_summary(wanted, body.reason)),
        "update_memory",
    )


@router.get("/summary/history", response_model=Page[SummaryUpdateResponse])
async def summary_history(
    asked: ReadAccess, session: SessionName = "default", after: After = 0, limit: Limit = 100
) -> Response:
    """Every update of it, oldest first: what changed, why, and what was refused."""

    def make(memory: Memory) -> dict[str, Any]:
        later = [each for each in memory.summary_history(session) if each.version > after]
        return make_page(later, limit, lambda update: update.version, codec.summary_update_to_json)

    return await json_reply(asked, make)


@router.post("/summary/undo", response_model=SummaryUpdateResponse, responses=WRITE_ERRORS)
async def undo_summary(asked: WriteAccess, session: SessionName = "default") -> Response:
    """Take back the last update of it; to undo that does it again."""
    return await json_reply(asked, lambda memory: codec.summary_update_to_json(memory.undo_summary(session)))
