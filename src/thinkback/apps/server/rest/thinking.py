"""`/think`, `/organise`, `/failures`, `/events`: thinking turns over, and whether that was done."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from starlette.responses import Response

from thinkback.apps import values
from thinkback.apps.server.rest.asked import After, Id, Limit, OrganiseAsked, ThinkAsked
from thinkback.apps.server.rest.refusals import DISK_FAULTS, MODEL_FAULTS
from thinkback.apps.server.rest.replies import page, reply, theme
from thinkback.apps.server.rest.told import (
    EventTold,
    FailureTold,
    OrganisedTold,
    Page,
    RetriedTold,
    ThoughtOverTold,
)
from thinkback.apps.server.rest.turns import the_turn
from thinkback.apps.server.who import Reading, Writing
from thinkback.memory import Memory

router = theme("thinking")
_MAY_FAIL = {**MODEL_FAULTS, **DISK_FAULTS}


@router.post("/think", response_model=ThoughtOverTold, responses=_MAY_FAIL)
async def think(asked: Writing, body: ThinkAsked | None = None) -> Response:
    """Think over what is pending now, at most `limit` turns; a thinker does so by itself."""
    wanted = body or ThinkAsked()

    def make(memory: Memory) -> dict[str, Any]:
        retried = memory.retry_failures() if wanted.retry_failed else 0
        over = memory.post_think(limit=wanted.limit)
        return {
            "turns": over.turns,
            "failed": over.failed,
            "retried": retried,
            "pending": memory.store.pending(memory.user),
            "actions": [values.action(action) for action in over.actions],
            "failures": [asdict(failure) for failure in memory.failures()],
            "problems": list(over.problems),
            "receipt": asdict(over.receipt),
        }

    return await reply(asked, make)


@router.post("/organise", response_model=OrganisedTold, responses=_MAY_FAIL)
async def organise(asked: Writing, body: OrganiseAsked | None = None) -> Response:
    """Put one group of thoughts in order now, or all; a thinker does so by itself when one has doubled."""
    group = None if body is None else body.group

    def make(memory: Memory) -> dict[str, Any]:
        done = memory.organise(group=group)
        actions = [values.action(action) for action in done.actions]
        return {"actions": actions, "receipt": asdict(done.receipt)}

    return await reply(asked, make)


@router.get("/failures", response_model=Page[FailureTold])
async def list_failures(asked: Reading, after: After = 0, limit: Limit = 100) -> Response:
    """Turns whose thinking over was given up, with the reason."""

    def make(memory: Memory) -> dict[str, Any]:
        later = [each for each in memory.failures() if each.turn > after]
        return page(later, limit, lambda failure: failure.turn, asdict)

    return await reply(asked, make)


@router.post("/failures/retry", response_model=RetriedTold, responses=DISK_FAULTS)
async def retry_failures(asked: Writing) -> Response:
    """Put every turn that was given up back among what is pending."""
    return await reply(asked, lambda memory: {"retried": memory.retry_failures()})


@router.get("/events/{turn}", response_model=EventTold)
async def event(asked: Reading, turn: Id) -> Response:
    """Whether a turn was thought over, with the actions that led to."""
    return await reply(asked, lambda memory: _became(memory, turn))


def _became(memory: Memory, id_: int) -> dict[str, Any]:
    turn = the_turn(memory, id_)
    given_up = next((each for each in memory.failures() if each.turn == id_), None)
    return {
        "turn": turn.id,
        "ref": str(turn.ref),
        "status": "failed" if given_up else "pending" if turn.thought_at is None else "done",
        "thought_at": None if turn.thought_at is None else turn.thought_at.isoformat(),
        "attempts": given_up.attempts if given_up else None,
        "reason": given_up.reason if given_up else None,
        "actions": [values.action(action) for action in memory.journal(turn=id_)],
    }
