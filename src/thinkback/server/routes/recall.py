"""`/recall`, `/ask`, `/context`, `/kinds`: what matters for a question, and what a model would be given."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from starlette.responses import Response

from thinkback import json_output
from thinkback.memory import Memory
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
async def recall(asked: ReadAccess, body: RecallRequest) -> Response:
    """The few memories that matter for a question, each with its reason."""

    def make(memory: Memory) -> dict[str, Any]:
        found = memory.recall(
            body.query,
            body.k,
            as_of=body.as_of,
            known_at=body.known_at,
            explain=body.explain,
            preset=body.preset,
            budget=body.budget,
        )
        return json_output.dump_recollection(found)

    return await json_reply(asked, make, "search_memory")


@router.post("/ask", response_model=SynthesisResponse, responses=MODEL_ERRORS)
async def ask(asked: ReadAccess, body: AskRequest) -> Response:
    """A short answer from memory alone, each fact cited, or that it is not known; nothing is kept of it."""
    return await json_reply(
        asked,
        lambda memory: json_output.dump_synthesis(memory.synthesise(body.question, body.k, body.max_words)),
    )


@router.post("/context", response_model=ContextResponse, responses=MODEL_ERRORS)
async def context(asked: ReadAccess, body: ContextRequest) -> Response:
    """What a model would be given for a message now, part by part; nothing is kept of it."""

    def make(memory: Memory) -> dict[str, Any]:
        made = memory.context(body.message, session=body.session, k=body.k)
        return {"session": body.session, **asdict(made)}

    return await json_reply(asked, make)


@router.post("/kinds", response_model=dict[Kind, float], responses=MODEL_ERRORS)
async def kinds(asked: ReadAccess, body: KindsRequest) -> Response:
    """Which kind of memory a question asks for, as probabilities."""
    return await json_reply(asked, lambda memory: memory.kinds(body.query))
