"""Changes of a space: operations proposed by post-thinking, journal actions, claimed turns and results."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar, Literal

from thinkback.types.thought import Thought, ThoughtDraft
from thinkback.types.turn import Ref, Turn
from thinkback.types.usage import NO_USAGE, Usage

CORRECTED_IN_PREFIX = "corrected in "
"""Prefix of the journal reason when `Memory.correct` retires a thought; the ref of the new turn follows."""

USER_ACTOR = "user"
"""Actor of the actions that the user asked for, by a call or in conversation."""

ActionKind = Literal["insert", "merge", "forget", "supersede", "end", "undo"]
"""What an action does. "end": the facts stopped being true and no new value took their place."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One proposed change of a space: drafts to add and thoughts to retire, with the reason.

    `ended_at` is when the retired thoughts stopped being true (default: when the new thought began, or when
    the turn was said). `premises` are current thoughts the operation depends on without changing them: when
    one of them is erased, the result of the operation is erased too. `actor` overrides the plan's actor.
    """

    action: ActionKind
    reason: str
    add: tuple[ThoughtDraft, ...] = ()
    retire: tuple[int, ...] = ()
    ended_at: datetime | None = None
    premises: tuple[int, ...] = ()
    actor: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The operations from thinking about one turn, or from consolidation if `turn` is None.

    A store applies a plan in one transaction. `cause` is the turn that the journal names for a command of the
    user, which is carried out before thinking; with `completes_cause` there is nothing left to think about.
    `findings` are those of the turn that is done (see `Turn`).
    """

    turn: int | None
    lease: str
    actor: str
    operations: tuple[Operation, ...] = ()
    cause: int | None = None
    completes_cause: bool = False
    findings: str | None = None

    @property
    def drafts(self) -> tuple[ThoughtDraft, ...]:
        return tuple(draft for operation in self.operations for draft in operation.add)


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """One journal entry: every thought it involved, as it was before and after.

    Premises appear unchanged in both `before` and `after`. `hides` are the turns that the action hid;
    undoing it shows them again.
    """

    JSON_FIELDS: ClassVar = (
        "ref",
        "id",
        "action",
        "reason",
        "actor",
        "at",
        "turn",
        "undoes",
        "undone_by",
        "before",
        "after",
        "hides",
    )

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
    hides: tuple[int, ...] = ()

    @property
    def ref(self) -> Ref:
        return Ref("action", self.id)

    @property
    def premises(self) -> tuple[Thought, ...]:
        """Thoughts the action depends on but did not change."""
        return tuple(thought for thought in self.after if thought in self.before)

    @property
    def changed(self) -> tuple[Thought, ...]:
        """Thoughts that were added, retired or restored, as they are after the action."""
        return tuple(thought for thought in self.after if thought not in self.before)


@dataclass(frozen=True, slots=True)
class ThoughtVersion:
    """One thought in the history of a subject, and the actions that created, changed or retired it."""

    JSON_FIELDS: ClassVar = ("**thought", "actions")

    thought: Thought
    actions: tuple[Action, ...]


@dataclass(frozen=True, slots=True)
class ClaimedTurn:
    """A pending turn that is leased to one worker for post-thinking."""

    space: str
    turn: Turn
    lease: str
    attempts: int


@dataclass(frozen=True, slots=True)
class ThinkFailure:
    """A turn whose post-thinking was abandoned after too many attempts (a dead letter)."""

    turn: int
    attempts: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EraseResult:
    """How many rows an erasure removed.

    `requeued` surviving turns will be thought about again. `quoted_in` are surviving turns whose answers had
    recalled erased memories and may therefore repeat them.

    The rows are gone whenever there is a result. With `bytes_pending`, the files may still contain bytes of
    them, for `pending_reason`; they are removed later without a further call.
    """

    turns: int
    thoughts: int
    actions: int
    requeued: int = 0
    quoted_in: tuple[int, ...] = ()
    bytes_pending: bool = False
    pending_reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ThinkResult:
    """Result of post-thinking or consolidation; `problems` are failures that did not stop it."""

    turns: int = 0
    failed: int = 0
    actions: tuple[Action, ...] = ()
    problems: tuple[str, ...] = ()
    usage: Usage = NO_USAGE
