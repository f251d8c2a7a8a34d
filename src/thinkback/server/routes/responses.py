"""Response models of the REST API, for OpenAPI.

Models of thinkback's own values are derived from their types (`thinkback.schemas`), which also write the
JSON. The other models describe what a route adds to them.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict

from thinkback.types import ConversationType

if TYPE_CHECKING:  # for a type checker, the model of a value is the value's type
    from thinkback.audit import AuditReport as AuditResponse
    from thinkback.types import Action as ActionResponse
    from thinkback.types import Entity as EntityResponse
    from thinkback.types import EraseResult as EraseResponse
    from thinkback.types import Explanation as ExplanationResponse
    from thinkback.types import Message as MessageResponse
    from thinkback.types import Recollection as RecollectionResponse
    from thinkback.types import SpaceStats as StatsResponse
    from thinkback.types import Summary as SummaryResponse
    from thinkback.types import SummaryUpdate as SummaryUpdateResponse
    from thinkback.types import Synthesis as SynthesisResponse
    from thinkback.types import ThinkFailure as FailureResponse
    from thinkback.types import Thought as ThoughtResponse
    from thinkback.types import ThoughtVersion as ThoughtVersionResponse
    from thinkback.types import Turn as TurnResponse
    from thinkback.types import Usage as UsageResponse
else:
    from thinkback import types
    from thinkback.audit import AuditReport
    from thinkback.schemas import response_model

    ActionResponse = response_model(types.Action)
    AuditResponse = response_model(AuditReport)
    EntityResponse = response_model(types.Entity)
    EraseResponse = response_model(types.EraseResult)
    ExplanationResponse = response_model(types.Explanation)
    FailureResponse = response_model(types.ThinkFailure)
    MessageResponse = response_model(types.Message)
    RecollectionResponse = response_model(types.Recollection)
    StatsResponse = response_model(types.SpaceStats)
    SummaryResponse = response_model(types.Summary)
    SummaryUpdateResponse = response_model(types.SummaryUpdate)
    SynthesisResponse = response_model(types.Synthesis)
    ThoughtResponse = response_model(types.Thought)
    ThoughtVersionResponse = response_model(types.ThoughtVersion)
    TurnResponse = response_model(types.Turn)
    UsageResponse = response_model(types.Usage)

__all__ = [
    "ActionResponse",
    "AuditResponse",
    "ContextPartResponse",
    "ContextResponse",
    "EntityResponse",
    "EraseResponse",
    "EventResponse",
    "ExplanationResponse",
    "FailureResponse",
    "ImportResponse",
    "MessageResponse",
    "OrganiseResponse",
    "Page",
    "RecollectionResponse",
    "RememberResponse",
    "ResponseModel",
    "RetryResponse",
    "StatsResponse",
    "SummaryResponse",
    "SummaryUpdateResponse",
    "SynthesisResponse",
    "ThinkResponse",
    "ThoughtResponse",
    "ThoughtVersionResponse",
    "TurnResponse",
    "UsageResponse",
]

ItemT = TypeVar("ItemT")


class ResponseModel(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Page(ResponseModel, Generic[ItemT]):
    """One page of a list. Pass `next` as `after` to get the following page; null on the last page."""

    items: list[ItemT]
    next: int | None


class RememberResponse(ResponseModel):
    """The stored turns, and how many turns of this user are pending."""

    turns: list[TurnResponse]
    pending: int


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
    """The state of a turn's post-thinking: the actions it led to, or why it was given up."""

    turn: int
    ref: str
    status: Literal["pending", "done", "failed"]
    thought_at: datetime | None
    attempts: int | None
    reason: str | None
    actions: list[ActionResponse]


class ImportResponse(ResponseModel):
    turns: int
    pending: int


class ContextPartResponse(ResponseModel):
    name: str
    text: str
    tokens: int


class ContextResponse(ResponseModel):
    session: str
    parts: list[ContextPartResponse]
    messages: list[MessageResponse]
    tokens: int
    talk: ConversationType
