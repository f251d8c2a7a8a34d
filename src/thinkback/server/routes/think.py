"""`/think`, `/organise`, `/failures`, `/events`: post-thinking, its failures, and the state of a turn."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from starlette.responses import Response

from thinkback.memory import Memory
from thinkback.schemas import to_json
from thinkback.server.routes.dependencies import (
    ChangeAccess,
    ReadAccess,
    WriteAccess,
    json_reply,
    make_page,
    tagged_router,
)
from thinkback.server.routes.errors import MODEL_ERRORS, WRITE_ERRORS
from thinkback.server.routes.requests import After, Limit, OrganiseRequest, PathId, ThinkRequest
from thinkback.server.routes.responses import (
    EventResponse,
    FailureResponse,
    OrganiseResponse,
    Page,
    RetryResponse,
    ThinkResponse,
)
from thinkback.server.routes.turns import get_turn_or_404

router = tagged_router("thinking")
_THINK_ERRORS = {**MODEL_ERRORS, **WRITE_ERRORS}


@router.post("/think", response_model=ThinkResponse, responses=_THINK_ERRORS)
async def think(ctx: ChangeAccess, body: ThinkRequest | None = None) -> Response:
    """Think over pending turns now, at most `limit`. The server's think processes do this by themselves."""
    options = body or ThinkRequest()

    def make(memory: Memory) -> dict[str, Any]:
        retried = memory.retry_failures() if options.retry_failed else 0
        result = memory.post_think(limit=options.limit)
        return {
            "turns": result.turns,
            "failed": result.failed,
            "retried": retried,
            "pending": memory.store.pending(memory.user),
            "actions": [to_json(action) for action in result.actions],
            "failures": [asdict(failure) for failure in memory.failures()],
            "problems": list(result.problems),
            "receipt": asdict(result.usage),
        }

    return await json_reply(ctx, make)


@router.post("/organise", response_model=OrganiseResponse, responses=_THINK_ERRORS)
async def organise(ctx: ChangeAccess, body: OrganiseRequest | None = None) -> Response:
    """Organise one group of thoughts now, or all. The think processes do this when a group has doubled."""
    group = None if body is None else body.group

    def make(memory: Memory) -> dict[str, Any]:
        result = memory.organise(group=group)
        actions = [to_json(action) for action in result.actions]
        return {"actions": actions, "receipt": asdict(result.usage)}

    return await json_reply(ctx, make)


@router.get("/failures", response_model=Page[FailureResponse])
async def list_failures(ctx: ReadAccess, after: After = 0, limit: Limit = 100) -> Response:
    """List turns whose post-thinking was given up, with reasons."""

    def make(memory: Memory) -> dict[str, Any]:
        later = [failure for failure in memory.failures() if failure.turn > after]
        return make_page(later, limit, lambda failure: failure.turn, asdict)

    return await json_reply(ctx, make)


@router.post("/failures/retry", response_model=RetryResponse, responses=WRITE_ERRORS)
async def retry_failures(ctx: WriteAccess) -> Response:
    """Make all turns pending again whose post-thinking was given up."""
    return await json_reply(ctx, lambda memory: {"retried": memory.retry_failures()})


@router.get("/events/{turn}", response_model=EventResponse)
async def event(ctx: ReadAccess, turn: PathId) -> Response:
    """The state of a turn's post-thinking, with the actions it led to."""
    return await json_reply(ctx, lambda memory: _event_status(memory, turn))


def _event_status(memory: Memory, id_: int) -> dict[str, Any]:
    turn = get_turn_or_404(memory, id_)
    failure = next((failure for failure in memory.failures() if failure.turn == id_), None)
    return {
        "turn": turn.id,
        "ref": str(turn.ref),
        "status": "failed" if failure else "pending" if turn.thought_at is None else "done",
        "thought_at": None if turn.thought_at is None else turn.thought_at.isoformat(),
        "attempts": failure.attempts if failure else None,
        "reason": failure.reason if failure else None,
        "actions": [to_json(action) for action in memory.journal(turn=id_)],
    }
