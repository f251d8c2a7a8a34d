"""Pydantic models of the REST replies. They describe the JSON for OpenAPI; the JSON itself is made by the codec, and tests compare the two."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from thinkback.audit import Concern
from thinkback.types import (
    ActionKind,
    CheckMethod,
    CheckOutcome,
    ConversationType,
    ItemKind,
    Kind,
    SummaryField,
)

_Item = TypeVar("_Item")


class ResponseModel(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Page(ResponseModel, Generic[_Item]):
    """`next` is the `after` of the page that follows; null where none does."""

    items: list[_Item]
    next: int | None


class ConsistencyCheckResponse(ResponseModel):
    thought: int
    way: CheckMethod
    words: str
    reason: str
    score: float
    threshold: float
    draft: int
    outcome: CheckOutcome


class RecalledItemResponse(ResponseModel):
    kind: ItemKind
    id: int
    score: float
    cosine: float
    lexical: float
    group: int


class TurnResponse(ResponseModel):
    """`recalled` holds what was given to the answer: kind, id, score, cosine, lexical, group."""

    ref: str
    id: int
    session: str
    query: str
    response: str
    at: datetime
    recorded_at: datetime
    thought_at: datetime | None
    key: str | None
    asker: str
    answerer: str
    recalled: list[Annotated[list[str | float], Field(min_length=6, max_length=6)]]
    checks: list[ConsistencyCheckResponse]


class StoredThoughtResponse(ResponseModel):
    """`sources` say where it comes from: turn, speaker, side, and the characters from, to."""

    id: int
    subject: str
    relation: str
    objects: list[str]
    sentence: str
    kind: Kind
    negated: bool
    valid_from: datetime | None
    valid_to: datetime | None
    recorded_at: datetime
    retired_at: datetime | None
    sources: list[Annotated[list[int | str], Field(min_length=5, max_length=5)]]


class ThoughtResponse(StoredThoughtResponse):
    ref: str


class ActionResponse(ResponseModel):
    """One line of the journal: the thoughts it touched, before and after."""

    ref: str
    id: int
    action: ActionKind
    reason: str
    actor: str
    at: datetime
    turn: int | None
    undoes: int | None
    undone_by: int | None
    before: list[StoredThoughtResponse]
    after: list[StoredThoughtResponse]


class ThoughtVersionResponse(ThoughtResponse):
    """A thought in the history of its subject, and the actions that made and ended it."""

    actions: list[ActionResponse]


class RememberResponse(ResponseModel):
    """The turns that were kept, and how many of this user wait to be thought over."""

    turns: list[TurnResponse]
    pending: int


class EntityResponse(ResponseModel):
    id: int
    name: str
    aliases: list[str]
    decisions: list[ThoughtResponse]


class FailureResponse(ResponseModel):
    turn: int
    attempts: int
    reason: str


class UsageResponse(ResponseModel):
    llm_calls: int
    prompt_tokens: int
    completion_tokens: int
    ms: dict[str, float]


class ThinkResponse(ResponseModel):
    turns: int
    failed: int
    retried: int
    pending: int
    actions: list[ActionResponse]
    failures: list[FailureResponse]
    problems: list[str]
    receipt: UsageResponse


class OrganiseResponse(ResponseModel):
    actions: list[ActionResponse]
    receipt: UsageResponse


class RetryResponse(ResponseModel):
    retried: int


class EventResponse(ResponseModel):
    """What became of a turn: the actions it led to, or why thinking it over was given up."""

    turn: int
    ref: str
    status: Literal["pending", "done", "failed"]
    thought_at: datetime | None
    attempts: int | None
    reason: str | None
    actions: list[ActionResponse]


class EraseResponse(ResponseModel):
    turns: int
    thoughts: int
    actions: int
    requeued: int
    quoted_in: list[int]


class ImportResponse(ResponseModel):
    turns: int
    pending: int


class StatsResponse(ResponseModel):
    user: str
    turns: int
    thoughts: int
    retired: int
    entities: int
    actions: int
    pending: int
    failed: int
    groups: int
    largest_group: int
    embedder: str


class AuditFindingResponse(ResponseModel):
    concern: Concern
    refs: list[str]
    reason: str
    text: str


class AuditResponse(ResponseModel):
    user: str
    turns: int
    thoughts: int
    counts: dict[Concern, int]
    findings: list[AuditFindingResponse]


class ExcludedOptionResponse(ResponseModel):
    option: str
    reason: str


class SummaryResponse(ResponseModel):
    session: str
    version: int
    turn: int
    talk: ConversationType
    topic: str
    conclusion: str
    needs: list[str]
    constraints: list[str]
    excluded: list[ExcludedOptionResponse]
    facts: list[str]
    to_clarify: list[str]
    discussed: list[str]


class SummaryEditResponse(ResponseModel):
    field: SummaryField
    old: str
    new: str
    reason: str


class SummaryUpdateResponse(ResponseModel):
    session: str
    version: int
    turn: int
    actor: str
    at: datetime
    edits: list[SummaryEditResponse]
    problem: str


class ExplanationResponse(ResponseModel):
    ref: str | None
    text: str
    lines: list[str]
    sources: list[TurnResponse]
    thoughts: list[ThoughtResponse]
    actions: list[ActionResponse]
    used: list[RecalledItemResponse]
    checks: list[ConsistencyCheckResponse]


class ScoreComponentResponse(ResponseModel):
    name: str
    value: float
    weight: float
    contribution: float


class AdjustmentResponse(ResponseModel):
    why: str
    before: float
    after: float


class ScoreBreakdownResponse(ResponseModel):
    parts: list[ScoreComponentResponse]
    linear: float
    bent: float
    adjustments: list[AdjustmentResponse]


class ScoreResponse(ResponseModel):
    total: float
    cosine: float
    lexical: float
    sum: ScoreBreakdownResponse | None


class SentenceResponse(ResponseModel):
    ref: str
    sentence: str


class OutdatedInfoResponse(ResponseModel):
    until: datetime
    facts: list[SentenceResponse]
    replaced_by: list[SentenceResponse]


class CandidateResponse(ResponseModel):
    """One memory with its reason; `rank` is null for what was dropped."""

    rank: int | None
    ref: str
    kind: Kind | Literal["turn"]
    text: str
    score: ScoreResponse
    group: int
    verdict: str
    reason: str
    past: OutdatedInfoResponse | None
    thought: ThoughtResponse | None
    turn: TurnResponse | None


class TimeSpanResponse(ResponseModel):
    words: str
    start: datetime | None
    end: datetime | None


class QueryVariantResponse(ResponseModel):
    kinds: list[ItemKind]
    terms: list[str]
    if_known: list[str]
    weight: float


class SearchTraceResponse(ResponseModel):
    kind: ItemKind
    rows: int
    candidates: int
    probes: int
    exact: bool
    group: int | None


class QueryUnderstandingResponse(ResponseModel):
    question: str
    tense: str
    spans: list[TimeSpanResponse]
    reaches_back: bool
    manner: str
    told: str
    kinds: list[Annotated[list[Kind | float], Field(min_length=2, max_length=2)]]
    names: list[str]
    aliases: list[str]
    ways: list[str]
    bridge: list[str]
    wordings: list[QueryVariantResponse]
    searched: list[SearchTraceResponse]
    preset: str
    relative: bool
    nearly: float
    middle: float | None


class RecollectionResponse(ResponseModel):
    query: str
    items: list[CandidateResponse]
    dropped: list[CandidateResponse]
    threshold: float
    group: int | None
    probes: int
    exact: bool
    understanding: QueryUnderstandingResponse | None
    receipt: UsageResponse


class CitationResponse(ResponseModel):
    cited: int
    ref: str
    text: str


class SynthesisResponse(ResponseModel):
    question: str
    text: str
    known: bool
    by: Literal["rules", "llm"]
    words: int
    used: list[CitationResponse]
    note: str | None
    receipt: UsageResponse


class ContextPartResponse(ResponseModel):
    name: str
    text: str
    tokens: int


class MessageResponse(ResponseModel):
    role: Literal["system", "user", "assistant"]
    content: str


class ContextResponse(ResponseModel):
    session: str
    parts: list[ContextPartResponse]
    messages: list[MessageResponse]
    tokens: int
    talk: ConversationType
