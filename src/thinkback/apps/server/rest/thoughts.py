"""`/thoughts`, `/history`: what was understood, what was thought before it, and forgetting."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Query
from starlette.responses import Response

from thinkback.apps import values
from thinkback.apps.server.rest.asked import LARGEST, After, AsOf, Id, KnownAt, Limit
from thinkback.apps.server.rest.refusals import DISK_FAULTS
from thinkback.apps.server.rest.replies import page, reply, theme
from thinkback.apps.server.rest.told import ActionTold, Page, ThoughtTold, VersionTold
from thinkback.apps.server.who import Reading, Writing
from thinkback.errors import NotFound
from thinkback.memory import Memory
from thinkback.types import Kind, Ref, Thought

router = theme("thoughts")

Subject = Annotated[str, Query(min_length=1, max_length=10_000, description="By any of its names.")]
Relation = Annotated[str | None, Query(min_length=1, max_length=10_000)]
Reason = Annotated[str, Query(min_length=1, max_length=2000, description="Why; it is kept.")]


@router.get("/thoughts", response_model=Page[ThoughtTold])
async def list_thoughts(
    asked: Reading,
    subject: Subject | None = None,
    relation: Relation = None,
    kind: Annotated[Kind | None, Query()] = None,
    group: Annotated[int | None, Query(ge=0, le=LARGEST)] = None,
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
        return page(found, limit, lambda thought: thought.id, values.thought)

    return await reply(asked, make)


@router.get("/thoughts/{id}", response_model=ThoughtTold)
async def get_thought(asked: Reading, id: Id) -> Response:
    """One thought, held true or retired."""
    return await reply(asked, lambda memory: values.thought(the_thought(memory, id)))


@router.delete("/thoughts/{id}", response_model=ActionTold, responses=DISK_FAULTS)
async def forget(asked: Writing, id: Id, reason: Reason) -> Response:
    """Hold a thought true no longer; to undo the action that is answered brings it back."""
    forgotten = Ref("thought", id)
    return await reply(asked, lambda memory: values.action(memory.forget(forgotten, reason)), "delete_memory")


@router.get("/thoughts/{id}/history", response_model=Page[VersionTold])
async def thought_history(asked: Reading, id: Id, after: After = 0, limit: Limit = 100) -> Response:
    """What was ever thought of the same subject and relation, oldest value first, with the reasons."""

    def make(memory: Memory) -> dict[str, Any]:
        thought = the_thought(memory, id)
        return _versions(memory, thought.subject, thought.relation, after, limit)

    return await reply(asked, make)


@router.get("/history", response_model=Page[VersionTold])
async def history(
    asked: Reading, subject: Subject, relation: Relation = None, after: After = 0, limit: Limit = 100
) -> Response:
    """What was ever thought of a subject, oldest value first, with the reasons."""
    return await reply(asked, lambda memory: _versions(memory, subject, relation, after, limit))


def the_thought(memory: Memory, id_: int) -> Thought:
    found = memory.store.thoughts(memory.user, ids=[id_], current=False)
    if not found:
        raise NotFound(f"no {Ref('thought', id_)} of user {memory.user!r}")
    return found[0]


def _versions(memory: Memory, subject: str, relation: str | None, after: int, limit: int) -> dict[str, Any]:
    found = memory.history(subject, relation, skip=after, limit=limit + 1)
    return page(found, limit, lambda _: after + limit, values.version)
