"""`/v1/clinic`: patients, visits, consultations with and without memory, and the structured record.

A patient is a user whose name begins with `patient:`, a visit is a session.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal
from urllib.parse import quote

from fastapi import Depends, Path, Query, Request
from pydantic import Field
from starlette.responses import Response

from thinkback.errors import NotFound
from thinkback.language.tokens import count_tokens
from thinkback.memory import Memory
from thinkback.recall.memory_chat import reply_from_memory
from thinkback.schemas import to_json, to_stored_json
from thinkback.server.clinic.record import NOTICE, ClinicalRecord, build_record
from thinkback.server.identity import RequiredScope, get_principal, require_scope
from thinkback.server.routes.dependencies import (
    CREATE_MEMORY,
    AdminAccess,
    RequestContext,
    json_reply,
    make_offset_page,
    tagged_router,
    turn_to_json,
)
from thinkback.server.routes.errors import MODEL_ERRORS, WRITE_ERRORS
from thinkback.server.routes.explain import ConflictResponse, ConstraintResponse, check_to_json
from thinkback.server.routes.requests import After, Limit, Name, Question, RequestModel
from thinkback.server.routes.responses import Page, ResponseModel, SummaryResponse, TurnResponse
from thinkback.types import Message, Recollection, Turn
from thinkback.validation import MAX_NAME_CHARS

if TYPE_CHECKING:
    from thinkback.server.clinic.record import RecordRow as RecordRowResponse
    from thinkback.server.clinic.record import SafetyFact as SafetyFactResponse
    from thinkback.server.clinic.record import Series as SeriesResponse
else:
    from thinkback.schemas import response_model
    from thinkback.server.clinic.record import RecordRow, SafetyFact, Series

    RecordRowResponse = response_model(RecordRow)
    SafetyFactResponse = response_model(SafetyFact)
    SeriesResponse = response_model(Series)

PATIENT_PREFIX = "patient:"
MAX_PATIENT_CHARS = MAX_NAME_CHARS - len(PATIENT_PREFIX)
MAX_ANSWER_TOKENS = 400

router = tagged_router("clinic")
_EXPORT_CONTENT: dict[int | str, dict[str, Any]] = {
    200: {
        "content": {"application/json": {"schema": {}}, "text/plain": {"schema": {"type": "string"}}},
        "description": "The record",
    }
}

PatientName = Annotated[str, Path(min_length=1, max_length=MAX_PATIENT_CHARS, description="The patient.")]


class ConsultRequest(RequestModel):
    """What the patient says at a visit. Without `remember`, nothing is stored."""

    patient: Annotated[str, Field(min_length=1, max_length=MAX_PATIENT_CHARS, pattern="^[^/]+$")]
    message: Question
    session: Name = "visit-1"
    remember: bool = True


class PatientResponse(ResponseModel):
    name: str
    user: str
    turns: int
    thoughts: int
    pending: int
    visits: int
    last_at: datetime | None


class VisitResponse(ResponseModel):
    session: str
    first_at: datetime
    last_at: datetime
    turns: int
    summary: SummaryResponse


class RecordResponse(ResponseModel):
    patient: str
    notice: str
    rows: list[RecordRowResponse]
    constraints: list[SafetyFactResponse]
    medication: list[RecordRowResponse]
    findings: list[SeriesResponse]


class AnswerWithMemory(ResponseModel):
    """`recalled` are candidates as in `/v1/memory/recall`."""

    text: str
    recalled: list[dict[str, Any]]
    constraints: list[ConstraintResponse]
    conflicts: list[ConflictResponse]
    tokens: int


class AnswerWithoutMemory(ResponseModel):
    text: str
    conflicts: list[ConflictResponse]
    tokens: int


class ConsultResponse(ResponseModel):
    """Two answers to the same message; `tokens` is the size of each context."""

    with_memory: AnswerWithMemory
    without_memory: AnswerWithoutMemory
    turn: TurnResponse | None
    by: Literal["model", "memory"]
    notice: str


def _patient_context(scope: RequiredScope) -> Callable[..., RequestContext]:
    """A dependency that gives a route the memory of the patient in its path."""

    def provide(request: Request, name: PatientName) -> RequestContext:
        return patient_context(request, name, scope)

    return provide


def patient_context(request: Request, name: str, scope: RequiredScope) -> RequestContext:
    services, principal = request.state.services, get_principal(request.scope)
    require_scope(principal, scope)
    return RequestContext(
        services, principal, services.memories.for_principal(principal, f"{PATIENT_PREFIX}{name}")
    )


PatientAccess = Annotated[RequestContext, Depends(_patient_context("read"))]


@router.get("/patients", response_model=Page[PatientResponse])
async def list_patients(ctx: AdminAccess, after: After = 0, limit: Limit = 100) -> Response:
    """List the patients of the tenant. Needs the scope `admin`."""

    def make(memory: Memory) -> dict[str, Any]:
        users = memory.store.users() if ctx.principal.user is None else [memory.user]
        patients = sorted(user for user in users if user.startswith(PATIENT_PREFIX))
        return make_offset_page(patients, after, limit, lambda user: _describe(memory.for_space(user)))

    return await json_reply(ctx, make)


@router.get("/patients/{name}/visits", response_model=Page[VisitResponse])
async def list_visits(ctx: PatientAccess, after: After = 0, limit: Limit = 100) -> Response:
    """The visits of a patient, oldest first."""

    def make(memory: Memory) -> dict[str, Any]:
        visits: dict[str, list[Turn]] = {}
        for turn in _turns(memory):
            visits.setdefault(turn.session, []).append(turn)
        return make_offset_page(
            list(visits), after, limit, lambda session: _describe_visit(memory, session, visits[session])
        )

    return await json_reply(ctx, make)


@router.get("/patients/{name}/record", response_model=RecordResponse)
async def get_record(ctx: PatientAccess) -> Response:
    """The structured record: statements by category, values over time, safety facts, medication."""
    return await json_reply(ctx, lambda memory: _record_to_json(memory, _record(memory)))


@router.get("/patients/{name}/export", response_class=Response, responses=_EXPORT_CONTENT)
async def export_record(
    ctx: PatientAccess,
    name: PatientName,
    kind: Annotated[Literal["json", "text"], Query(alias="format")] = "json",
) -> Response:
    """The structured record as a file."""
    file_name = quote(f"record-{name}.{'json' if kind == 'json' else 'txt'}", safe="")
    disposition = {"Content-Disposition": f"attachment; filename*=UTF-8''{file_name}"}
    if kind == "json":
        response = await json_reply(ctx, lambda memory: _record_to_json(memory, _record(memory)))
        response.headers.update(disposition)
        return response
    text = await ctx.run(lambda memory: _record_to_text(memory, _record(memory)))
    return Response(text, media_type="text/plain; charset=utf-8", headers=disposition)


@router.post("/consult", response_model=ConsultResponse, responses={**MODEL_ERRORS, **WRITE_ERRORS})
async def consult(request: Request, body: ConsultRequest) -> Response:
    """Answer a patient twice, with memory and without it. A new patient is created by the first message.

    Needs the scopes `read` and `write`.
    """
    ctx = patient_context(request, body.patient, "change")
    operation = CREATE_MEMORY if body.remember else ""
    return await json_reply(ctx, lambda memory: _consult(memory, body), operation)


def _consult(memory: Memory, body: ConsultRequest) -> dict[str, Any]:
    turn = None
    context = memory.context(body.message, session=body.session)
    if body.remember:
        answer = memory.chat(body.message, session=body.session)
        text, recollection, turn = answer.text, answer.recollection, answer.turn
    else:
        recollection = memory.recall(body.message)
        text = _answer(memory, body.message, list(context.messages), recollection)
    empty = Recollection(query=body.message, items=())
    bare = _answer(memory, body.message, [Message("user", body.message)], empty)
    check = check_to_json(memory.check_answer(body.message, text, session=body.session))
    bare_check = check_to_json(memory.check_answer(body.message, bare, session=body.session))
    return {
        "with_memory": {
            "text": text,
            "recalled": to_json(recollection)["items"],
            "constraints": check["constraints"],
            "conflicts": check["conflicts"],
            "tokens": context.tokens,
        },
        "without_memory": {
            "text": bare,
            "conflicts": bare_check["conflicts"],
            "tokens": count_tokens(body.message),
        },
        "turn": None if turn is None else turn_to_json(turn),
        "by": "memory" if memory.llm is None else "model",
        "notice": NOTICE,
    }


def _answer(memory: Memory, message: str, messages: list[Message], recollection: Recollection) -> str:
    """An answer that is not stored, by the model or, without one, from the recollection."""
    if memory.llm is None:
        return reply_from_memory(message, recollection, look_up=memory.recall)
    return memory.llm.complete(messages, max_tokens=MAX_ANSWER_TOKENS).text.strip()


def _turns(memory: Memory) -> list[Turn]:
    turns = memory.turns()
    if not turns:
        raise NotFound(f"no patient {memory.user.removeprefix(PATIENT_PREFIX)!r}")
    return turns


def _record(memory: Memory) -> ClinicalRecord:
    return build_record(_turns(memory), memory.thoughts(current=False))


def _describe(memory: Memory) -> dict[str, Any]:
    stats = memory.stats()
    last = memory.turns(limit=1, newest=True)
    return {
        "name": memory.user.removeprefix(PATIENT_PREFIX),
        "user": memory.user,
        "turns": stats.turns,
        "thoughts": stats.thoughts,
        "pending": stats.pending,
        "visits": len(memory.store.sessions(memory.user)),
        "last_at": last[0].at.isoformat() if last else None,
    }


def _describe_visit(memory: Memory, session: str, turns: list[Turn]) -> dict[str, Any]:
    return {
        "session": session,
        "first_at": min(turn.at for turn in turns).isoformat(),
        "last_at": max(turn.at for turn in turns).isoformat(),
        "turns": len(turns),
        "summary": to_stored_json(memory.summary(session)),
    }


def _record_to_json(memory: Memory, record: ClinicalRecord) -> dict[str, Any]:
    return {
        "patient": memory.user.removeprefix(PATIENT_PREFIX),
        "notice": NOTICE,
        "rows": [to_json(row) for row in record.rows],
        "constraints": [to_json(fact) for fact in record.constraints],
        "medication": [to_json(row) for row in record.medication],
        "findings": [to_json(series) for series in record.findings],
    }


def _record_to_text(memory: Memory, record: ClinicalRecord) -> str:
    lines = [f"Patient {memory.user.removeprefix(PATIENT_PREFIX)}", NOTICE, ""]
    lines += ["Must be respected", *(f"- {fact.kind}: {fact.text}" for fact in record.constraints), ""]
    for category in dict.fromkeys(row.category for row in record.rows):
        lines.append(category.capitalize())
        lines += [
            f"- {row.at:%Y-%m-%d} {_one_line(row.item)}: {_one_line(row.result)}"
            f"{' (denied)' if row.denied else ''}{'' if row.current else ' (past)'}"
            for row in record.rows
            if row.category == category
        ]
        lines.append("")
    return "\n".join(lines)


def _one_line(text: str) -> str:
    return " ".join(text.split())
