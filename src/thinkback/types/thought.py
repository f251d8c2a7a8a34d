"""Thoughts, their sources, and the entities they are about."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import ClassVar, Literal

from thinkback.types.turn import Ref, Side

Kind = Literal["profile", "relationship", "knowledge", "event", "dialogue"]
"""The memory kinds of PerLTQA: the first three are semantic, the last two episodic."""

KINDS: tuple[Kind, ...] = ("profile", "relationship", "knowledge", "event", "dialogue")

EPISODIC_KINDS: tuple[Kind, ...] = ("event", "dialogue")

SAME_AS = "same as"
"""Relation stating that two names mean the same entity (or, negated, that they do not)."""


INSTRUCTION = "instruction"
"""Relation of a standing wish of the user ("always answer in German"). Every context carries all of them."""


SAID = "in own words"
"""Relation of thoughts that keep a sentence of the user as it was said; its value is the sentence.

No model would choose this name for a relation, so that (doctor, said, ...) stays an ordinary fact.
"""


@dataclass(frozen=True, slots=True)
class Source:
    """The passage a thought was drawn from: characters `start` to `end` of one side of a turn."""

    turn: int
    speaker: str
    side: Side
    start: int
    end: int

    def overlaps(self, other: Source) -> bool:
        """Whether two passages have words in common."""
        same_text = (self.turn, self.side) == (other.turn, other.side)
        return same_text and self.start < other.end and other.start < self.end


@dataclass(frozen=True, slots=True, kw_only=True)
class ThoughtDraft:
    """A thought before it is stored: the triple (subject, relation, objects) and its sentence.

    `valid_from` and `valid_to` say when the fact holds; None is open.
    """

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
    """Latest possible start if a period was given ("in 2010"). Used for comparison only, not stored."""
    made_by: str = field(default="", compare=False, repr=False)
    """Name of the generator that produced it, for the journal. Not stored with the thought."""

    @property
    def object(self) -> str:
        """All objects, joined by commas."""
        return ", ".join(self.objects)

    @property
    def last_turn(self) -> int:
        """Id of the latest source turn, 0 without sources."""
        if len(self.sources) == 1:  # nearly always, and asked for very often
            return self.sources[0].turn
        return max((source.turn for source in self.sources), default=0)

    @property
    def is_of_one_turn(self) -> bool:
        """Whether all sources are in one turn; a sentence that was corrected stands in none of its turns."""
        return len({source.turn for source in self.sources}) == 1

    @property
    def search_text(self) -> str:
        """The text to embed and search. Empty for "same as" and instructions: they answer no question."""
        return "" if self.relation in (SAME_AS, INSTRUCTION) else self.sentence


@dataclass(frozen=True, slots=True, kw_only=True)
class Thought(ThoughtDraft):
    """One stored fact. It is current until `retired_at` is set (by supersede, merge or forget)."""

    JSON_FIELDS: ClassVar = (
        "ref",
        "id",
        "subject",
        "relation",
        "objects",
        "sentence",
        "kind",
        "negated",
        "valid_from",
        "valid_to",
        "recorded_at",
        "retired_at",
        "sources:rows",
    )

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
    """A person or thing that thoughts are about, with its aliases and the thoughts that established them."""

    id: int
    name: str
    aliases: tuple[str, ...] = ()
    decisions: tuple[Thought, ...] = ()
