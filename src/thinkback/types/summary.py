"""Session summaries (working memory) and their edit history."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

# --- working memory --------------------------------------------------------------------------

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
    """An option that is out, and why; an empty reason was not given."""

    option: str
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """What one session has come to (seed 003), as of its turn `turn`; oldest items first.

    Needs, constraints, excluded options and facts accumulate: they grow, or are revised in the open.
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
    """One change of a summary: `new` in the place of `old`; without `old` added, without `new` taken out.

    Of an excluded option, `reason` is why it is out; else it tells why the item changed.
    """

    field: SummaryField
    old: str = ""
    new: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryUpdate:
    """One line of a summary's journal: what became of it after `turn`, or why it stayed as it was."""

    session: str
    version: int
    turn: int
    actor: str
    at: datetime
    edits: tuple[SummaryEdit, ...] = ()
    problem: str = ""
