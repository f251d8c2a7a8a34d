"""Session summaries (working memory) and their edit history."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

ConversationType = Literal["task", "question-answering", "medical", "small talk", "planning"]
CONVERSATION_TYPES: tuple[ConversationType, ...] = (
    "task",
    "question-answering",
    "medical",
    "small talk",
    "planning",
)

SummaryField = Literal[
    "topic", "conclusion", "talk", "needs", "constraints", "excluded", "facts", "to_clarify", "discussed"
]


@dataclass(frozen=True, slots=True)
class ExcludedOption:
    """An option the user has ruled out. `reason` is empty if none was given."""

    option: str
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """Working memory of one session up to turn `turn` (after llm-dialogue-simulation); oldest items first.

    Needs, constraints, excluded options and facts accumulate. They change only through recorded edits.
    """

    session: str
    version: int = 0
    turn: int = 0
    talk: ConversationType = "small talk"
    topic: str = ""
    conclusion: str = ""
    needs: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()
    excluded: tuple[ExcludedOption, ...] = ()
    facts: tuple[str, ...] = ()
    to_clarify: tuple[str, ...] = ()
    discussed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryEdit:
    """One change of a summary field: `new` replaces `old`. Empty `old` adds an item, empty `new` removes one.

    For an excluded option, `reason` is why it was excluded; otherwise it is why the item changed.
    """

    field: SummaryField
    old: str = ""
    new: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryUpdate:
    """One journal entry of a summary: the edits made after `turn`, or the `problem` that prevented them."""

    session: str
    version: int
    turn: int
    actor: str
    at: datetime
    edits: tuple[SummaryEdit, ...] = ()
    problem: str = ""
