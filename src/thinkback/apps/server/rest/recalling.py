"""`/recall`, `/ask`, `/context`, `/kinds`: what matters for a question, and what a model would be given."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from starlette.responses import Response

from thinkback.apps import values
from thinkback.apps.server.rest.asked import ContextAsked, KindsAsked, QuestionAsked, RecallAsked
from thinkback.apps.server.rest.refusals import MODEL_FAULTS
from thinkback.apps.server.rest.replies import reply, theme
from thinkback.apps.server.rest.told_recall import ContextTold, RecollectionTold, SynthesisTold
from thinkback.apps.server.who import Reading
from thinkback.memory import Memory
from thinkback.types import Kind

router = theme("recall")


@router.post("/recall", response_model=RecollectionTold, responses=MODEL_FAULTS)
async def recall(asked: Reading, body: RecallAsked) -> Response:
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
        return values.recollection(found)

    return await reply(asked, make, "search_memory")


@router.post("/ask", response_model=SynthesisTold, responses=MODEL_FAULTS)
async def ask(asked: Reading, body: QuestionAsked) -> Response:
    """A short answer from memory alone, each fact cited, or that it is not known; nothing is kept of it."""
    return await reply(
        asked,
        lambda memory: values.synthesis(memory.synthesise(body.question, body.k, body.max_words)),
    )


@router.post("/context", response_model=ContextTold, responses=MODEL_FAULTS)
async def context(asked: Reading, body: ContextAsked) -> Response:
    """What a model would be given for a message now, part by part; nothing is kept of it."""

    def make(memory: Memory) -> dict[str, Any]:
        made = memory.context(body.message, session=body.session, k=body.k)
        return {"session": body.session, **asdict(made)}

    return await reply(asked, make)


@router.post("/kinds", response_model=dict[Kind, float], responses=MODEL_FAULTS)
async def kinds(asked: Reading, body: KindsAsked) -> Response:
    """Which kind of memory a question asks for, as probabilities."""
    return await reply(asked, lambda memory: memory.kinds(body.query))
