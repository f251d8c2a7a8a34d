"""`/recall`, `/ask`, `/context`, `/kinds`: recall, answers from memory, and the context for a model."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from starlette.responses import Response

from thinkback.memory import Memory
from thinkback.schemas import to_json
from thinkback.server.routes.dependencies import ReadAccess, json_reply, tagged_router
from thinkback.server.routes.errors import MODEL_ERRORS
from thinkback.server.routes.requests import AskRequest, ContextRequest, KindsRequest, RecallRequest
from thinkback.server.routes.responses import (
    ContextResponse,
    RecollectionResponse,
    SynthesisResponse,
)
from thinkback.types import Kind

router = tagged_router("recall")


@router.post("/recall", response_model=RecollectionResponse, responses=MODEL_ERRORS)
async def recall(ctx: ReadAccess, body: RecallRequest) -> Response:
    """Recall the few memories that matter for a query, each with its reason."""

    def make(memory: Memory) -> Any:
        recollection = memory.recall(
            body.query,
            body.k,
            as_of=body.as_of,
            known_at=body.known_at,
            explain=body.explain,
            preset=body.preset,
            budget=body.budget,
        )
        return to_json(recollection)

    return await json_reply(ctx, make, "search_memory")


@router.post("/ask", response_model=SynthesisResponse, responses=MODEL_ERRORS)
async def ask(ctx: ReadAccess, body: AskRequest) -> Response:
    """Answer briefly from memory alone, with citations, or say that it is not known. Nothing is stored."""
    return await json_reply(
        ctx,
        lambda memory: to_json(memory.synthesise(body.question, body.k, body.max_words)),
    )


@router.post("/context", response_model=ContextResponse, responses=MODEL_ERRORS)
async def context(ctx: ReadAccess, body: ContextRequest) -> Response:
    """The context that a model would be given for this message, part by part. Nothing is stored."""

    def make(memory: Memory) -> dict[str, Any]:
        result = memory.context(body.message, session=body.session, k=body.k)
        return {"session": body.session, **asdict(result)}

    return await json_reply(ctx, make)


@router.post("/kinds", response_model=dict[Kind, float], responses=MODEL_ERRORS)
async def kinds(ctx: ReadAccess, body: KindsRequest) -> Response:
    """The kinds of memory that a query asks for, as probabilities."""
    return await json_reply(ctx, lambda memory: memory.kinds(body.query))
