"""Changes of a space: operations proposed by post-thinking, journal actions, claimed turns and results."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from thinkback.types.thought import Thought, ThoughtDraft
from thinkback.types.turn import Ref, Turn
from thinkback.types.usage import Usage

CORRECTED_IN_PREFIX = "corrected in "
"""So begins the reason of a thought that was retired for a correction; the name of its turn follows."""

ActionKind = Literal["insert", "merge", "forget", "supersede", "undo"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One action the organiser proposes: add these drafts, retire these thoughts, for this reason.

    `ended` is when the retired ones ceased to hold; without it, when the new one began or the turn was said.
    `given` are current thoughts it rests on and leaves alone: if one of them is erased, so is the change.
    """

    action: ActionKind
    reason: str
    add: tuple[ThoughtDraft, ...] = ()
    retire: tuple[int, ...] = ()
    ended_at: datetime | None = None
    premises: tuple[int, ...] = ()
    actor: str = ""
    """Who made it, where the plan has several makers; empty means the plan's actor."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """All that thinking over a turn (or reorganising, without one) changes: as one transaction or not."""

    turn: int | None
    lease: str
    actor: str
    operations: tuple[Operation, ...] = ()

    @property
    def drafts(self) -> tuple[ThoughtDraft, ...]:
        return tuple(draft for change in self.operations for draft in change.add)


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """One line of the journal: every thought it touched, before and after.

    A thought that it only rests on stands on both sides as it is.
    """

    id: int
    action: ActionKind
    reason: str
    actor: str
    at: datetime
    turn: int | None = None
    undoes: int | None = None
    undone_by: int | None = None
    before: tuple[Thought, ...] = ()
    after: tuple[Thought, ...] = ()

    @property
    def ref(self) -> Ref:
        return Ref("action", self.id)

    @property
    def premises(self) -> tuple[Thought, ...]:
        """What it rests on and left alone."""
        return tuple(thought for thought in self.after if thought in self.before)

    @property
    def changed(self) -> tuple[Thought, ...]:
        """What it added, retired or restored, as it left it."""
        return tuple(thought for thought in self.after if thought not in self.before)


@dataclass(frozen=True, slots=True)
class ThoughtVersion:
    """One thought in the history of a subject, and the actions that made it and ended it."""

    thought: Thought
    actions: tuple[Action, ...]


@dataclass(frozen=True, slots=True)
class ClaimedTurn:
    """A turn leased to one worker for post-thinking, with the text the space knows about it."""

    space: str
    turn: Turn
    lease: str
    attempts: int


@dataclass(frozen=True, slots=True)
class ThinkFailure:
    """A turn whose post-thinking was given up (the dead letter), with the reason."""

    turn: int
    attempts: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EraseResult:
    """What an erasure removed; `quoted_in` are surviving turns whose answers had recalled it."""

    turns: int
    thoughts: int
    actions: int
    requeued: int = 0
    quoted_in: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ThinkResult:
    """What a round of post-thinking did; `problems` tells which groups a model failed to put in order."""

    turns: int = 0
    failed: int = 0
    actions: tuple[Action, ...] = ()
    problems: tuple[str, ...] = ()
    usage: Usage = Usage()
