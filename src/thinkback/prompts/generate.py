"""The reply of the `generate` prompt (TiM 002, Figure 3), with the limits a reply must keep."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from thinkback.types import Kind

Name = Annotated[str, Field(min_length=1, max_length=200)]


class ThoughtReply(BaseModel):
    """One thought as a model says it."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    subject: Name
    relation: Name
    objects: Annotated[list[Name], Field(min_length=1, max_length=16)]
    sentence: Annotated[str, Field(min_length=1, max_length=600)]
    kind: Kind
    speaker: Literal["user", "assistant"]
    negated: bool = False
    quote: Annotated[str, Field(max_length=600)] = ""
    when: Annotated[str, Field(max_length=100)] = ""


class GenerateReply(BaseModel):
    """All thoughts of one turn."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    thoughts: Annotated[list[ThoughtReply], Field(max_length=32)]
