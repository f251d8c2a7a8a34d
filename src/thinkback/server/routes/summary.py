"""`/summary`: the working memory of a session, its history, and corrections."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from thinkback.memory import Memory
from thinkback.schemas import from_stored_json, to_stored_json
from thinkback.server.routes.dependencies import (
    ChangeAccess,
    ReadAccess,
    json_reply,
    make_page,
    tagged_router,
)
from thinkback.server.routes.errors import WRITE_ERRORS
from thinkback.server.routes.requests import After, Limit, ReviseSummaryRequest, SessionName
from thinkback.server.routes.responses import Page, SummaryResponse, SummaryUpdateResponse
from thinkback.types import Summary

router = tagged_router("summary")


@router.get("/summary", response_model=SummaryResponse)
async def get_summary(ctx: ReadAccess, session: SessionName = "default") -> Response:
    """The summary of a session, as of its last turn."""
    return await json_reply(ctx, lambda memory: to_stored_json(memory.summary(session)))


@router.put("/summary", response_model=SummaryUpdateResponse, responses=WRITE_ERRORS)
async def revise_summary(ctx: ChangeAccess, body: ReviseSummaryRequest) -> Response:
    """Replace a summary: send the one you got, with changes. If it has changed meanwhile, returns 409."""
    summary = from_stored_json(Summary, body.summary.model_dump())
    return await json_reply(
        ctx,
        lambda memory: to_stored_json(memory.revise_summary(summary, body.reason)),
        "update_memory",
    )


@router.get("/summary/history", response_model=Page[SummaryUpdateResponse])
async def summary_history(
    ctx: ReadAccess, session: SessionName = "default", after: After = 0, limit: Limit = 100
) -> Response:
    """All updates of a summary, oldest first: what changed, why, and what was rejected."""

    def make(memory: Memory) -> dict[str, Any]:
        later = [update for update in memory.summary_history(session) if update.version > after]
        return make_page(later, limit, lambda update: update.version, to_stored_json)

    return await json_reply(ctx, make)


@router.post("/summary/undo", response_model=SummaryUpdateResponse, responses=WRITE_ERRORS)
async def undo_summary(ctx: ChangeAccess, session: SessionName = "default") -> Response:
    """Undo the last update of a summary. Undoing that restores it."""
    return await json_reply(ctx, lambda memory: to_stored_json(memory.undo_summary(session)))
