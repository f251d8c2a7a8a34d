"""`/explain`, `/check`: how a query is recalled, what the model is given, and what an answer gets wrong."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from pydantic import Field
from starlette.responses import Response

from thinkback.language.tokens import count_tokens
from thinkback.language.writing_systems import clean_text
from thinkback.memory import Memory
from thinkback.recall.consistency import AnswerCheck
from thinkback.schemas import to_json
from thinkback.server.proxy import inject
from thinkback.server.proxy.exchange import message_text, parse_chat
from thinkback.server.proxy.recall_client import recall_memories
from thinkback.server.routes.dependencies import ReadAccess, encode_json, json_reply, tagged_router
from thinkback.server.routes.errors import MODEL_ERRORS
from thinkback.server.routes.requests import (
    DateTime,
    MessageRequest,
    Name,
    Question,
    RecallLimit,
    RequestModel,
    Text,
)
from thinkback.server.routes.responses import (
    RecollectionResponse,
    ResponseModel,
    ThoughtResponse,
)
from thinkback.server.services import Options
from thinkback.types import CheckMethod

router = tagged_router("explain")


class ExplainRequest(RequestModel):
    """A query; `messages` are earlier messages of the same chat that the client would send with it."""

    query: Question
    k: RecallLimit = 5
    as_of: DateTime | None = None
    known_at: DateTime | None = None
    messages: list[MessageRequest] = Field(default_factory=list, max_length=1000)


class CheckRequest(RequestModel):
    query: Text = ""
    answer: Question
    session: Name = "default"


class SentMessage(ResponseModel):
    role: str
    content: str
    tokens: int


class SentContext(ResponseModel):
    """The messages that the proxy sends to the model; `block` is what it inserts."""

    messages: list[SentMessage]
    block: str
    tokens: int


class ExplainResponse(ResponseModel):
    recollection: RecollectionResponse
    text: str
    lines: list[str]
    context: SentContext


class ConflictResponse(ResponseModel):
    """A sentence of an answer that contradicts a thought."""

    thought: ThoughtResponse
    sentence: str
    method: CheckMethod
    reason: str
    score: float


class ConstraintResponse(ResponseModel):
    """A safety fact that concerns a message or its answer."""

    thought: ThoughtResponse
    kind: str
    reason: str


class CheckResponse(ResponseModel):
    conflicts: list[ConflictResponse]
    constraints: list[ConstraintResponse]


@router.post("/explain", response_model=ExplainResponse, responses=MODEL_ERRORS)
async def explain(ctx: ReadAccess, body: ExplainRequest) -> Response:
    """All candidates for a query with every part of their score, and the context as the model gets it."""

    def make(memory: Memory) -> dict[str, Any]:
        recollection = memory.recall(
            body.query, body.k, as_of=body.as_of, known_at=body.known_at, explain=True
        )
        explanation = memory.why(recollection)
        return {
            "recollection": to_json(recollection),
            "text": explanation.text,
            "lines": list(explanation.lines),
            "context": _sent_context(memory, body, ctx.services.options),
        }

    return await json_reply(ctx, make, "search_memory")


@router.post("/check", response_model=CheckResponse, responses=MODEL_ERRORS)
async def check(ctx: ReadAccess, body: CheckRequest) -> Response:
    """What an answer says against the memory, and the safety facts it must respect. Nothing is stored."""
    return await json_reply(
        ctx,
        lambda memory: check_to_json(memory.check_answer(body.query, body.answer, session=body.session)),
    )


def check_to_json(check: AnswerCheck) -> dict[str, Any]:
    return {
        "conflicts": [
            {
                "thought": to_json(conflict.thought),
                "sentence": conflict.sentence,
                "method": conflict.method,
                "reason": conflict.reason,
                "score": conflict.score,
            }
            for conflict in check.conflicts
        ],
        "constraints": [
            {
                "thought": to_json(touched.constraint.thought),
                "kind": touched.constraint.restriction.kind,
                "reason": touched.reason,
            }
            for touched in check.constraints
        ],
    }


def _sent_context(memory: Memory, body: ExplainRequest, options: Options) -> dict[str, Any]:
    """The request that the proxy would send, made by the proxy's own functions."""
    earlier = [
        {"role": message.role, "content": clean_text(message_text(message.content))}
        for message in body.messages
    ]
    request = encode_json({"messages": [*earlier, {"role": "user", "content": body.query}]})
    parsed = inject.parse_body(request)
    query = None if parsed is None else parse_chat(parsed)
    block = ""
    if parsed is not None and query is not None:
        block = recall_memories(memory, query, replace(options, recall_limit=body.k)).block
        request = (inject.inject_memories(parsed, block) if block else None) or request
    messages = [
        {**message, "tokens": count_tokens(message["content"])} for message in json.loads(request)["messages"]
    ]
    return {
        "messages": messages,
        "block": block,
        "tokens": sum(message["tokens"] for message in messages),
    }
