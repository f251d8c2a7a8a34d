"""What a model must answer at each step of a world, and how long it may be.

Lengths of texts are checked here and not told to the model: a grammar that counts thousands of characters
makes a local model crawl. Lengths of lists are told, for a small model writes on until it may not.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from thinkback_lab.worlds.world import FIELDS

Words = Annotated[str, Field(min_length=1, max_length=400)]
Told = Annotated[str, Field(min_length=1, max_length=6000)]


class _Reply(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", str_strip_whitespace=True)


class ProfileReply(_Reply):
    gender: Words
    nickname: Words
    title: Words
    age: Words | int
    occupation: Words
    nationality: Words
    physical_characteristics: Words
    hobbies: Words
    achievements: Words
    ethnic_background: Words
    education_background: Words
    employer: Words
    awards_and_role_models: Words
    description: Told

    def fields(self, name: str) -> dict[str, str]:
        """PerLTQA's profile."""
        told = {field: str(getattr(self, field.lower().replace(" ", "_"))) for field in FIELDS[1:]}
        return {FIELDS[0]: name, **told}


class Person(_Reply):
    name: Words
    relationship: Words
    description: Told


class RelationshipsReply(_Reply):
    relationships: Annotated[tuple[Person, ...], Field(min_length=1, max_length=40)]


class Happening(_Reply):
    date: Words
    topic: Words
    summary: Words
    detail: Told


class EventsReply(_Reply):
    events: Annotated[tuple[Happening, ...], Field(min_length=1, max_length=10)]


class Line(_Reply):
    speaker: Words
    text: Told


class DialogueReply(_Reply):
    lines: Annotated[tuple[Line, ...], Field(min_length=2, max_length=40)]


class Pair(_Reply):
    question: Words
    answer: Words


class QuestionsReply(_Reply):
    items: Annotated[tuple[Pair, ...], Field(min_length=1, max_length=10)]


class AnchorsReply(_Reply):
    anchors: Annotated[tuple[Words, ...], Field(min_length=1, max_length=8)]


class ScoreReply(_Reply):
    reason: Annotated[str, Field(max_length=600)]
    score: Annotated[int, Field(ge=0, le=10)]


def schema(kind: type[BaseModel], most: int) -> dict[str, Any]:
    """The JSON schema of a reply whose lists have at most so many entries."""
    told: dict[str, Any] = _without_lengths(kind.model_json_schema())
    for each in told["properties"].values():
        if each.get("type") == "array":
            each["maxItems"] = most
    return told


def _without_lengths(node: Any) -> Any:
    if isinstance(node, dict):
        kept = {key: value for key, value in node.items() if key not in ("minLength", "maxLength")}
        return {key: _without_lengths(value) for key, value in kept.items()}
    return [_without_lengths(each) for each in node] if isinstance(node, list) else node
