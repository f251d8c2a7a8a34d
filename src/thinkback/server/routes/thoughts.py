"""`/thoughts`, `/history`: what was understood, what was thought before it, and forgetting."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Query
from starlette.responses import Response

from thinkback import json_output
from thinkback.errors import NotFound
from thinkback.memory import Memory
from thinkback.server.routes.dependencies import ReadAccess, WriteAccess, json_reply, make_page, tagged_router
from thinkback.server.routes.errors import WRITE_ERRORS
from thinkback.server.routes.requests import MAX_INTEGER, After, AsOf, KnownAt, Limit, PathId
from thinkback.server.routes.responses import (
    ActionResponse,
    Page,
    ThoughtResponse,
    ThoughtVersionResponse,
)
from thinkback.types import Kind, Ref, Thought

router = tagged_router("thoughts")

Subject = Annotated[str, Query(min_length=1, max_length=10_000, description="By any of its names.")]
Relation = Annotated[str | None, Query(min_length=1, max_length=10_000)]
Reason = Annotated[str, Query(min_length=1, max_length=2000, description="Why; it is kept.")]


@router.get("/thoughts", response_model=Page[ThoughtResponse])
async def list_thoughts(
    asked: ReadAccess,
    subject: Subject | None = None,
    relation: Relation = None,
    kind: Annotated[Kind | None, Query()] = None,
    group: Annotated[int | None, Query(ge=0, le=MAX_INTEGER)] = None,
    current: Annotated[bool, Query(description="false includes what is held true no longer.")] = True,
    as_of: AsOf = None,
    known_at: KnownAt = None,
    after: After = 0,
    limit: Limit = 100,
) -> Response:
    """What was understood, in sequence."""

    def make(memory: Memory) -> dict[str, Any]:
        found = memory.thoughts(
            subject=subject,
            relation=relation,
            kind=kind,
            group=group,
            current=current,
            as_of=as_of,
            known_at=known_at,
            after=after,
            limit=limit + 1,
        )
        return make_page(found, limit, lambda thought: thought.id, json_output.dump_thought)

    return await json_reply(asked, make)


@router.get("/thoughts/{id}", response_model=ThoughtResponse)
async def get_thought(asked: ReadAccess, id: PathId) -> Response:
    """One thought, held true or retired."""
    return await json_reply(asked, lambda memory: json_output.dump_thought(get_thought_or_404(memory, id)))


@router.delete("/thoughts/{id}", response_model=ActionResponse, responses=WRITE_ERRORS)
async def forget(asked: WriteAccess, id: PathId, reason: Reason) -> Response:
    """Hold a thought true no longer; to undo the action that is answered brings it back."""
    forgotten = Ref("thought", id)
    return await json_reply(
        asked, lambda memory: json_output.dump_action(memory.forget(forgotten, reason)), "delete_memory"
    )


@router.get("/thoughts/{id}/history", response_model=Page[ThoughtVersionResponse])
async def thought_history(asked: ReadAccess, id: PathId, after: After = 0, limit: Limit = 100) -> Response:
    """What was ever thought of the same subject and relation, oldest value first, with the reasons."""

    def make(memory: Memory) -> dict[str, Any]:
        thought = get_thought_or_404(memory, id)
        return _versions(memory, thought.subject, thought.relation, after, limit)

    return await json_reply(asked, make)


@router.get("/history", response_model=Page[ThoughtVersionResponse])
async def history(
    asked: ReadAccess, subject: Subject, relation: Relation = None, after: After = 0, limit: Limit = 100
) -> Response:
    """What was ever thought of a subject, oldest value first, with the reasons."""
    return await json_reply(asked, lambda memory: _versions(memory, subject, relation, after, limit))


def get_thought_or_404(memory: Memory, id_: int) -> Thought:
    found = memory.store.thoughts(memory.user, ids=[id_], current=False)
    if not found:
        raise NotFound(f"no {Ref('thought', id_)} of user {memory.user!r}")
    return found[0]


def _versions(memory: Memory, subject: str, relation: str | None, after: int, limit: int) -> dict[str, Any]:
    found = memory.history(subject, relation, skip=after, limit=limit + 1)
    return make_page(found, limit, lambda _: after + limit, json_output.dump_version)
