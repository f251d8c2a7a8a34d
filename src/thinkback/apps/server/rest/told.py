"""What is told: the replies as pydantic says them, field by field what `apps.values` and the codec make.

They describe and are not run: a reply is made by the codec, and tests hold it against these. Rows of several
types are told as lists of a length: generators of clients stumble over tuples in a schema.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from thinkback.audit import Concern
from thinkback.types import ActionKind, CheckOutcome, CheckWay, ItemKind, Kind, SummaryField, Talk

_Item = TypeVar("_Item")


class Told(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Page(Told, Generic[_Item]):
    """`next` is the `after` of the page that follows; null where none does."""

    items: list[_Item]
    next: int | None


class CheckTold(Told):
    thought: int
    way: CheckWay
    words: str
    reason: str
    score: float
    threshold: float
    draft: int
    outcome: CheckOutcome


class UsedTold(Told):
    kind: ItemKind
    id: int
    score: float
    cosine: float
    lexical: float
    group: int


class TurnTold(Told):
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
    checks: list[CheckTold]


class ThoughtKept(Told):
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


class ThoughtTold(ThoughtKept):
    ref: str


class ActionTold(Told):
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
    before: list[ThoughtKept]
    after: list[ThoughtKept]


class VersionTold(ThoughtTold):
    """A thought in the history of its subject, and the actions that made and ended it."""

    actions: list[ActionTold]


class RememberedTold(Told):
    """The turns that were kept, and how many of this user wait to be thought over."""

    turns: list[TurnTold]
    pending: int


class EntityTold(Told):
    id: int
    name: str
    aliases: list[str]
    decisions: list[ThoughtTold]


class FailureTold(Told):
    turn: int
    attempts: int
    reason: str


class ReceiptTold(Told):
    llm_calls: int
    prompt_tokens: int
    completion_tokens: int
    ms: dict[str, float]


class ThoughtOverTold(Told):
    turns: int
    failed: int
    retried: int
    pending: int
    actions: list[ActionTold]
    failures: list[FailureTold]
    problems: list[str]
    receipt: ReceiptTold


class OrganisedTold(Told):
    actions: list[ActionTold]
    receipt: ReceiptTold


class RetriedTold(Told):
    retried: int


class EventTold(Told):
    """What became of a turn: the actions it led to, or why thinking it over was given up."""

    turn: int
    ref: str
    status: Literal["pending", "done", "failed"]
    thought_at: datetime | None
    attempts: int | None
    reason: str | None
    actions: list[ActionTold]


class ErasedTold(Told):
    turns: int
    thoughts: int
    actions: int
    requeued: int
    quoted_in: list[int]


class ImportedTold(Told):
    turns: int
    pending: int


class StatsTold(Told):
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


class FindingTold(Told):
    concern: Concern
    refs: list[str]
    reason: str
    text: str


class AuditTold(Told):
    user: str
    turns: int
    thoughts: int
    counts: dict[Concern, int]
    findings: list[FindingTold]


class ExcludedTold(Told):
    option: str
    reason: str


class SummaryTold(Told):
    session: str
    version: int
    turn: int
    talk: Talk
    topic: str
    conclusion: str
    needs: list[str]
    constraints: list[str]
    excluded: list[ExcludedTold]
    facts: list[str]
    to_clarify: list[str]
    discussed: list[str]


class EditTold(Told):
    field: SummaryField
    old: str
    new: str
    reason: str


class UpdateTold(Told):
    session: str
    version: int
    turn: int
    actor: str
    at: datetime
    edits: list[EditTold]
    problem: str


class WhyTold(Told):
    ref: str | None
    text: str
    lines: list[str]
    sources: list[TurnTold]
    thoughts: list[ThoughtTold]
    actions: list[ActionTold]
    used: list[UsedTold]
    checks: list[CheckTold]
