"""Prompts of session summaries (text files beside this module) and the types of their replies."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from thinkback.types import ConversationType

MAX_REPLY_ITEMS = 16

OptionalText = Annotated[str, Field(max_length=400)]
ItemText = Annotated[str, Field(min_length=1, max_length=400)]
ItemList = Annotated[list[ItemText], Field(max_length=MAX_REPLY_ITEMS)]
_CLOSED_MODEL = ConfigDict(extra="ignore", frozen=True, json_schema_extra={"additionalProperties": False})


class ExcludedReply(BaseModel):
    model_config = _CLOSED_MODEL

    option: ItemText
    reason: OptionalText


class RevisedReply(BaseModel):
    model_config = _CLOSED_MODEL

    field: Literal["needs", "constraints", "facts"]
    old: ItemText
    new: ItemText
    reason: ItemText


class SummaryReply(BaseModel):
    """Every field must be there: a reply that leaves them out is no update."""

    model_config = _CLOSED_MODEL

    talk: ConversationType
    topic: OptionalText
    needs: ItemList
    constraints: ItemList
    excluded: Annotated[list[ExcludedReply], Field(max_length=MAX_REPLY_ITEMS)]
    facts: ItemList
    conclusion: OptionalText
    to_clarify: ItemList
    settled: ItemList
    reopened: ItemList
    revised: Annotated[list[RevisedReply], Field(max_length=MAX_REPLY_ITEMS)]


def summary_schema() -> dict[str, Any]:
    """Return the JSON schema of the reply."""
    return SummaryReply.model_json_schema()
