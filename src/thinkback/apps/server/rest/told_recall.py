"""What a recall tells: the memories, their scores, and what the query was taken for."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from thinkback.apps.server.rest.told import ReceiptTold, ThoughtTold, Told, TurnTold
from thinkback.types import ItemKind, Kind, Talk


class PartTold(Told):
    name: str
    value: float
    weight: float
    contribution: float


class AdjustmentTold(Told):
    why: str
    before: float
    after: float


class SumTold(Told):
    parts: list[PartTold]
    linear: float
    bent: float
    adjustments: list[AdjustmentTold]


class ScoreTold(Told):
    total: float
    cosine: float
    lexical: float
    sum: SumTold | None


class SentenceTold(Told):
    ref: str
    sentence: str


class PastTold(Told):
    until: datetime
    facts: list[SentenceTold]
    replaced_by: list[SentenceTold]


class CandidateTold(Told):
    """One memory with its reason; `rank` is null for what was dropped."""

    rank: int | None
    ref: str
    kind: Kind | Literal["turn"]
    text: str
    score: ScoreTold
    group: int
    verdict: str
    reason: str
    past: PastTold | None
    thought: ThoughtTold | None
    turn: TurnTold | None


class SpanTold(Told):
    words: str
    start: datetime | None
    end: datetime | None


class WordingTold(Told):
    kinds: list[ItemKind]
    terms: list[str]
    if_known: list[str]
    weight: float


class SearchedTold(Told):
    kind: ItemKind
    rows: int
    candidates: int
    probes: int
    exact: bool
    group: int | None


class UnderstandingTold(Told):
    question: str
    tense: str
    spans: list[SpanTold]
    reaches_back: bool
    manner: str
    told: str
    kinds: list[Annotated[list[Kind | float], Field(min_length=2, max_length=2)]]
    names: list[str]
    aliases: list[str]
    ways: list[str]
    bridge: list[str]
    wordings: list[WordingTold]
    searched: list[SearchedTold]
    preset: str
    relative: bool
    nearly: float
    middle: float | None


class RecollectionTold(Told):
    query: str
    items: list[CandidateTold]
    dropped: list[CandidateTold]
    threshold: float
    group: int | None
    probes: int
    exact: bool
    understanding: UnderstandingTold | None
    receipt: ReceiptTold


class CitedTold(Told):
    cited: int
    ref: str
    text: str


class SynthesisTold(Told):
    question: str
    text: str
    known: bool
    by: Literal["rules", "llm"]
    words: int
    used: list[CitedTold]
    note: str | None
    receipt: ReceiptTold


class ContextPartTold(Told):
    name: str
    text: str
    tokens: int


class MessageTold(Told):
    role: Literal["system", "user", "assistant"]
    content: str


class ContextTold(Told):
    session: str
    parts: list[ContextPartTold]
    messages: list[MessageTold]
    tokens: int
    talk: Talk
