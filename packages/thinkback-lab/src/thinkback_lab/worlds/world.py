"""A persona world in memory: characters with profile, relationships, events, dialogues, and their questions.

Ids are PerLTQA's: `4_0` is the first relationship of character 4, `4_0_2` the third event with that person,
`4_0_2#7` a dialogue about that event (the number after # counts the character's dialogues).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

Lang = Literal["en", "zh"]
Section = Literal["profile", "social_relationship", "events", "dialogues"]

# The fields of a profile, as PerLTQA names them in its English files; both languages use these keys.
PROFILE_FIELDS = (
    "Protagonist",
    "Gender",
    "Nickname",
    "Title",
    "Age",
    "Occupation",
    "Nationality",
    "Physical Characteristics",
    "Hobbies",
    "Achievements",
    "Ethnic Background",
    "Education Background",
    "Employer",
    "Awards and Role Models",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Relationship:
    """Semantic memory: somebody the character knows."""

    id: str
    name: str
    relationship: str  # one of the categories: elder sister, mentor, neighbour ...
    description: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Episodic memory: something that happened, with whom and when."""

    id: str
    content: str
    summary: str
    characters: tuple[str, ...]  # ids of relationships
    at: datetime
    theme: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialogue:
    """Episodic memory: the character talked about an event, with the AI assistant or somebody of it."""

    id: str
    event: str
    at: datetime
    lines: tuple[tuple[str, str], ...]  # (speaker, what was said)

    @property
    def text(self) -> str:
        return "\n".join(f"{speaker}: {said}" for speaker, said in self.lines)


@dataclass(frozen=True, slots=True)
class Anchor:
    """A key fragment of the answer, and where it stands in the reference memory's text; -1 if nowhere."""

    text: str
    start: int = -1
    end: int = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class QA:
    """A question about a character. `references` are a profile field's name, or ids of memories.

    Without references the world does not hold the answer. `topic` tells what makes it hard: `plain`,
    `changed` (a fact that became another), `past` (what held before), `confusable` (a namesake or a twin
    circumstance), `unanswerable`. `again` are other wordings.
    """

    section: Section
    question: str
    answer: str
    references: tuple[str, ...]
    anchors: tuple[Anchor, ...]
    topic: str = "plain"
    again: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Character:
    number: int
    name: str
    profile: Mapping[str, str]
    description: str
    relationships: tuple[Relationship, ...]
    events: tuple[Event, ...]
    dialogues: tuple[Dialogue, ...]
    questions: tuple[QA, ...]

    def texts(self) -> dict[str, str]:
        """Every memory's text by its reference: anchors have their positions in it."""
        spoken = {each.id: each.text for each in self.dialogues}
        told = {each.id: each.content for each in self.events}
        known = {each.id: each.description for each in self.relationships}
        return {**self.profile, **known, **told, **spoken}


@dataclass(frozen=True, slots=True)
class World:
    lang: Lang
    characters: tuple[Character, ...]
