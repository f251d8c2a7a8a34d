"""Frozen value types. They do no I/O and do not depend on any store or model.

    write:  Turn -> ThoughtDraft -> Operation -> Plan -> Action (journal) and Thought
            Turn -> SummaryEdit -> SummaryUpdate (journal) and Summary (working memory of a session)
    read:   query -> Candidate -> Recollection -> Answer or Synthesis

Ids are sequence numbers within one space, so order never depends on the wall clock.
Times are timezone-aware datetimes in UTC.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from thinkback.types.index import (
    Hashing,
    IndexDelta,
    IndexedTexts,
    IndexEntry,
    NearestRows,
    RecallCount,
    UnindexedItem,
    UnindexedPage,
    ValidityPeriod,
    VersionStamp,
)
from thinkback.types.operation import (
    CORRECTED_IN_PREFIX,
    USER_ACTOR,
    Action,
    ActionKind,
    ClaimedTurn,
    EraseResult,
    Operation,
    Plan,
    ThinkFailure,
    ThinkResult,
    ThoughtVersion,
)
from thinkback.types.recall import (
    Adjustment,
    Answer,
    Candidate,
    Citation,
    Explanation,
    OutdatedInfo,
    QueryUnderstanding,
    QueryVariant,
    Recollection,
    Score,
    ScoreBreakdown,
    ScoreComponent,
    SearchTrace,
    SentenceRef,
    Synthesis,
    TimeSpan,
)
from thinkback.types.space import (
    KEY_SCOPES,
    ApiKey,
    KeyScope,
    SalvagedSpace,
    SalvageResult,
    SpaceKey,
    SpaceStats,
)
from thinkback.types.summary import (
    CONVERSATION_TYPES,
    ConversationType,
    ExcludedOption,
    Summary,
    SummaryEdit,
    SummaryField,
    SummaryUpdate,
)
from thinkback.types.thought import (
    EPISODIC_KINDS,
    INSTRUCTION,
    KINDS,
    SAID,
    SAME_AS,
    Entity,
    Kind,
    Source,
    Thought,
    ThoughtDraft,
)
from thinkback.types.turn import (
    CheckMethod,
    CheckOutcome,
    ConsistencyCheck,
    ItemKind,
    NewTurn,
    RecalledItem,
    Ref,
    Side,
    Turn,
)
from thinkback.types.usage import Message, Reply, Usage

if TYPE_CHECKING:
    from thinkback.types.index import TermHashes as TermHashes
    from thinkback.types.index import Vector as Vector

__all__ = [
    "CONVERSATION_TYPES",
    "CORRECTED_IN_PREFIX",
    "EPISODIC_KINDS",
    "INSTRUCTION",
    "KEY_SCOPES",
    "KINDS",
    "SAID",
    "SAME_AS",
    "USER_ACTOR",
    "Action",
    "ActionKind",
    "Adjustment",
    "Answer",
    "ApiKey",
    "Candidate",
    "CheckMethod",
    "CheckOutcome",
    "Citation",
    "ClaimedTurn",
    "ConsistencyCheck",
    "ConversationType",
    "Entity",
    "EraseResult",
    "ExcludedOption",
    "Explanation",
    "Hashing",
    "IndexDelta",
    "IndexEntry",
    "IndexedTexts",
    "ItemKind",
    "KeyScope",
    "Kind",
    "Message",
    "NearestRows",
    "NewTurn",
    "Operation",
    "OutdatedInfo",
    "Plan",
    "QueryUnderstanding",
    "QueryVariant",
    "RecallCount",
    "RecalledItem",
    "Recollection",
    "Ref",
    "Reply",
    "SalvageResult",
    "SalvagedSpace",
    "Score",
    "ScoreBreakdown",
    "ScoreComponent",
    "SearchTrace",
    "SentenceRef",
    "Side",
    "Source",
    "SpaceKey",
    "SpaceStats",
    "Summary",
    "SummaryEdit",
    "SummaryField",
    "SummaryUpdate",
    "Synthesis",
    "ThinkFailure",
    "ThinkResult",
    "Thought",
    "ThoughtDraft",
    "ThoughtVersion",
    "TimeSpan",
    "Turn",
    "UnindexedItem",
    "UnindexedPage",
    "Usage",
    "ValidityPeriod",
    "VersionStamp",
]
