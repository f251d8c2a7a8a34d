"""`/thoughts`, `/instructions`, `/history`: list, explain the history of, correct and forget thoughts."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Query
from starlette.responses import Response

from thinkback.errors import NotFound
from thinkback.memory import Memory
from thinkback.schemas import to_json
from thinkback.server.routes.dependencies import (
    CREATE_MEMORY,
    JSON_MEDIA_TYPE,
    ChangeAccess,
    ReadAccess,
    WriteAccess,
    encode_json,
    json_reply,
    make_page,
    tagged_router,
    turn_to_json,
)
from thinkback.server.routes.errors import WRITE_ERRORS
from thinkback.server.routes.requests import (
    MAX_INTEGER,
    After,
    AsOf,
    CorrectRequest,
    EditRequest,
    KnownAt,
    Limit,
    PathId,
)
from thinkback.server.routes.responses import (
    ActionResponse,
    Page,
    ThoughtResponse,
    ThoughtVersionResponse,
    TurnResponse,
)
from thinkback.think.edits import ThoughtEdit
from thinkback.types import Kind, Ref, Thought

router = tagged_router("thoughts")

Subject = Annotated[str, Query(min_length=1, max_length=10_000, description="Any name of the subject.")]
Relation = Annotated[str | None, Query(min_length=1, max_length=10_000)]
Reason = Annotated[str, Query(min_length=1, max_length=2000, description="The reason; it is journalled.")]


@router.get("/thoughts", response_model=Page[ThoughtResponse])
async def list_thoughts(
    ctx: ReadAccess,
    subject: Subject | None = None,
    relation: Relation = None,
    kind: Annotated[Kind | None, Query()] = None,
    group: Annotated[int | None, Query(ge=0, le=MAX_INTEGER)] = None,
    current: Annotated[bool, Query(description="false: include retired thoughts.")] = True,
    as_of: AsOf = None,
    known_at: KnownAt = None,
    after: After = 0,
    limit: Limit = 100,
) -> Response:
    """List thoughts in order."""

    def make(memory: Memory) -> dict[str, Any]:
        thoughts = memory.thoughts(
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
        return make_page(thoughts, limit, lambda thought: thought.id, to_json)

    return await json_reply(ctx, make)


@router.get("/thoughts/{id}", response_model=ThoughtResponse)
async def get_thought(ctx: ReadAccess, id: PathId) -> Response:
    """Get one thought, current or retired."""
    return await json_reply(ctx, lambda memory: to_json(get_thought_or_404(memory, id)))


@router.delete("/thoughts/{id}", response_model=ActionResponse, responses=WRITE_ERRORS)
async def forget(ctx: ChangeAccess, id: PathId, reason: Reason) -> Response:
    """Retire a thought. Undoing the returned action restores it."""
    ref = Ref("thought", id)
    return await json_reply(ctx, lambda memory: to_json(memory.forget(ref, reason)), "delete_memory")


@router.post("/thoughts/{id}/correct", status_code=201, response_model=TurnResponse, responses=WRITE_ERRORS)
async def correct_thought(ctx: WriteAccess, id: PathId, body: CorrectRequest) -> Response:
    """Retire a thought and remember a new text instead. Returns the new turn."""
    return await correct_memory(ctx, Ref("thought", id), body)


@router.patch("/thoughts/{id}", response_model=ActionResponse, responses=WRITE_ERRORS)
async def edit_thought(ctx: ChangeAccess, id: PathId, body: EditRequest) -> Response:
    """Change a thought exactly as given; the returned action can be undone. Fields not sent stay as is."""
    times = {
        name: getattr(body, name) for name in ("valid_from", "valid_to") if name in body.model_fields_set
    }
    edit = ThoughtEdit(sentence=body.sentence, value=body.value, kind=body.kind, **times)

    def make(memory: Memory) -> Any:
        return to_json(memory.edit(Ref("thought", id), edit, body.reason, session=body.session))

    return await json_reply(ctx, make, "update_memory")


async def correct_memory(ctx: WriteAccess, ref: Ref, body: CorrectRequest) -> Response:
    def make(memory: Memory) -> bytes:
        return encode_json(turn_to_json(memory.correct(ref, body.text, body.reason, session=body.session)))

    return Response(await ctx.run(make, CREATE_MEMORY), 201, media_type=JSON_MEDIA_TYPE)


@router.get("/instructions", response_model=Page[ThoughtResponse])
async def list_instructions(ctx: ReadAccess) -> Response:
    """List the standing wishes of the user, newest last. Every context carries all of them."""

    def make(memory: Memory) -> dict[str, Any]:
        return {"items": [to_json(thought) for thought in memory.instructions()], "next": None}

    return await json_reply(ctx, make)


@router.get("/thoughts/{id}/history", response_model=Page[ThoughtVersionResponse])
async def thought_history(ctx: ReadAccess, id: PathId, after: After = 0, limit: Limit = 100) -> Response:
    """All versions of the thought's subject and relation, oldest value first, with reasons."""

    def make(memory: Memory) -> dict[str, Any]:
        thought = get_thought_or_404(memory, id)
        return _versions(memory, thought.subject, thought.relation, after, limit)

    return await json_reply(ctx, make)


@router.get("/history", response_model=Page[ThoughtVersionResponse])
async def history(
    ctx: ReadAccess, subject: Subject, relation: Relation = None, after: After = 0, limit: Limit = 100
) -> Response:
    """All versions of the thoughts about a subject, oldest value first, with reasons."""
    return await json_reply(ctx, lambda memory: _versions(memory, subject, relation, after, limit))


def get_thought_or_404(memory: Memory, id_: int) -> Thought:
    thoughts = memory.store.thoughts(memory.user, ids=[id_], current=False)
    if not thoughts:
        raise NotFound(f"no {Ref('thought', id_)} of user {memory.user!r}")
    return thoughts[0]


def _versions(memory: Memory, subject: str, relation: str | None, after: int, limit: int) -> dict[str, Any]:
    versions = memory.history(subject, relation, skip=after, limit=limit + 1)
    return make_page(versions, limit, lambda _: after + limit, to_json)
