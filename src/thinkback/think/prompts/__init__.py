"""Prompts of post-thinking (text files beside this module) and the types of their replies."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from thinkback.types import Kind

MAX_THOUGHTS = 32

ShortText = Annotated[str, Field(min_length=1, max_length=120)]
_CLOSED_MODEL = ConfigDict(extra="ignore", frozen=True, json_schema_extra={"additionalProperties": False})


class ThoughtReply(BaseModel):
    """One thought as a model says it; a denial is part of the relation."""

    model_config = _CLOSED_MODEL

    line: int
    subject: ShortText
    relation: ShortText
    objects: Annotated[list[ShortText], Field(min_length=1, max_length=8)]
    kind: Kind


class GenerateReply(BaseModel):
    """All thoughts of one turn."""

    model_config = _CLOSED_MODEL

    thoughts: Annotated[list[ThoughtReply], Field(max_length=MAX_THOUGHTS)]


def generate_schema(line_count: int, max_thoughts: int) -> dict[str, Any]:
    """Return the JSON schema of the reply for this number of lines.

    `max_thoughts` limits the list, because small models fill it up to its maximum.
    """
    schema = GenerateReply.model_json_schema()
    schema["properties"]["thoughts"]["maxItems"] = min(MAX_THOUGHTS, max_thoughts)
    schema["$defs"]["ThoughtReply"]["properties"]["line"]["enum"] = list(range(1, line_count + 1))
    return schema


class MergeProposal(BaseModel):
    model_config = ConfigDict(frozen=True)

    ids: Annotated[list[int], Field(min_length=2, max_length=64)]
    sentence: Annotated[str, Field(min_length=1, max_length=2000)]


class MergeReply(BaseModel):
    model_config = ConfigDict(frozen=True)

    merges: Annotated[list[MergeProposal], Field(max_length=64)]


class ForgetProposal(BaseModel):
    model_config = ConfigDict(frozen=True)

    id: int
    against: int | None = None
    reason: Annotated[str, Field(max_length=600)] = ""


class ForgetReply(BaseModel):
    model_config = ConfigDict(frozen=True)

    forget: Annotated[list[ForgetProposal], Field(max_length=64)]
