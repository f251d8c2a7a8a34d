"""The reading contract: what every reader of turns is given, and the changes it may propose.

A reader is a large model, a small tuned model, or the extractive reader that works without a model. It sees
the turns to read, the turns before them, the known names, and the current thoughts that the turns may touch.
It proposes changes; the guard (`think.guard`) judges each of them alone, and the planner turns the accepted
ones into journalled operations.

    I moved to Lyon on Friday      replace "The user lives in Paris."   with "The user lives in Lyon."
    Rex died last week             end     "The user has a dog, Rex."
    forget what I said about Tom   forget  "Tom owes the user 200 euros."
    as I said, I'm vegan           same    "The user is vegan."
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol

from thinkback.types import Kind, Thought, Turn

ChangeKind = Literal["add", "replace", "end", "forget", "same"]
CHANGE_KINDS: tuple[ChangeKind, ...] = ("add", "replace", "end", "forget", "same")

FindThoughts = Callable[[str, str], Sequence[Thought]]
"""(subject, relation) -> the current thoughts about the subject, under any of its names."""
FindToldWith = Callable[[int], Sequence[Thought]]
"""Id of a thought -> the current thoughts that were drawn from the same turns, itself included."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposedFact:
    """One fact as a reader states it: one value, and a sentence that can be understood alone.

    `about` is "user", a name, or a role such as "user's sister" while the person has no name. `relation` is
    free text; the relation registry adds knowledge about relations it knows and rejects none.
    """

    about: str
    relation: str
    value: str
    sentence: str
    kind: Kind = "profile"
    negated: bool = False
    valid_from: datetime | None = None
    valid_to: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposedChange:
    """One change that a reader proposes because of the words `quote` of a turn.

    `fact` is set for "add" and "replace". `targets` are ids of current thoughts, for all kinds but "add".
    `new_targets` are positions, in the same reading, of earlier changes whose facts no longer hold.
    `ended_at` is when the targets stopped being true, if the turn says so.
    """

    action: ChangeKind
    turn: int
    quote: str
    fact: ProposedFact | None = None
    targets: tuple[int, ...] = ()
    new_targets: tuple[int, ...] = ()
    ended_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadRequest:
    """What a reader is given.

    Attributes:
        turns: The turns to read, oldest first: one in a conversation, several in an import or a backlog.
        recent: The turns just before them in the same session, oldest first. Nothing is proposed from them.
        names: The known people and things, each as a group of names that mean the same one.
        related: Current thoughts that the turns may touch, found by search; the oldest first.
        relationships: All current thoughts about who is who.
        said_at: When each related thought was said last, by thought id.
        find: Looks up further current thoughts by subject and relation.
        find_told_with: Looks up what was told together with a thought.
    """

    turns: tuple[Turn, ...]
    recent: tuple[Turn, ...] = ()
    names: tuple[tuple[str, ...], ...] = ()
    related: tuple[Thought, ...] = ()
    relationships: tuple[Thought, ...] = ()
    said_at: Mapping[int, datetime] = field(default_factory=dict)
    find: FindThoughts = lambda subject, relation: ()
    find_told_with: FindToldWith = lambda thought: ()


class TurnReader(Protocol):
    """Reads turns and proposes changes, by a model or without one."""

    @property
    def name(self) -> str:
        """Recorded in the journal as the actor, with the version of the prompt or model file."""
        ...

    @property
    def max_turns(self) -> int:
        """How many turns one request may hold."""
        ...

    @property
    def needs_related(self) -> bool:
        """Whether it uses `ReadRequest.related` and `names`; otherwise they are not searched for."""
        ...

    def prepare(self) -> None:
        """Load what reading needs. Called before a turn is claimed, so that claims are short.

        A process that ends while it holds a claim counts as a failed attempt of the turn; one that ends
        while it loads a model must not.
        """
        ...

    def read(self, request: ReadRequest) -> list[ProposedChange]:
        """Propose the changes of the turns, in order; an empty list is a normal result.

        Raises:
            ModelError: the model failed or its reply cannot be used at all.
        """
        ...
