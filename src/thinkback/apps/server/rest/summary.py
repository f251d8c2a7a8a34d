"""`/summary`: what a conversation has come to, how, and putting it right."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from thinkback import codec
from thinkback.apps.server.rest.asked import After, Limit, SessionName, SummaryRevised
from thinkback.apps.server.rest.refusals import DISK_FAULTS
from thinkback.apps.server.rest.replies import page, reply, theme
from thinkback.apps.server.rest.told import Page, SummaryTold, UpdateTold
from thinkback.apps.server.who import Reading, Writing
from thinkback.memory import Memory

router = theme("summary")


@router.get("/summary", response_model=SummaryTold)
async def get_summary(asked: Reading, session: SessionName = "default") -> Response:
    """What a conversation has come to, as of its last turn."""
    return await reply(asked, lambda memory: codec.summary_to_json(memory.summary(session)))


@router.put("/summary", response_model=UpdateTold, responses=DISK_FAULTS)
async def revise_summary(asked: Writing, body: SummaryRevised) -> Response:
    """Put a summary as a person wants it: send what was got, changed; another version meanwhile is a 409."""
    wanted = codec.summary_from_json(body.summary.model_dump())
    return await reply(
        asked,
        lambda memory: codec.update_to_json(memory.revise_summary(wanted, body.reason)),
        "update_memory",
    )


@router.get("/summary/history", response_model=Page[UpdateTold])
async def summary_history(
    asked: Reading, session: SessionName = "default", after: After = 0, limit: Limit = 100
) -> Response:
    """Every update of it, oldest first: what changed, why, and what was refused."""

    def make(memory: Memory) -> dict[str, Any]:
        later = [each for each in memory.summary_history(session) if each.version > after]
        return page(later, limit, lambda update: update.version, codec.update_to_json)

    return await reply(asked, make)


@router.post("/summary/undo", response_model=UpdateTold, responses=DISK_FAULTS)
async def undo_summary(asked: Writing, session: SessionName = "default") -> Response:
    """Take back the last update of it; to undo that does it again."""
    return await reply(asked, lambda memory: codec.update_to_json(memory.undo_summary(session)))
