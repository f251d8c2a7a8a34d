"""`/think`, `/organise`, `/failures`, `/events`: thinking turns over, and whether that was done."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from starlette.responses import Response

from thinkback import json_output
from thinkback.memory import Memory
from thinkback.server.routes.dependencies import ReadAccess, WriteAccess, json_reply, make_page, tagged_router
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
async def think(asked: WriteAccess, body: ThinkRequest | None = None) -> Response:
    """Think over what is pending now, at most `limit` turns; a thinker does so by itself."""
    wanted = body or ThinkRequest()

    def make(memory: Memory) -> dict[str, Any]:
        retried = memory.retry_failures() if wanted.retry_failed else 0
        over = memory.post_think(limit=wanted.limit)
        return {
            "turns": over.turns,
            "failed": over.failed,
            "retried": retried,
            "pending": memory.store.pending(memory.user),
            "actions": [json_output.dump_action(action) for action in over.actions],
            "failures": [asdict(failure) for failure in memory.failures()],
            "problems": list(over.problems),
            "receipt": asdict(over.usage),
        }

    return await json_reply(asked, make)


@router.post("/organise", response_model=OrganiseResponse, responses=_THINK_ERRORS)
async def organise(asked: WriteAccess, body: OrganiseRequest | None = None) -> Response:
    """Put one group of thoughts in order now, or all; a thinker does so by itself when one has doubled."""
    group = None if body is None else body.group

    def make(memory: Memory) -> dict[str, Any]:
        done = memory.organise(group=group)
        actions = [json_output.dump_action(action) for action in done.actions]
        return {"actions": actions, "receipt": asdict(done.usage)}

    return await json_reply(asked, make)


@router.get("/failures", response_model=Page[FailureResponse])
async def list_failures(asked: ReadAccess, after: After = 0, limit: Limit = 100) -> Response:
    """Turns whose thinking over was given up, with the reason."""

    def make(memory: Memory) -> dict[str, Any]:
        later = [each for each in memory.failures() if each.turn > after]
        return make_page(later, limit, lambda failure: failure.turn, asdict)

    return await json_reply(asked, make)


@router.post("/failures/retry", response_model=RetryResponse, responses=WRITE_ERRORS)
async def retry_failures(asked: WriteAccess) -> Response:
    """Put every turn that was given up back among what is pending."""
    return await json_reply(asked, lambda memory: {"retried": memory.retry_failures()})


@router.get("/events/{turn}", response_model=EventResponse)
async def event(asked: ReadAccess, turn: PathId) -> Response:
    """Whether a turn was thought over, with the actions that led to."""
    return await json_reply(asked, lambda memory: _event_status(memory, turn))


def _event_status(memory: Memory, id_: int) -> dict[str, Any]:
    turn = get_turn_or_404(memory, id_)
    given_up = next((each for each in memory.failures() if each.turn == id_), None)
    return {
        "turn": turn.id,
        "ref": str(turn.ref),
        "status": "failed" if given_up else "pending" if turn.thought_at is None else "done",
        "thought_at": None if turn.thought_at is None else turn.thought_at.isoformat(),
        "attempts": given_up.attempts if given_up else None,
        "reason": given_up.reason if given_up else None,
        "actions": [json_output.dump_action(action) for action in memory.journal(turn=id_)],
    }
