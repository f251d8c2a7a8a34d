"""The reply of the `generate` prompt (TiM 002, Figure 3), with the limits a reply must keep.

The figure asks for the triple and its sentence. We ask for the triple and the number of the line it comes
from, and compose the sentence ourselves: half the tokens, in the turn's language, with every object named.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from thinkback.types import Kind

MOST_THOUGHTS = 32

Name = Annotated[str, Field(min_length=1, max_length=120)]
_CLOSED = ConfigDict(extra="ignore", frozen=True, json_schema_extra={"additionalProperties": False})


class ThoughtReply(BaseModel):
    """One thought as a model says it; a denial is part of the relation."""

    model_config = _CLOSED

    line: int
    subject: Name
    relation: Name
    objects: Annotated[list[Name], Field(min_length=1, max_length=8)]
    kind: Kind


class GenerateReply(BaseModel):
    """All thoughts of one turn."""

    model_config = _CLOSED

    thoughts: Annotated[list[ThoughtReply], Field(max_length=MOST_THOUGHTS)]


def schema(lines: int, most: int) -> dict[str, Any]:
    """The reply's JSON schema for so many numbered lines; a small model writes on until it has `most`."""
    whole = GenerateReply.model_json_schema()
    whole["properties"]["thoughts"]["maxItems"] = min(MOST_THOUGHTS, most)
    whole["$defs"]["ThoughtReply"]["properties"]["line"]["enum"] = list(range(1, lines + 1))
    return whole
