"""The reply of the `summarise` prompt: what a turn adds to a summary, to be merged into it.

The original (seed 003) asks for the whole summary anew. We ask for the difference: fewer tokens, and a model
that forgets an item cannot take it away.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from thinkback.types import Talk

MOST_ITEMS = 16

Line = Annotated[str, Field(max_length=400)]
Item = Annotated[str, Field(min_length=1, max_length=400)]
Items = Annotated[list[Item], Field(max_length=MOST_ITEMS)]
_CLOSED = ConfigDict(extra="ignore", frozen=True, json_schema_extra={"additionalProperties": False})


class ExcludedReply(BaseModel):
    model_config = _CLOSED

    option: Item
    reason: Line


class RevisedReply(BaseModel):
    model_config = _CLOSED

    field: Literal["needs", "constraints", "facts"]
    old: Item
    new: Item
    reason: Item


class SummaryReply(BaseModel):
    """Every field must be there: a reply that leaves them out is no update."""

    model_config = _CLOSED

    talk: Talk
    topic: Line
    needs: Items
    constraints: Items
    excluded: Annotated[list[ExcludedReply], Field(max_length=MOST_ITEMS)]
    facts: Items
    conclusion: Line
    to_clarify: Items
    settled: Items
    reopened: Items
    revised: Annotated[list[RevisedReply], Field(max_length=MOST_ITEMS)]


def schema() -> dict[str, Any]:
    return SummaryReply.model_json_schema()
