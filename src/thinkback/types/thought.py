"""Thoughts, their sources, and the entities they are about."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from thinkback.types.turn import Ref, Side

Kind = Literal["profile", "relationship", "knowledge", "event", "dialogue"]
"""The kinds of memory of PerLTQA: the first three are semantic, the last two episodic."""

KINDS: tuple[Kind, ...] = ("profile", "relationship", "knowledge", "event", "dialogue")

SAME_AS = "same as"
"""The relation that makes two names one's, or (denied) two people's: who is who is a thought as well."""


# --- the metacognition space -----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Source:
    """Where a thought comes from: the turn, who said it, and which characters of which side."""

    turn: int
    speaker: str
    side: Side
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ThoughtDraft:
    """A thought before it is organised: (subject, relation, objects) and its sentence."""

    subject: str
    relation: str
    objects: tuple[str, ...]
    sentence: str
    kind: Kind
    sources: tuple[Source, ...]
    negated: bool = False
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    latest_start: datetime | None = field(default=None, compare=False, repr=False)
    """The last moment at which it may have begun, where a span was said ("in 2010"): only to compare with."""
    made_by: str = field(default="", compare=False, repr=False)
    """Which of several generators made it, for the journal; the thought itself does not keep it."""

    @property
    def object(self) -> str:
        return ", ".join(self.objects)

    @property
    def last_turn(self) -> int:
        """The turn that spoke of it last, 0 if it has no source."""
        return max((source.turn for source in self.sources), default=0)

    @property
    def search_text(self) -> str:
        """What is embedded and searched; a decision about names answers no question, so it is not found."""
        return "" if self.relation == SAME_AS else self.sentence


@dataclass(frozen=True, slots=True, kw_only=True)
class Thought(ThoughtDraft):
    """The smallest unit of the space. `retired_at` is when we stopped holding it true."""

    id: int
    recorded_at: datetime
    retired_at: datetime | None = None

    @property
    def ref(self) -> Ref:
        return Ref("thought", self.id)

    @property
    def current(self) -> bool:
        return self.retired_at is None


@dataclass(frozen=True, slots=True)
class Entity:
    """Who or what thoughts speak of, with the names it goes by and the thoughts that decided so."""

    id: int
    name: str
    aliases: tuple[str, ...] = ()
    decisions: tuple[Thought, ...] = ()
