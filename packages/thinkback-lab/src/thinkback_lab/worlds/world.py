"""A persona world: characters with profile, relationships, events, dialogues and questions.

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

# Profile fields as PerLTQA's English files name them; both languages use these keys.
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
    """Semantic memory: a person the character knows."""

    id: str
    name: str
    relationship: str  # a category: elder sister, mentor, neighbour ...
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
    """Episodic memory: the character talks about an event, with the AI assistant or a participant."""

    id: str
    event: str
    at: datetime
    lines: tuple[tuple[str, str], ...]  # (speaker, text)

    @property
    def text(self) -> str:
        return "\n".join(f"{speaker}: {said}" for speaker, said in self.lines)


@dataclass(frozen=True, slots=True)
class Anchor:
    """A key fragment of the answer, and its position in the text of the reference memory; -1 if unknown."""

    text: str
    start: int = -1
    end: int = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class QA:
    """A question about a character. `references` are profile field names or memory ids; empty if
    unanswerable.

    `topic` is the difficulty: `plain`, `changed` (current value of a changed fact), `past` (former value),
    `confusable` (a namesake or a similar event) or `unanswerable`. `again` contains other wordings.
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
        """The text of every memory by its reference; anchor positions refer to these texts."""
        dialogues = {each.id: each.text for each in self.dialogues}
        events = {each.id: each.content for each in self.events}
        relationships = {each.id: each.description for each in self.relationships}
        return {**self.profile, **relationships, **events, **dialogues}


@dataclass(frozen=True, slots=True)
class World:
    lang: Lang
    characters: tuple[Character, ...]
